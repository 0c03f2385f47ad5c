import { beforeAll, describe, expect, it } from 'vitest'
import type { PreparedUpperGarment } from '../../../../worker/vision/garment/prepare-garment.ts'
import type { Bitmap, Point } from '../../../../worker/vision/raster/plane.ts'
import { distance } from '../../../../worker/vision/raster/vector.ts'
import { CUTS, type Drawing, drawGarment } from './drawn-garments.ts'
import { readGarment, turnGarment } from './known-garments.ts'
import { prepareGarment } from './prepare-by-outline.ts'

const BACKGROUND = [236, 232, 226] as const

function prepareUpper(bitmap: Bitmap): PreparedUpperGarment {
  const prepared = prepareGarment(bitmap, { category: null })
  if (prepared.kind !== 'top' && prepared.kind !== 'dress') throw new Error(`seen as ${prepared.kind}`)
  return prepared
}

/** Depth of a neckline's middle below its corners, over the distance of the corners. */
function depthOf(neckline: readonly Point[]): number {
  const [left, right, middle] = [neckline[0], neckline[neckline.length - 1], neckline[(neckline.length - 1) / 2]]
  return (middle.y - (left.y + right.y) / 2) / distance(left, right)
}

/** The same from the background truth. */
function trueDepth(landmarks: ReadonlyMap<string, Point>): number {
  const [left, right, middle] = ['neck_l', 'neck_r', 'neck_mid'].map((name) => landmarks.get(name) ?? { x: 0, y: 0 })
  const width = distance(left, right)
  const along = { x: (right.x - left.x) / width, y: (right.y - left.y) / width }
  return ((middle.y - left.y) * along.x - (middle.x - left.x) * along.y) / width
}

