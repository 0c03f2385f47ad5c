import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { measureQuality, type Quality } from '../../../../scripts/quality/measure.ts'
import { type Pair, readPair } from '../../../../scripts/quality/pair.ts'
import type { Engine, EngineResult } from '../../../../worker/engines/engine.ts'
import { createWarpEngine } from '../../../../worker/engines/warp/warp-engine.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { type Bitmap, bitmapToColours } from '../../../../worker/vision/raster/plane.ts'
import { readFigure } from '../../vision/person/figures.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')

let models: Models
let engine: Engine

beforeAll(async () => {
  models = await openModels('worker/models')
  engine = createWarpEngine({ models })
})
afterAll(() => models.release())

const wear = (person: Bitmap, { bitmap, bytes }: Pair['garment']): Promise<EngineResult> =>
  engine.run(
    {
      person,
      garment: bitmap,
      garmentHash: String(bytes.length),
      category: null,
      options: { seed: 1, mode: 'balanced' },
    },
    { signal: new AbortController().signal, onProgress: () => {} },
  )

interface Worn {
  readonly pair: Pair
  readonly result: EngineResult
  readonly image: Bitmap
}

const dress = async (person: string, garment: string, truth?: string): Promise<Worn> => {
  const pair = await readPair(FIXTURES, { person, garment, part: 'lower', ...(truth && { truth }) })
  const result = await wear(pair.figure.bitmap, pair.garment)
  return { pair, result, image: blendChange({ photo: pair.figure.bitmap, ...result }) }
}

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
  ['ben-jeans', 'trousers_black', 'ben-black'],
  ['ben-black', 'jeans_blue', 'ben-jeans'],
  ['ada-skirt', 'jeans_blue', 'ada-jeans'],
])('%s in %s', (person, garment, truth) => {
  let worn: Worn
  let quality: Quality
  beforeAll(async () => {
    worn = await dress(person, garment, truth)
    quality = measureQuality(worn.pair, { ...worn.result, image: worn.image })
  })

  it('matches the figure rendered in the same garment', () => {
    const { covered, overlap, colour, perceptual } = quality
    expect(covered).toBeGreaterThan(0.97)
    expect(overlap).toBeGreaterThan(0.87)
    expect(colour).toBeLessThan(3)
    expect(perceptual).toBeLessThan(11)
  })

  it('does not change the face, the top or distant pixels', () => {
    const { face, outside, stray } = quality
    expect([face, outside, stray]).toEqual([0, 0, 0])
    const { top } = worn.pair.figure.parts
    let changed = 0
    let all = 0
    for (let i = 0; i < top.data.length; i++) {
      if (!top.data[i]) continue
      all++
      if (worn.result.change.data[i] > 0.5) changed++
    }
    expect(changed / all).toBeLessThan(0.03)
  })

  it('is detected as bottoms', () => {
    expect(worn.result.detected).toMatchObject({ type: 'flat_lay', category: 'bottoms' })
  })
})

describe('shorter garments over trousers', () => {
  it.each(['shorts_beige', 'skirt_pencil'])('shows bare shins below %s', async (garment) => {
    const { pair, image, result } = await dress('ada-jeans', garment)
    const { joints } = pair.figure
    const arm = labAt(pair.figure.bitmap, between(joints.left_elbow, joints.left_wrist, 0.5))
    for (const side of ['left', 'right']) {
      const shin = between(joints[`${side}_knee`], joints[`${side}_ankle`], 0.7)
      expect(apart(labAt(pair.figure.bitmap, shin), arm)).toBeGreaterThan(40)
      expect(apart(labAt(image, shin), arm)).toBeLessThan(15)
    }
    expect(measureQuality(pair, { ...result, image }).covered).toBeGreaterThan(0.97)
    expect(result.warnings).toContain('LARGE_BACKGROUND_INVENTED')
  })

  it('leave no shaded cloth above the shoes of a walking person', async () => {
    const { pair, image, result } = await dress('dan-jeans', 'shorts_beige')
    expect(measureQuality(pair, { ...result, image }).covered).toBeGreaterThan(0.995)
  })

  it('keep the hands in front', async () => {
    const { pair, result } = await dress('ada-jeans', 'skirt_pencil')
    for (const side of ['left', 'right']) {
      const { x, y } = pair.figure.joints[`${side}_wrist`]
      expect(result.change.data[Math.round(y) * pair.figure.bitmap.width + Math.round(x)]).toBe(0)
    }
  })
})

describe('trousers on a photo that ends above the thighs', () => {
  it('are rejected', async () => {
    const { bitmap } = await readFigure('heavy-half')
    const { garment } = await readPair(FIXTURES, { person: 'ada-jeans', garment: 'jeans_blue', part: 'lower' })
    const height = Math.round(0.75 * bitmap.height)
    const cut = { ...bitmap, height, data: bitmap.data.slice(0, bitmap.width * height * bitmap.channels) }
    await expect(wear(cut, garment)).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })
})
