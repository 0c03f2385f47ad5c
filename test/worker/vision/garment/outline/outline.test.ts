import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../../api/shared/contract/errors.ts'
import { decodeImage } from '../../../../../api/shared/image/image.ts'
import { cutOut } from '../../../../../worker/vision/garment/cut-out/cut-out.ts'
import {
  findOutline,
  type GarmentOutline,
  type UpperOutline,
} from '../../../../../worker/vision/garment/outline/outline.ts'
import { createPlane, maskToPlane, type Plane, type Point } from '../../../../../worker/vision/raster/plane.ts'
import { coverPolygon } from '../../../../../worker/vision/raster/polygon.ts'
import { applyAffine } from '../../../../../worker/vision/raster/sample.ts'
import { distance } from '../../../../../worker/vision/raster/vector.ts'
import { cutOutOnce } from '../../../../support/vision.ts'
import { CUTS, type Drawing, drawGarment } from '../drawn-garments.ts'
import { type KnownGarment, readGarment, turnGarment } from '../known-garments.ts'

function upperOutline(alpha: Plane): UpperOutline {
  const outline = findOutline(alpha)
  if (outline.kind !== 'top' && outline.kind !== 'dress') throw new Error(`seen as ${outline.kind}`)
  return outline
}

const straightOutlines = new Map<string, UpperOutline>()

/** The outline of a fixture, found once for all tests that need it. */
async function straightOutline(name: string): Promise<UpperOutline> {
  const outline = straightOutlines.get(name) ?? upperOutline(cutOutOnce((await readGarment(name)).bitmap).alpha)
  straightOutlines.set(name, outline)
  return outline
}

// Landmarks under the names of the ground truth, in px of the image.
function namedLandmarks({ canvas, landmarks }: UpperOutline): Map<string, Point> {
  const named = new Map<string, Point>()
  for (const [k, side] of ['l', 'r'].entries()) {
    const { neck, shoulder, armpit, hem, sleeveOuter, sleeveInner } = landmarks[k]
    const points = { neck, shoulder, armpit, hem, sleeve_out: sleeveOuter, sleeve_in: sleeveInner }
    for (const [name, point] of Object.entries(points))
      if (point) named.set(`${name}_${side}`, applyAffine(canvas.toImage, point))
  }
  return named
}

/** Errors in % of the garment's height, smallest first. */
function errorsOf(outline: UpperOutline, known: Pick<KnownGarment, 'landmarks' | 'height'>): number[] {
  const named = namedLandmarks(outline)
  const expected = [...known.landmarks].filter(([name]) => name !== 'neck_mid')
  expect([...named.keys()].sort()).toEqual(expected.map(([name]) => name).sort())
  return expected
    .map(([name, point]) => (100 * distance(point, named.get(name) ?? { x: 0, y: 0 })) / known.height)
    .sort((a, b) => a - b)
}

const median = (sorted: readonly number[]) => sorted[sorted.length >> 1]

