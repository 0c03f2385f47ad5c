import { describe, expect, it } from 'vitest'
import { BACKGROUND, GARMENT, LOWER, SKIN } from '../../../../../../worker/engines/warp/remove/removal.ts'
import { collarbones, inventSkin } from '../../../../../../worker/engines/warp/remove/upper/invented-skin.ts'
import { removeUpper } from '../../../../../../worker/engines/warp/remove/upper/remove.ts'
import type { UpperGarment } from '../../../../../../worker/vision/garment/garment.ts'
import { threshold } from '../../../../../../worker/vision/raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  createMask,
  type Mask,
  type Point,
} from '../../../../../../worker/vision/raster/plane.ts'
import { resample } from '../../../../../../worker/vision/raster/polyline.ts'
import {
  ARMS_AWAY,
  COLOURS,
  type Colour,
  drawPerson,
  type Pose,
  TORSO_HALF_WIDTH,
} from '../../../../vision/body/drawn-person.ts'
import { drawGarment } from '../../drawn-garment.ts'
import { layGarment, paintSleeves } from '../../lay-garment.ts'

const HANDS_BESIDE: Pose = { elbow: { x: 62, y: 92 }, wrist: { x: 42, y: 178 } }
const figure = drawPerson(ARMS_AWAY)
const { landmarks } = figure.person

function remove(photo: Bitmap, sleeves: 'short' | 'long' | 'none' = 'short') {
  const fitted = layGarment(figure.person, photo, drawGarment({ sleeves }))
  const removal = removeUpper(fitted.fitting, { photo: bitmapToColours(photo), garment: fitted.flat })
  return { ...fitted, removal }
}

const distance = (a: ArrayLike<number>, b: Colour) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
const between = (a: Point, b: Point, share: number) => ({ x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share })