describe('the neckline', () => {
  it.each([
    ['tshirt_mustard', 0.1],
    ['tshirt_navy', 0.1],
    ['vneck_red', 0.17],
    ['tank_green', 0.1],
    ['dress_blue', 0.1],
    ['longsleeve_grey', 0.13],
  ])(
    'of the rendered %s, whose front is closed, is the front’s upper edge, not the seam of its band',
    async (name, tolerance) => {
      const { bitmap, landmarks } = await readGarment(name)
      const garment = prepareUpper(bitmap)
      expect(garment.openFront).toBeNull()
      expect(garment.necklineFound).toBe(true)
      expect(Math.abs(depthOf(garment.neckline) - trueDepth(landmarks))).toBeLessThan(tolerance)
    },
  )

  it('is found on a rotated garment', async () => {
    const { bitmap, landmarks } = turnGarment(await readGarment('tshirt_mustard'), 14)
    expect(Math.abs(depthOf(prepareUpper(bitmap).neckline) - trueDepth(landmarks))).toBeLessThan(0.13)
  })

  it('of a V-neck is V-shaped', () => {
    const { bitmap, landmarks } = drawGarment({
      cut: CUTS.vNeck,
      colour: [160, 40, 50],
      background: BACKGROUND,
      noise: 1,
    })
    const { neckline } = prepareUpper(bitmap)
    expect(Math.abs(depthOf(neckline) - trueDepth(landmarks))).toBeLessThan(0.13)
    const quarter = depthOf([neckline[0], neckline[15], neckline[60]])
    expect(quarter / depthOf(neckline)).toBeLessThan(0.65)
  })

  it('defaults to a crew neck when not visible', async () => {
    const { bitmap } = await readGarment('box_black')
    const garment = prepareUpper(bitmap)
    expect(garment.necklineFound).toBe(false)
    expect(depthOf(garment.neckline)).toBeGreaterThan(0.35)
    expect(depthOf(garment.neckline)).toBeLessThan(0.55)
  })

  it.each([undefined, [30, 40, 90] as const])(
    'of a boat neck is as wide and as shallow as it is, stripes %j',
    (stripes) => {
      const drawing = { cut: CUTS.boatNeck, colour: [235, 235, 230], stripes, background: BACKGROUND } as const
      const { bitmap, landmarks } = drawGarment(drawing)
      const { neckline, torsoWidth } = prepareUpper(bitmap)
      expect(distance(neckline[0], neckline[60]) / torsoWidth).toBeCloseTo(0.44 / 0.5, 1)
      expect(Math.abs(depthOf(neckline) - trueDepth(landmarks))).toBeLessThan(0.13)
    },
  )

  it('ignores stripes', () => {
    const drawing: Drawing = { cut: CUTS.tee, colour: [230, 180, 60], stripes: [30, 40, 90], background: BACKGROUND }
    const { neckline } = prepareUpper(drawGarment(drawing).bitmap)
    expect(depthOf(neckline)).toBeGreaterThan(0.35)
    expect(depthOf(neckline)).toBeLessThan(0.6)
  })

  it.each([
    [215, 12, 9],
    [225, 8, 8],
  ])('of a shallow collar above a print is found: row %i, bars of %i px, gaps of %i px', (top, bar, gap) => {
    const drawing: Drawing = {
      cut: { ...CUTS.tee, front: 0.212, back: 0.18 },
      colour: [180, 40, 50],
      background: BACKGROUND,
    }
    const { bitmap, mask, landmarks } = drawGarment(drawing)
    for (let i = 180 + 700 * top; i < 700 * 420; i++) {
      if (!mask.data[i]) continue
      const [x, y] = [i % 700, Math.floor(i / 700)]
      const isBar = y > top + 12 && y < top + 150 && x > 240 && x < 460 && (x - 240) % (bar + gap) < bar
      bitmap.data.set(isBar ? [20, 30, 80] : [240, 240, 240], 3 * i)
    }
    const garment = prepareUpper(bitmap)
    expect(garment.necklineFound).toBe(true)
    expect(Math.abs(depthOf(garment.neckline) - trueDepth(landmarks))).toBeLessThan(0.05)
  })

  it('ignores a label', () => {
    const { bitmap } = drawGarment({ cut: CUTS.tee, colour: [245, 245, 245], background: [120, 150, 190] })
    const data = bitmap.data.slice()
    for (let y = 138; y < 178; y++)
      for (let x = 325; x < 375; x++) data.set([20, 20, 20], (y * bitmap.width + x) * bitmap.channels)
    const { neckline } = prepareUpper({ ...bitmap, data })
    const [left, right] = [neckline[0], neckline[60]]
    const chordDepth = (i: number) => neckline[i].y - left.y - ((right.y - left.y) * i) / 60
    for (let i = 8; i <= 52; i++) expect(2 * chordDepth(i) - chordDepth(i - 8) - chordDepth(i + 8)).toBeGreaterThan(-1)
  })

  it('has 61 points from the left to the right corner', async () => {
    const { neckline, landmarks } = prepareUpper((await readGarment('tshirt_navy')).bitmap)
    expect(neckline).toHaveLength(61)
    expect(distance(neckline[0], landmarks[0].neck)).toBeLessThan(0.01)
    expect(distance(neckline[60], landmarks[1].neck)).toBeLessThan(0.01)
  })
})