describe('landmarks of rendered garments', () => {
  it.each([
    ['tshirt_mustard', 'top', 2],
    ['tshirt_navy', 'top', 2.5],
    ['longsleeve_grey', 'top', 3.75],
    ['vneck_red', 'top', 2.5],
    ['box_black', 'top', 2.5],
    ['tank_green', 'top', 2.5],
    ['dress_blue', 'dress', 2],
  ])('of %s', async (name, kind, worst) => {
    const known = await readGarment(name)
    const outline = await straightOutline(name)
    const errors = errorsOf(outline, known)
    expect(outline.kind).toBe(kind)
    expect(median(errors)).toBeLessThan(1.5)
    expect(errors[errors.length - 1]).toBeLessThan(worst)
  })

  it.each([-20, -10, 13, 20])('of T-shirt, pullover and top turned by %d degrees', async (degrees) => {
    for (const name of ['tshirt_mustard', 'longsleeve_grey', 'tank_green']) {
      const upright = await readGarment(name)
      const known = turnGarment(upright, degrees)
      const outline = upperOutline(maskToPlane(known.mask))
      const errors = errorsOf(outline, known)
      const { angle } = upperOutline(maskToPlane(upright.mask))
      expect(Math.abs(outline.angle - angle - degrees)).toBeLessThanOrEqual(1)
      expect(median(errors)).toBeLessThan(1.8)
      expect(errors[errors.length - 1]).toBeLessThan(name === 'longsleeve_grey' ? 5 : 4)
    }
  })

  it('of a turned pullover, whose armpits lie in narrow gaps full of shadow', async () => {
    const straight = await straightOutline('longsleeve_grey')
    const known = turnGarment(await readGarment('longsleeve_grey'), -10)
    const outline = upperOutline(cutOut(known.bitmap).alpha)
    const errors = errorsOf(outline, known)
    expect(Math.abs(outline.angle - straight.angle + 10)).toBeLessThanOrEqual(1)
    expect(median(errors)).toBeLessThan(1.8)
    expect(errors[errors.length - 1]).toBeLessThan(9)
  })

  it('of trousers', async () => {
    const { bitmap, landmarks, height } = await readGarment('trousers_black')
    const outline = findOutline(cutOutOnce(bitmap).alpha)
    if (outline.kind !== 'trousers') throw new Error(`seen as ${outline.kind}`)
    const { waist, crotch, ankleOuter, ankleInner } = outline.landmarks
    const points = {
      waist_l: waist[0],
      waist_r: waist[1],
      crotch,
      ankle_out_l: ankleOuter[0],
      ankle_out_r: ankleOuter[1],
      ankle_in_l: ankleInner[0],
      ankle_in_r: ankleInner[1],
    }
    for (const [name, point] of Object.entries(points)) {
      const found = applyAffine(outline.canvas.toImage, point)
      expect(distance(found, landmarks.get(name) ?? { x: 0, y: 0 }) / height, name).toBeLessThan(0.03)
    }
  })
})

describe('landmarks of drawn garments', () => {
  const plain = { colour: [40, 80, 160], background: [236, 232, 226] } as const
  it.each<[string, Drawing, UpperOutline['kind']]>([
    ['a T-shirt', { ...plain, cut: CUTS.tee }, 'top'],
    ['a T-shirt turned by 18 degrees', { ...plain, cut: CUTS.tee, turn: 18 }, 'top'],
    ['a long sleeve', { ...plain, cut: CUTS.longSleeve }, 'top'],
    ['a long sleeve turned by −20 degrees', { ...plain, cut: CUTS.longSleeve, turn: -20 }, 'top'],
    ['a sleeveless top', { ...plain, cut: CUTS.sleeveless }, 'top'],
    ['a waisted dress', { ...plain, cut: CUTS.dress }, 'dress'],
  ])('of %s', (_, drawing, kind) => {
    const drawn = drawGarment(drawing)
    const outline = upperOutline(cutOut(drawn.transparent).alpha)
    const errors = errorsOf(outline, drawn)
    expect(outline.kind).toBe(kind)
    expect(median(errors)).toBeLessThan(1.2)
    expect(errors[errors.length - 1]).toBeLessThan(3)
  })
})