describe('removing the worn garment', () => {
  const clothed = paintSleeves(figure, COLOURS.top)
  const { removal, fitting, flat } = remove(clothed)
  const at = ({ x, y }: Point) => Math.round(y) * clothed.width + Math.round(x)
  const shown = (i: number) => {
    const open = 1 - removal.layer.data[i * 4 + 3] / 255
    return [0, 1, 2].map((c) => removal.layer.data[i * 4 + c] + clothed.data[i * 3 + c] * open)
  }

  it.each(['left', 'right'] as const)('shows the bare %s arm when a short sleeve replaces a long sleeve', (side) => {
    for (const share of [0.1, 0.3, 0.5, 0.7]) {
      const i = at(between(landmarks[`${side}Elbow`], landmarks[`${side}Wrist`], share))
      expect(removal.zones[i]).toBe(SKIN)
      expect(distance(shown(i), COLOURS.skin)).toBeLessThan(25)
    }
  })

  it('leaves no old garment color outside the new garment', () => {
    let rest = 0
    for (let i = 0; i < flat.cover.data.length; i++) {
      if (fitting.parts.along.data[i] > 1.2 || fitting.parts.along.data[i] < -0.1) continue
      if ((1 - flat.cover.data[i]) * (distance(shown(i), COLOURS.top) < 40 ? 1 : 0) > 0.5) rest++
    }
    expect(rest).toBeLessThan(60)
  })

  it('does not change face, hands, trousers or distant background', () => {
    const wrist = landmarks.leftWrist
    for (const point of [landmarks.nose, { x: wrist.x, y: wrist.y + 16 }, landmarks.leftKnee, { x: 20, y: 300 }])
      expect(removal.layer.data[at(point) * 4 + 3]).toBe(0)
  })

  it('does not warn when it synthesizes little skin', () => {
    expect(remove(figure.photo, 'long').removal.warnings).toEqual([])
    expect(removal.warnings).not.toContain('OLD_GARMENT_REMAINS')
  })

  it('bares the shoulders above a wide neckline, also under a top of the color of the wall', () => {
    const light = drawPerson(ARMS_AWAY, { top: [203, 203, 208] })
    const low = drawGarment({ sleeves: 'none', neck: [84, 120] })
    const laid = layGarment(light.person, light.photo, low)
    const { zones } = removeUpper(laid.fitting, { photo: bitmapToColours(light.photo), garment: laid.flat })
    const { along } = laid.fitting.parts
    const bared = [...zones.keys()].filter(
      (i) => light.drawn.top.data[i] === 1 && along.data[i] < 0.1 && laid.flat.cover.data[i] === 0,
    )
    expect(bared.length).toBeGreaterThan(1000)
    expect(bared.filter((i) => zones[i] !== SKIN)).toEqual([])
  })

  it('gives a bared shoulder a smooth outline where the old strap is jagged', () => {
    const photo = { ...figure.photo, data: figure.photo.data.slice() }
    const mask = { ...figure.person.mask, data: figure.person.mask.data.slice() }
    const { x: from } = landmarks.rightShoulder
    const to = landmarks.nose.x - 25
    const topOf = (data: ArrayLike<number>, wanted: number, x: number) => {
      for (let y = 0; y < photo.height; y++) if (data[y * photo.width + x] === wanted) return y
      return 0
    }
    // Every second fold is 4 px lower.
    for (let x = Math.round(from); x < to; x++) {
      if (x % 8 < 4) continue
      for (let y = topOf(figure.person.mask.data, 1, x), end = y + 4; y < end; y++) {
        mask.data[y * photo.width + x] = 0
        photo.data.set(COLOURS.background, (y * photo.width + x) * 3)
      }
    }
    const laid = layGarment({ ...figure.person, mask }, photo, drawGarment({ sleeves: 'none', neck: [84, 120] }))
    const { zones } = removeUpper(laid.fitting, { photo: bitmapToColours(photo), garment: laid.flat })
    const outline = Array.from({ length: 20 }, (_, k) => topOf(zones, SKIN, Math.round(to) - 22 + k))
    const bends = outline.slice(2).map((y, k) => Math.abs(y - 2 * outline[k + 1] + outline[k]))
    expect(Math.max(...bends)).toBeLessThanOrEqual(1)
  })

  it('gives a bared chest the tone of the neck without the shade of the chin', () => {
    const low = drawGarment({ sleeves: 'none', neck: [84, 120] })
    const chest = (shade: number, share = 0.5) => {
      const photo = { ...figure.photo, data: figure.photo.data.slice() }
      const laid = layGarment(figure.person, photo, low)
      const { parts } = laid.fitting
      const data = parts.lab.data.slice()
      const neck = [...parts.skin.data.keys()].filter(
        (i) => parts.skin.data[i] && parts.along.data[i] > -0.4 && parts.along.data[i] < 0,
      )
      for (const [k, i] of neck.entries()) if (k < share * neck.length) data[3 * i] -= shade
      const fitting = { ...laid.fitting, parts: { ...parts, lab: { ...parts.lab, data } } }
      const { layer, zones } = removeUpper(fitting, { photo: bitmapToColours(photo), garment: laid.flat })
      const bared = [...zones.keys()].filter((i) => zones[i] === SKIN && Math.abs(parts.across.data[i]) < 0.2)
      return bared.reduce((sum, i) => sum + layer.data[4 * i + 1], 0) / bared.length
    }
    expect(chest(20)).toBeGreaterThan(chest(0) - 6)
    expect(chest(20, 1)).toBeGreaterThan(chest(0) - 40)
  })

  it('gives a bared chest collarbones', () => {
    const { fitting, flat } = layGarment(figure.person, figure.photo, drawGarment({ sleeves: 'none', neck: [84, 120] }))
    const { layer, zones } = removeUpper(fitting, { photo: bitmapToColours(figure.photo), garment: flat })
    const { along, across } = fitting.parts
    const lightness = (from: number, to: number) => {
      const found = [...zones.keys()].filter((i) => {
        const beside = Math.abs(across.data[i])
        const below = along.data[i] + 0.04 + 0.13 * (beside - 0.04)
        return zones[i] === SKIN && beside > 0.1 && beside < 0.25 && below > from && below < to
      })
      return found.reduce((sum, i) => sum + layer.data[4 * i + 1], 0) / found.length
    }
    expect(lightness(0.03, 0.07)).toBeGreaterThan(lightness(-0.015, 0.015) + 6)
  })

  it('adds no collarbones to those of the photo', () => {
    const { parts } = fitting
    const strongest = (skin: Mask) => collarbones({ ...parts, skin }).data.reduce((a, b) => Math.max(a, Math.abs(b)), 0)
    expect(strongest(createMask(parts.skin))).toBeGreaterThan(2)
    expect(strongest(threshold(figure.person.mask, 0.5))).toBe(0)
  })

  it('gives an arm no dark edge above the armpit, where it is one with the chest', () => {
    const bare = threshold(figure.person.mask, 0.5)
    const laid = layGarment(figure.person, clothed, drawGarment({ sleeves: 'none', neck: [84, 120] }))
    const { along, across } = laid.fitting.parts
    const { tones } = inventSkin(laid.fitting, { old: figure.drawn.top, bare, factor: 1 }) ?? {}
    const tonesBeside = (from: number, to: number) =>
      [...bare.data.keys()]
        .filter((i) => Math.abs(across.data[i]) > from && Math.abs(across.data[i]) < to)
        .filter((i) => along.data[i] > 0.05 && along.data[i] < 0.1)
        .map((i) => tones?.data[3 * i] ?? 0)
    expect(Math.min(...tonesBeside(0.35, 0.55))).toBeGreaterThan(Math.min(...tonesBeside(0, 0.3)) - 4)
  })

  it('rejects bare arms when no skin is visible', () => {
    const parts = { ...fitting.parts, skinColour: null }
    expect(() => removeUpper({ ...fitting, parts }, { photo: bitmapToColours(clothed), garment: flat })).toThrow(
      expect.objectContaining({ code: 'RESULT_REJECTED', message: expect.stringMatching(/no skin/i) }),
    )
  })

  it('shades a synthesized forearm across the body: light above the bone, dark below', () => {
    const across = drawPerson({ elbow: { x: 40, y: 80 }, wrist: { x: -50, y: 84 } })
    const sleeves = paintSleeves(across, COLOURS.top)
    const laid = layGarment(across.person, sleeves, drawGarment())
    const { layer, zones } = removeUpper(laid.fitting, { photo: bitmapToColours(sleeves), garment: laid.flat })
    const { leftElbow, leftWrist } = across.person.landmarks
    const middle = between(leftElbow, leftWrist, 0.45)
    const lightAt = (dy: number) => {
      const i = Math.round(middle.y + dy) * layer.width + Math.round(middle.x)
      expect(zones[i]).toBe(SKIN)
      return layer.data[4 * i] + layer.data[4 * i + 1] + layer.data[4 * i + 2]
    }
    expect(lightAt(-8)).toBeGreaterThan(lightAt(8) + 12)
    expect(lightAt(0)).toBeGreaterThan(lightAt(8) + 12)
  })

  it('bares the part of the hand that a wide cuff covers', () => {
    const { zones } = remove(paintSleeves(figure, COLOURS.top, 25)).removal
    const { x, y } = landmarks.leftWrist
    for (const down of [5, 12, 19, 22]) expect(zones[at({ x, y: y + down })]).toBe(SKIN)
  })

  it('widens a sleeve to the outline of a bare arm', () => {
    const laid = layGarment(figure.person, figure.photo, drawGarment())
    const [sleeves, cover] = [laid.flat.sleeves, laid.flat.cover].map((plane) => ({
      ...plane,
      data: plane.data.slice(),
    }))
    const slice: number[] = []
    for (let y = 0; y < cover.height; y++) {
      const row = y * cover.width
      const outer = sleeves.data.subarray(row, row + cover.width).findIndex((value) => value > 0)
      if (outer === -1) continue
      for (let x = outer; x < outer + 6; x++) {
        if (laid.fitting.parts.skin.data[row + x]) slice.push(row + x)
        sleeves.data[row + x] = 0
        cover.data[row + x] = 0
      }
    }
    const garment = { ...laid.flat, sleeves, cover }
    const { zones } = removeUpper(laid.fitting, { photo: bitmapToColours(figure.photo), garment })
    expect(slice.length).toBeGreaterThan(50)
    expect(slice.filter((i) => zones[i] === GARMENT).length).toBeGreaterThan(0.7 * slice.length)
    const { leftElbow, leftWrist } = landmarks
    for (const share of [0.3, 0.6]) expect(zones[at(between(leftElbow, leftWrist, share))]).toBe(0)
  })

  it('gives an arm a smooth outline where the old sleeve is jagged', () => {
    const hanging = drawPerson({ elbow: { x: 40, y: 90 }, wrist: { x: 52, y: 180 } })
    const jagged = paintSleeves(hanging, COLOURS.top)
    const mask = { ...hanging.person.mask, data: hanging.person.mask.data.slice() }
    // Every second fold is 12 px narrower.
    for (let y = 300; y < 370; y++) {
      const row = y * jagged.width
      const outer = mask.data.subarray(row, row + jagged.width).lastIndexOf(1)
      for (let x = outer; x > outer - 12 && y % 16 < 8; x--) {
        mask.data[row + x] = 0
        jagged.data.set(COLOURS.background, (row + x) * 3)
      }
    }
    const laid = layGarment({ ...hanging.person, mask }, jagged, drawGarment())
    const { zones } = removeUpper(laid.fitting, { photo: bitmapToColours(jagged), garment: laid.flat })
    const outline = Array.from({ length: 60 }, (_, k) => {
      const row = zones.subarray((305 + k) * jagged.width, (306 + k) * jagged.width)
      return row.lastIndexOf(SKIN)
    })
    const steps = outline.slice(2).map((x, k) => Math.abs(x - outline[k]))
    expect(outline.every((x) => x > 300)).toBe(true)
    expect(Math.max(...steps)).toBeLessThanOrEqual(2)
  })

  it('gives an arm a tone between those of its hand and the neck', () => {
    const arm = at(between(landmarks.leftElbow, landmarks.leftWrist, 0.2)) * 4
    const blueIn = (isPaler: (y: number) => boolean) => {
      const { skin, lab } = fitting.parts
      const isChanged = (i: number) => skin.data[i] === 1 && isPaler(Math.floor(i / skin.width))
      const data = lab.data.map((value, k) => (k % 3 === 2 && isChanged(Math.floor(k / 3)) ? value - 8 : value))
      const changed = { ...fitting, parts: { ...fitting.parts, lab: { ...lab, data } } }
      return removeUpper(changed, { photo: bitmapToColours(clothed), garment: flat }).layer.data[arm + 2]
    }
    const [none, hands, all] = [() => false, (y: number) => y > 300, () => true].map(blueIn)
    expect((hands - none) / (all - none)).toBeGreaterThan(0.3)
    expect((hands - none) / (all - none)).toBeLessThan(0.7)
  })

  it('paints no skin under new long sleeves', () => {
    const { removal: covered } = remove(clothed, 'long')
    const wristward = at(between(landmarks.leftElbow, landmarks.leftWrist, 0.5))
    expect(covered.zones[wristward]).not.toBe(SKIN)
  })

  it('fills below a shorter hem with the trouser color', () => {
    const { fitting: short, flat: cropped } = layGarment(figure.person, figure.photo, cropGarment(drawGarment(), 300))
    const shortened = removeUpper(short, { photo: bitmapToColours(figure.photo), garment: cropped })
    expect(short.placement.hem).toBeLessThan(short.placement.oldHem - 0.1)
    expect(shortened.warnings).toContain('OLD_GARMENT_LONGER')
    const belly = at({ x: 240, y: 200 + 160 * (0.3 * short.placement.hem + 0.7 * short.placement.oldHem) })
    expect(shortened.zones[belly]).toBe(LOWER)
    expect(distance(shortened.layer.data.subarray(belly * 4), COLOURS.lower)).toBeLessThan(20)
  })

  it.each([
    ['shows trousers of their own width where a wide jacket covered them', ARMS_AWAY, BACKGROUND],
    ['leaves the edge of trousers that a hand beside them may hide', HANDS_BESIDE, LOWER],
  ])('%s', (_, pose, expected) => {
    const { person, photo, drawn } = drawPerson(pose)
    const jacket = { ...photo, data: photo.data.slice() }
    const mask = { ...person.mask, data: person.mask.data.slice() }
    for (let y = 290; drawn.top.data[at({ x: 240, y })]; y++) {
      for (let x = TORSO_HALF_WIDTH - 4; x < TORSO_HALF_WIDTH + 16; x++) {
        for (const i of [at({ x: 240 - x, y }), at({ x: 240 + x, y })]) {
          jacket.data.set(COLOURS.top, i * 3)
          mask.data[i] = 1
        }
      }
    }
    const { fitting: short, flat: cropped } = layGarment({ ...person, mask }, jacket, cropGarment(drawGarment(), 300))
    const { zones } = removeUpper(short, { photo: bitmapToColours(jacket), garment: cropped })
    const y = 200 + 160 * (0.3 * short.placement.hem + 0.7 * short.placement.oldHem)
    for (const side of [-1, 1]) {
      expect(zones[at({ x: 240 + side * (TORSO_HALF_WIDTH - 6), y })]).toBe(LOWER)
      expect(zones[at({ x: 240 + side * (TORSO_HALF_WIDTH + 11), y })]).toBe(expected)
    }
  })

  it('rejects a short jacket over a long coat', () => {
    const coat = { ...figure.photo, data: figure.photo.data.slice() }
    for (let i = 0; i < coat.width * 395; i++) if (figure.drawn.lower.data[i]) coat.data.set(COLOURS.top, i * 3)
    const { fitting: short, flat: cropped } = layGarment(figure.person, coat, cropGarment(drawGarment(), 280))
    expect(() => removeUpper(short, { photo: bitmapToColours(coat), garment: cropped })).toThrow(
      expect.objectContaining({ code: 'RESULT_REJECTED', message: expect.stringContaining('below the hem') }),
    )
  })

  it('rejects a shorter garment when nothing below the coat is visible', () => {
    const coat = { ...figure.photo, data: figure.photo.data.slice() }
    const mask = { ...figure.person.mask, data: figure.person.mask.data.slice() }
    for (let i = 0; i < mask.data.length; i++) {
      if (figure.drawn.lower.data[i]) coat.data.set(COLOURS.top, i * 3)
      if (i >= coat.width * 368) mask.data[i] = 0
    }
    const { fitting: short, flat: cropped } = layGarment(
      { ...figure.person, mask },
      coat,
      cropGarment(drawGarment(), 300),
    )
    expect(() => removeUpper(short, { photo: bitmapToColours(coat), garment: cropped })).toThrow(
      expect.objectContaining({ code: 'RESULT_REJECTED', message: expect.stringContaining('below the hem') }),
    )
  })

  it('fills with background where loose cloth stood off the arm', () => {
    const { elbow, wrist } = { elbow: landmarks.leftElbow, wrist: landmarks.leftWrist }
    const middle = between(elbow, wrist, 0.4)
    const off = { x: middle.x + 21, y: middle.y - 19 }
    const loose = { ...clothed, data: clothed.data.slice() }
    const mask = { ...figure.person.mask, data: figure.person.mask.data.slice() }
    for (let dy = -9; dy <= 9; dy++) {
      for (let dx = -9; dx <= 9; dx++) {
        const i = at({ x: off.x + dx, y: off.y + dy })
        mask.data[i] = 1
        loose.data.set(COLOURS.top, i * 3)
      }
    }
    const fitted = layGarment({ ...figure.person, mask }, loose, drawGarment())
    const result = removeUpper(fitted.fitting, { photo: bitmapToColours(loose), garment: fitted.flat })
    const i = at({ x: off.x + 4, y: off.y - 4 })
    expect(result.zones[i]).toBe(BACKGROUND)
    expect(distance(result.layer.data.subarray(i * 4), COLOURS.background)).toBeLessThan(20)
  })
})