describe('the upright image', () => {
  const drawing: Drawing = { cut: CUTS.tee, colour: [40, 80, 160], background: BACKGROUND }
  const drawn = drawGarment(drawing)
  let garment: PreparedUpperGarment
  beforeAll(() => {
    garment = prepareUpper(drawn.bitmap)
  })

  it('keeps the pixels of the photo when not rotated', () => {
    const { image, axis, landmarks } = garment
    const hem = drawn.landmarks.get('hem_l') ?? { x: 0, y: 0 }
    const down = Math.round(landmarks[0].hem.y - hem.y)
    const right = Math.round(axis - (drawn.bitmap.width - 1) / 2)
    let equal = 0
    for (let y = 300; y < 500; y += 10) {
      for (let x = 250; x < 450; x += 10) {
        const from = 3 * (y * drawn.bitmap.width + x)
        for (let shift = -4; shift <= 4; shift++) {
          const to = 4 * ((y + down + shift) * image.width + x + right)
          if (image.data[to] === drawn.bitmap.data[from] && image.data[to + 2] === drawn.bitmap.data[from + 2]) {
            equal++
            break
          }
        }
      }
    }
    expect(equal).toBe(400)
  })

  it('is square, premultiplied and centered on the axis', () => {
    const { image, axis } = garment
    expect(image.width).toBe(image.height)
    expect(Math.abs(axis - (image.width - 1) / 2)).toBeLessThanOrEqual(0.5)
    for (let i = 0; i < image.data.length; i += 4) {
      expect(Math.max(image.data[i], image.data[i + 1], image.data[i + 2])).toBeLessThanOrEqual(
        image.data[i + 3] + 0.01,
      )
    }
  })

  it('is transparent at its border', () => {
    const { width, data } = garment.image
    for (let k = 0; k < width; k++) {
      for (const i of [k, (width - 1) * width + k, k * width, k * width + width - 1]) expect(data[4 * i + 3]).toBe(0)
    }
  })

  it('is ordered from the left to the right of the image', () => {
    const { landmarks, sides, axis } = garment
    expect(landmarks[0].hem.x).toBeLessThan(axis)
    expect(landmarks[1].hem.x).toBeGreaterThan(axis)
    expect(sides[0].side[0].x).toBeLessThan(axis)
    expect(sides[1].side[0].x).toBeGreaterThan(axis)
  })

  it('keeps the resolution of large photos up to 1400 px and does not enlarge small ones', () => {
    const height = ({ landmarks }: PreparedUpperGarment) => landmarks[0].hem.y - landmarks[0].neck.y
    const small = prepareUpper(drawGarment({ ...drawing, size: 350 }).bitmap)
    const large = prepareUpper(drawGarment({ ...drawing, size: 1400 }).bitmap)
    const larger = prepareUpper(drawGarment({ ...drawing, size: 2000 }).bitmap)
    expect(height(small) / height(garment)).toBeCloseTo(0.5, 1)
    expect(height(large) / height(garment)).toBeCloseTo(2, 1)
    expect(height(larger) / height(large)).toBeCloseTo(1, 1)
  })

  it('is deterministic', () => {
    const again = prepareUpper(drawn.bitmap)
    expect(again.image.data).toEqual(garment.image.data)
    expect(again.neckline).toEqual(garment.neckline)
  })
})

describe('prepareGarment', () => {
  it('keeps trousers as trousers for any category', async () => {
    const { bitmap } = await readGarment('trousers_black')
    expect(prepareGarment(bitmap, { category: null }).kind).toBe('trousers')
    expect(prepareGarment(bitmap, { category: 'tops' }).kind).toBe('trousers')
  })

  it('uses the product category to choose between top, dress and skirt', async () => {
    const { bitmap } = await readGarment('tank_green')
    expect(prepareGarment(bitmap, { category: 'tops' }).kind).toBe('top')
    expect(prepareGarment(bitmap, { category: 'one-pieces' }).kind).toBe('dress')
    expect(prepareGarment(bitmap, { category: 'bottoms' }).kind).toBe('skirt')
  })

  it('accepts an image with transparency', () => {
    const { transparent, landmarks, height } = drawGarment({
      cut: CUTS.vNeck,
      colour: [40, 80, 160],
      background: BACKGROUND,
      turn: 15,
    })
    const garment = prepareUpper(transparent)
    expect(Math.abs(garment.angle - 15)).toBeLessThanOrEqual(1)
    expect(garment.sleeved).toBe(true)
    expect(Math.abs(depthOf(garment.neckline) - trueDepth(landmarks))).toBeLessThan(0.13)
    const hemWidth = distance(garment.landmarks[0].hem, garment.landmarks[1].hem)
    const trueWidth = distance(landmarks.get('hem_l') ?? { x: 0, y: 0 }, landmarks.get('hem_r') ?? { x: 0, y: 0 })
    expect(Math.abs(hemWidth - trueWidth) / height).toBeLessThan(0.02)
  })
})