describe('findOutline', () => {
  const tee = drawGarment({ cut: CUTS.tee, colour: [40, 80, 160], background: [255, 255, 255] })

  it('rotates the garment upright about its axis', () => {
    const turned = drawGarment({ cut: CUTS.tee, colour: [40, 80, 160], background: [255, 255, 255], turn: -12 })
    const { landmarks, canvas, angle, symmetry } = upperOutline(cutOut(turned.transparent).alpha)
    expect(angle).toBeCloseTo(-12, 0)
    expect(symmetry).toBeGreaterThan(0.97)
    for (const name of ['neck', 'shoulder', 'armpit', 'hem'] as const) {
      const [left, right] = landmarks.map((side) => side[name])
      expect(Math.abs(left.x + right.x - 2 * canvas.axis) / canvas.side).toBeLessThan(0.015)
      expect(Math.abs(left.y - right.y) / canvas.side).toBeLessThan(0.015)
    }
  })

  it('returns contiguous chains from the collar to the middle of the hem', () => {
    const { sides, canvas } = upperOutline(cutOut(tee.transparent).alpha)
    for (const { shoulder, sleeve, side, hem } of sides) {
      if (!sleeve) throw new Error('no sleeve')
      expect(shoulder[shoulder.length - 1]).toEqual(sleeve.outer[0])
      expect(sleeve.inner[0]).toEqual(side[0])
      expect(side[side.length - 1]).toEqual(hem[0])
      expect(Math.abs(hem[hem.length - 1].x - canvas.axis)).toBeLessThan(0.01 * canvas.side)
    }
  })

  it('follows the armhole of a sleeveless garment', () => {
    const drawn = drawGarment({ cut: CUTS.sleeveless, colour: [40, 80, 160], background: [255, 255, 255] })
    const { sides, sleeved } = upperOutline(cutOut(drawn.transparent).alpha)
    expect(sleeved).toBe(false)
    for (const { shoulder, armhole, side } of sides) {
      expect(armhole?.[0]).toEqual(shoulder[shoulder.length - 1])
      expect(armhole?.at(-1)).toEqual(side[0])
    }
  })

  it('mirrors an armpit hidden by a sleeve from the other side', () => {
    const filled = tee.transparent
    const data = filled.data.slice()
    const [armpit, cuff] = ['armpit_l', 'sleeve_in_l'].map((name) => tee.landmarks.get(name) ?? { x: 0, y: 0 })
    const patch = coverPolygon(filled, [
      { x: armpit.x + 5, y: armpit.y - 30 },
      { x: cuff.x + 4, y: cuff.y - 6 },
      { x: armpit.x + 5, y: cuff.y + 45 },
    ])
    for (let i = 0; i < patch.data.length; i++) if (patch.data[i] > 0.5) data[4 * i + 3] = 255
    const { landmarks, guessedArmpits, sides } = upperOutline(cutOut({ ...filled, data }).alpha)
    expect(guessedArmpits).toEqual([true, false])
    expect(Math.abs(landmarks[0].armpit.y - landmarks[1].armpit.y)).toBeLessThan(0.01 * tee.height)
    expect(sides[0].side[0]).toEqual(landmarks[0].armpit)
  })

  it('does not mistake the waist for an armpit when the other side shows the armhole', () => {
    const drawn = drawGarment({ cut: CUTS.dress, colour: [40, 80, 160], background: [255, 255, 255] })
    const filled = drawn.transparent
    const data = filled.data.slice()
    const [shoulder, armpit] = ['shoulder_l', 'armpit_l'].map((name) => drawn.landmarks.get(name) ?? { x: 0, y: 0 })
    const hole = [shoulder, armpit, { x: shoulder.x + 60, y: armpit.y }]
    const patch = coverPolygon(filled, hole)
    for (let i = 0; i < patch.data.length; i++) if (patch.data[i] > 0.5) data[4 * i + 3] = 255
    const { landmarks } = upperOutline(cutOut({ ...filled, data }).alpha)
    expect(Math.abs(landmarks[0].armpit.y - landmarks[1].armpit.y)).toBeLessThan(0.03 * drawn.height)
    expect(Math.abs(landmarks[0].shoulder.y - landmarks[1].shoulder.y)).toBeLessThan(0.03 * drawn.height)
  })

  const kindOf = (polygon: readonly (readonly [number, number])[], expected?: 'upper' | 'dress' | 'lower') => {
    const points = polygon.map(([x, y]) => ({ x: 3 * x, y: 3 * y }))
    return findOutline(coverPolygon({ width: 300, height: 300 }, points), { expected }).kind
  }
  const skirt = [
    [35, 10],
    [65, 10],
    [80, 80],
    [20, 80],
  ] as const
  const trousers = [
    [35, 5],
    [65, 5],
    [70, 95],
    [55, 95],
    [50, 35],
    [45, 95],
    [30, 95],
  ] as const

  it('finds the hems of trousers, not the threads that hang from them', () => {
    const thread = [
      [68.5, 85],
      [68, 97],
      [67, 97],
      [67, 85],
    ] as const
    const frayed = [[35, 5], [65, 5], [70, 85], ...thread, [55, 85], [50, 35], [45, 85], [30, 85]] as const
    const points = frayed.map(([x, y]) => ({ x: 5 * x, y: 5 * y }))
    const outline = findOutline(coverPolygon({ width: 500, height: 500 }, points))
    if (outline.kind !== 'trousers') throw new Error(`seen as ${outline.kind}`)
    const { ankleOuter } = outline.landmarks
    expect(Math.abs(ankleOuter[1].y - ankleOuter[0].y) / outline.canvas.side).toBeLessThan(0.02)
  })

  it('distinguishes skirts and trousers from tops', () => {
    expect(kindOf(skirt)).toBe('skirt')
    expect(kindOf(trousers)).toBe('trousers')
    expect(findOutline(cutOut(tee.transparent).alpha).kind).toBe('top')
  })

  it('takes a high-low hem for that of a skirt, and wide sleeves along the body for those of a top', () => {
    const [left, right, rightHem, leftHem] = skirt
    expect(kindOf([left, right, rightHem, [58, 72], [50, 66], [42, 72], leftHem])).toBe('skirt')
    const half = [
      [60, 5],
      [72, 11],
      [78, 20],
      [80, 40],
      [86, 60],
      [83, 62],
      [83, 80],
    ] as const
    const blouse = [[50, 6.8] as const, ...half, ...half.toReversed().map(([x, y]) => [100 - x, y] as const)]
    expect(kindOf(blouse)).toBe('top')
  })

  it('uses the product text when the outline is ambiguous', () => {
    expect(findOutline(cutOut(tee.transparent).alpha, { expected: 'dress' }).kind).toBe('dress')
    expect(kindOf(skirt, 'upper')).toBe('top')
    expect(kindOf(skirt, 'lower')).toBe('skirt')
  })

  describe('with a recognized category', () => {
    const SHARES = { tops: 0, bottoms: 0, 'one-pieces': 0, other: 0 }
    const dress = drawGarment({ cut: CUTS.dress, colour: [40, 80, 160], background: [255, 255, 255] }).transparent
    const skirtAlpha = coverPolygon(
      { width: 300, height: 300 },
      skirt.map(([x, y]) => ({ x: 3 * x, y: 3 * y })),
    )

    it('takes a skirt-like outline for a skirt if the model agrees', () => {
      expect(findOutline(skirtAlpha, { shares: { ...SHARES, tops: 0.4, bottoms: 0.6 } }).kind).toBe('skirt')
      // No top has an outline without bays.
      expect(() => findOutline(skirtAlpha, { shares: { ...SHARES, tops: 0.7, bottoms: 0.3 } })).toThrow(DrapeError)
    })

    it('takes an outline without waistband for a skirt only if the model is sure', () => {
      const { alpha } = cutOut(tee.transparent)
      expect(findOutline(alpha, { shares: { ...SHARES, tops: 0.2, bottoms: 0.8 } }).kind).toBe('top')
      expect(findOutline(alpha, { shares: { ...SHARES, bottoms: 0.95 } }).kind).toBe('skirt')
    })

    it('takes a long outline for a dress unless the model rules it out, and never bares legs by the model alone', () => {
      const { alpha } = cutOut(dress)
      expect(findOutline(alpha, { shares: { ...SHARES, tops: 0.5, 'one-pieces': 0.5 } })).toMatchObject({
        kind: 'dress',
      })
      const overruled = findOutline(alpha, { shares: { ...SHARES, tops: 0.85, 'one-pieces': 0.05 } })
      expect(overruled).toMatchObject({ kind: 'top', kindFrom: 'doubt' })
      const sure = { ...SHARES, 'one-pieces': 0.95 }
      const { corners, ...rest } = CUTS.dress
      const short = corners.map(([name, x, y]) => [name, x, y < 0.1 ? y : 0.6 * y + 0.03] as const)
      const colours = { colour: [40, 80, 160], background: [255, 255, 255] } as const
      const wide = cutOut(drawGarment({ cut: { ...rest, corners: short }, ...colours }).transparent).alpha
      expect(findOutline(wide, { shares: { ...SHARES, tops: 0.5, 'one-pieces': 0.5 } }).kind).toBe('top')
      expect(findOutline(wide, { shares: sure }).kind).toBe('dress')
      expect(findOutline(cutOut(tee.transparent).alpha, { shares: { ...SHARES, 'one-pieces': 0.99 } }).kind).toBe('top')
    })

    it('lets the words of the caller decide', () => {
      expect(findOutline(skirtAlpha, { expected: 'lower', shares: { ...SHARES, tops: 1 } }).kind).toBe('skirt')
    })

    it('refuses shoes and hats', () => {
      expect(() => findOutline(cutOut(tee.transparent).alpha, { shares: { ...SHARES, other: 0.95 } })).toThrow(
        expect.objectContaining({ code: 'RESULT_REJECTED' }),
      )
    })
  })

  // Product photos on mannequins are narrower than on tables: what is worn above looks as long as a dress that lies flat.
  it.each<[string, keyof typeof CUTS, number, string, string]>([
    ['a T-shirt that lies flat', 'tee', 1, 'top', 'outline'],
    ['a T-shirt on a mannequin', 'tee', 0.65, 'top', 'doubt'],
    ['a top on a mannequin', 'sleeveless', 0.7, 'top', 'doubt'],
    ['a pullover on a mannequin', 'longSleeve', 0.65, 'top', 'doubt'],
    ['a dress that lies flat', 'dress', 1, 'dress', 'outline'],
    ['a dress on a mannequin', 'dress', 0.65, 'dress', 'outline'],
  ])('takes %s for what it is', (_, cut, narrow, kind, kindFrom) => {
    const { neck, corners, ...rest } = CUTS[cut]
    const drawn = drawGarment({
      cut: {
        ...rest,
        neck: { ...neck, x: narrow * neck.x },
        corners: corners.map(([name, x, y]) => [name, narrow * x, y] as const),
      },
      colour: [40, 80, 160],
      background: [255, 255, 255],
    })
    expect(findOutline(cutOut(drawn.transparent).alpha)).toMatchObject({ kind, kindFrom })
  })

  it('does not mistake armholes for a skirt, or hanging straps for legs', () => {
    const boat = [
      ...([
        [28, 10],
        [72, 10],
        [80, 16],
        [76, 30],
        [74, 42],
        [77, 70],
        [79, 95],
      ] as const),
      ...([
        [21, 95],
        [23, 70],
        [26, 42],
        [24, 30],
        [20, 16],
      ] as const),
    ] as const
    expect(kindOf(boat)).toBe('top')
    const straps = [
      ...([
        [22, 12],
        [30, 12],
        [38, 30],
        [62, 30],
        [70, 12],
        [78, 12],
        [86, 45],
        [84, 90],
        [78, 90],
        [76, 58],
      ] as const),
      ...([
        [24, 58],
        [22, 90],
        [16, 90],
        [14, 45],
      ] as const),
    ] as const
    expect(kindOf(straps, 'upper')).not.toBe('trousers')
  })

  it.each<[string, readonly (readonly [number, number])[]]>([
    [
      'a lopsided rag',
      [
        [10, 10],
        [60, 12],
        [62, 30],
        [90, 85],
        [70, 95],
        [30, 35],
        [12, 33],
      ],
    ],
    [
      'an L',
      [
        [10, 10],
        [30, 10],
        [30, 70],
        [95, 70],
        [95, 90],
        [10, 90],
      ],
    ],
  ])('refuses %s', (_, polygon) => {
    expect(() => kindOf(polygon)).toThrow(expect.objectContaining({ code: 'RESULT_REJECTED', retryable: false }))
  })

  it('handles shapes of a few pixels', () => {
    for (const size of [1, 2, 5]) {
      const alpha = createPlane({ width: 40, height: 40 })
      for (let i = 0; i < size * size; i++) alpha.data[(10 + Math.floor(i / size)) * 40 + 10 + (i % size)] = 1
      let outcome: GarmentOutline['kind'] | 'refused' = 'refused'
      try {
        outcome = findOutline(alpha).kind
      } catch (error) {
        expect(error).toMatchObject({ code: 'RESULT_REJECTED' })
      }
      expect(['refused', 'skirt', 'top', 'dress']).toContain(outcome)
    }
  })
})

describe('cloth in a heap', () => {
  it('is rejected as a flat garment', async () => {
    const heap = await decodeImage(await readFile('test/fixtures/garments/crumpled_jacket.jpg'))
    expect(() => findOutline(cutOut(heap).alpha)).toThrow(expect.objectContaining({ code: 'RESULT_REJECTED' }))
  })
})