describe('below a crop top', () => {
  it('shows the bare belly down to the waistband', () => {
    const fitted = layGarment(figure.person, figure.photo, cropGarment(drawGarment(), 300))
    const { zones } = removeUpper(fitted.fitting, {
      photo: bitmapToColours(figure.photo),
      garment: fitted.flat,
    })
    const { shoulders, hips } = fitted.fitting.body
    const zoneAt = (share: number) => {
      const { x, y } = between(shoulders, hips, share)
      return zones[Math.round(y) * figure.photo.width + Math.round(x)]
    }
    expect(fitted.fitting.placement.hem).toBeLessThan(0.75)
    expect([0.78, 0.95].map(zoneAt)).toEqual([SKIN, LOWER])
  })
})

// The garment cut off at a height of its photo.
function cropGarment(garment: UpperGarment, bottom: number): UpperGarment {
  const data = garment.image.data.slice()
  data.fill(0, bottom * garment.image.width * 4)
  const sides = garment.sides.map((half) => {
    const side = half.side.filter(({ y }) => y <= bottom)
    const corner = side[side.length - 1]
    return { ...half, side, hem: resample([corner, { x: garment.axis, y: corner.y }], 30) }
  })
  const landmarks = garment.landmarks.map((half, i) => ({ ...half, hem: sides[i].hem[0] }))
  return {
    ...garment,
    image: { ...garment.image, data },
    sides: [sides[0], sides[1]],
    landmarks: [landmarks[0], landmarks[1]],
  }
}

