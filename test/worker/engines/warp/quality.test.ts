import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { measureQuality, type Quality } from '../../../../scripts/quality/measure.ts'
import { type Pair, type PairName, readPair, readPairNames } from '../../../../scripts/quality/pair.ts'
import type { EngineResult } from '../../../../worker/engines/engine.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { type Bitmap, bitmapToColours } from '../../../../worker/vision/raster/plane.ts'
import { dress } from '../../../support/vision.ts'
import { readBitmap, readFigure } from '../../vision/person/figures.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')
const PAIRS = await readPairNames(FIXTURES)
const NAMES = PAIRS.filter(({ tested }) => tested)

interface Worn {
  readonly pair: Pair
  readonly result: EngineResult
  readonly image: Bitmap
  readonly quality: Quality
}

const worn = new Map<string, Promise<Worn>>()

/** The result for a pair, drawn and measured once. */
function wear(person: string, garment: string): Promise<Worn> {
  const key = `${person} ${garment}`
  const name = PAIRS.find((pair) => pair.person === person && pair.garment === garment)
  if (!name) throw new Error(`${key} is no pair`)
  const found = worn.get(key) ?? measure(name)
  worn.set(key, found)
  return found
}

async function measure(name: PairName): Promise<Worn> {
  const pair = await readPair(FIXTURES, name)
  const result = await dress({ person: pair.figure.bitmap, garment: pair.garment.bitmap })
  const image = blendChange({ photo: pair.figure.bitmap, ...result })
  return { pair, result, image, quality: measureQuality(pair, { ...result, image }) }
}

describe('the warp engine on rendered figures with ground truth', () => {
  it.each(NAMES.map(({ person, garment }) => [person, garment]))('dresses %s in %s', async (person, garment) => {
    const { landmarks, covered, overlap, edges, colour, similarity, face, hands, outside, stray } = (
      await wear(person, garment)
    ).quality
    expect(covered).toBeGreaterThan(0.98)
    // The true garment's cut is not quite the product's: its hem and sleeves end elsewhere.
    expect(overlap ?? 1).toBeGreaterThan(0.69)
    expect(edges ?? 0).toBeLessThan(2.4)
    expect(colour).toBeLessThan(5)
    expect(landmarks ?? 0).toBeLessThan(4.4)
    expect(similarity ?? 1).toBeGreaterThan(0.3)
    expect([face, hands, outside, stray]).toEqual([0, 0, 0, 0])
  })
})

const labAt = (bitmap: Bitmap, { x, y }: { x: number; y: number }): number[] => {
  const at = 3 * (Math.round(y) * bitmap.width + Math.round(x))
  return Array.from(rgbToLab(bitmapToColours(bitmap)).data.subarray(at, at + 3))
}
const apart = (a: number[], b: number[]) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
const between = (a: { x: number; y: number }, b: { x: number; y: number }, share: number) => ({
  x: a.x + (b.x - a.x) * share,
  y: a.y + (b.y - a.y) * share,
})

describe.each([
  ['ben-jeans', 'trousers_black'],
  ['ada-skirt', 'jeans_blue'],
])('%s in %s', (person, garment) => {
  it('matches the figure rendered in the same garment', async () => {
    const { overlap, colour, perceptual } = (await wear(person, garment)).quality
    expect(overlap).toBeGreaterThan(0.87)
    expect(colour).toBeLessThan(3)
    expect(perceptual).toBeLessThan(11)
  })

  it('does not change the top', async () => {
    const { pair, result } = await wear(person, garment)
    const { top } = pair.figure.parts
    let changed = 0
    let all = 0
    for (let i = 0; i < top.data.length; i++) {
      if (!top.data[i]) continue
      all++
      if (result.change.data[i] > 0.5) changed++
    }
    expect(changed / all).toBeLessThan(0.03)
  })

  it('is detected as bottoms', async () => {
    expect((await wear(person, garment)).result.detected).toMatchObject({ type: 'flat_lay', category: 'bottoms' })
  })
})

describe('a person who does not stand straight', () => {
  it('keeps the wrist of a raised hand before the sleeve', async () => {
    expect((await wear('bea-tee', 'tshirt_mustard')).quality.hands).toBeLessThan(15)
  })

  it('wears a dress as a dress although the turned shoulders are narrow', async () => {
    expect((await wear('mia-tee', 'tdress_coral')).quality.covered).toBeGreaterThan(0.99)
  })
})

describe('shorter garments over trousers', () => {
  it.each(['shorts_beige', 'skirt_pencil'])('shows bare shins below %s', async (garment) => {
    const { pair, image, result } = await wear('ada-jeans', garment)
    const { joints } = pair.figure
    const arm = labAt(pair.figure.bitmap, between(joints.left_elbow, joints.left_wrist, 0.5))
    for (const side of ['left', 'right']) {
      const shin = between(joints[`${side}_knee`], joints[`${side}_ankle`], 0.7)
      expect(apart(labAt(pair.figure.bitmap, shin), arm)).toBeGreaterThan(40)
      expect(apart(labAt(image, shin), arm)).toBeLessThan(15)
    }
    expect(result.warnings).toContain('LARGE_BACKGROUND_INVENTED')
  })

  it('leave no shaded cloth above the shoes of a walking person', async () => {
    expect((await wear('dan-jeans', 'shorts_beige')).quality.covered).toBeGreaterThan(0.995)
  })

  it('keep the hands in front', async () => {
    const { pair, result } = await wear('ada-jeans', 'skirt_pencil')
    for (const side of ['left', 'right']) {
      const { x, y } = pair.figure.joints[`${side}_wrist`]
      expect(result.change.data[Math.round(y) * pair.figure.bitmap.width + Math.round(x)]).toBe(0)
    }
  })
})

it('keeps the beard below the chin and the watch of a man', async () => {
  const samples = join(import.meta.dirname, '../../../../scripts/samples')
  const photo = await readBitmap(join(samples, 'persons/office-man.jpg'))
  const { change } = await dress({
    person: photo,
    garment: await readBitmap(join(samples, 'garments/tshirt-mustard.jpg')),
  })
  for (const [x, y] of [
    [0.54, 0.305],
    [0.79, 0.795],
  ])
    expect(change.data[Math.round(y * change.height) * change.width + Math.round(x * change.width)]).toBe(0)
})

describe('a garment that is wider than the worn one', () => {
  it('covers the wall in a gap beside the arm up to its ends', async () => {
    const samples = join(import.meta.dirname, '../../../../scripts/samples')
    const photo = await readBitmap(join(samples, 'persons/down-half-teal.jpg'))
    const result = await dress({
      person: photo,
      garment: await readBitmap(join(samples, 'garments/tshirt-navy.jpg')),
    })
    const image = blendChange({ photo, ...result })
    const wall = labAt(photo, { x: 90, y: 500 })
    for (const end of [
      { x: 456, y: 478 },
      { x: 466, y: 552 },
    ]) {
      expect(apart(labAt(photo, end), wall)).toBeLessThan(12)
      expect(apart(labAt(image, end), wall)).toBeGreaterThan(40)
    }
  })
})

describe('trousers on a photo that ends above the thighs', () => {
  it('are rejected', async () => {
    const { bitmap } = await readFigure('heavy-half')
    const { garment } = await readPair(FIXTURES, { person: 'ada-jeans', garment: 'jeans_blue', part: 'lower' })
    const height = Math.round(0.75 * bitmap.height)
    const cut = { ...bitmap, height, data: bitmap.data.slice(0, bitmap.width * height * bitmap.channels) }
    await expect(dress({ person: cut, garment: garment.bitmap })).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })
})