describe('under an open jacket', () => {
  const closed = drawGarment({ sleeves: 'long' })
  const [left, right] = closed.landmarks
  const edge = (neck: Point, x: number) => [neck, { x, y: neck.y + 60 }, { x, y: left.hem.y + 60 }]
  const openFront = [edge(left.neck, closed.axis - 30), edge(right.neck, closed.axis + 30)] as const
  const clothed = paintSleeves(figure, COLOURS.top)
  const fitted = layGarment(figure.person, clothed, { ...closed, openFront })
  const { fitting, flat } = fitted
  const { zones } = removeUpper(fitting, { photo: bitmapToColours(clothed), garment: flat })
  const middleAt = (share: number) => {
    const { shoulders, hips } = fitting.body
    return Math.round(between(shoulders, hips, share).y) * clothed.width + Math.round(shoulders.x)
  }

  it('keeps worn clothes visible and unchanged between the fronts', () => {
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      expect(flat.cover.data[middleAt(share)]).toBe(0)
      expect(zones[middleAt(share)]).toBe(0)
    }
  })

  it('covers worn clothes with both fronts', () => {
    const side = Math.round(0.3 * fitting.body.unit)
    for (const share of [0.3, 0.5, 0.7])
      for (const i of [middleAt(share) - side, middleAt(share) + side]) expect(flat.cover.data[i]).toBeGreaterThan(0.95)
  })

  it('removes nothing below the hem or beyond the cuffs', () => {
    const removed = zones.reduce(
      (n, zone, i) => n + (zone > 0 && fitting.parts.along.data[i] > fitting.placement.hem ? 1 : 0),
      0,
    )
    expect(removed).toBe(0)
  })
})
