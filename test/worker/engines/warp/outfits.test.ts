import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeImage, encodeImage } from '../../../../api/shared/image/image.ts'
import { handsOf, measureQuality, type Quality } from '../../../../scripts/quality/measure.ts'
import { type Pair, readGarment, readPair } from '../../../../scripts/quality/pair.ts'
import type { EngineResult } from '../../../../worker/engines/engine.ts'
import type { Under } from '../../../../worker/job/layers.ts'
import { tryOn } from '../../../../worker/job/try-on.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { type Bitmap, bitmapToColours } from '../../../../worker/vision/raster/plane.ts'
import { dress, sharedEngine, sharedModels } from '../../../support/vision.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')
const quiet = { signal: new AbortController().signal, onProgress: () => {} }

/** How much worse than alone a garment may be in an outfit, and what counts as no error. */
const [RATIO, NOTHING] = [1.2, 0.01]

type Worn = EngineResult & { readonly whole: Bitmap }

async function wear(photo: Bitmap, garment: Bitmap, category: 'tops' | 'bottoms' | 'outerwear'): Promise<Worn> {
  const result = await dress({ person: photo, garment, category })
  return { ...result, whole: blendChange({ photo, ...result }) }
}

/** Each error of a garment, 0 for none; null errors are left out. */
function errorsOf(pair: Pair, photo: Bitmap, { whole, ...result }: Worn): Readonly<Record<string, number>> {
  const figure = { ...pair.figure, bitmap: photo }
  const quality: Quality = measureQuality({ ...pair, figure }, { ...result, image: whole })
  const { landmarks, covered, overlap, edges, colour, similarity, perceptual, face, hands, outside, stray } = quality
  const errors = {
    ...{ landmarks, edges, colour, perceptual, face, hands, outside, stray },
    ...{ covered: 1 - covered, overlap: overlap && 1 - overlap, similarity: similarity && 1 - similarity },
  }
  return Object.fromEntries(Object.entries(errors).flatMap(([name, error]) => (error === null ? [] : [[name, error]])))
}

function differingPixels(a: Bitmap, b: Bitmap, where: (i: number) => boolean): number {
  let count = 0
  for (let i = 0; i < a.width * a.height; i++)
    if (where(i) && [0, 1, 2].some((c) => a.data[3 * i + c] !== b.data[3 * i + c])) count++
  return count
}

describe('the layers of an outfit by warp', () => {
  it('are as good as alone, and change nothing outside their region', async () => {
    const name = { person: 'ada-jeans', garment: 'longsleeve_grey', part: 'top', truth: 'ada-striped' } as const
    const pair = await readPair(FIXTURES, name)
    const photo = pair.figure.bitmap
    const alone = errorsOf(pair, photo, await wear(photo, pair.garment.bitmap, 'tops'))
    const trousers = await wear(photo, (await readGarment(FIXTURES, 'trousers_black')).bitmap, 'bottoms')
    const top = await wear(trousers.whole, pair.garment.bitmap, 'tops')
    const layered = errorsOf(pair, trousers.whole, top)
    expect(Object.keys(alone).length).toBeGreaterThan(9)
    const worse = Object.keys(alone).filter((error) => layered[error] > RATIO * alone[error] + NOTHING)
    expect(worse.map((error) => `${error}: ${alone[error]} alone, ${layered[error]} in the outfit`)).toEqual([])
    expect(differingPixels(trousers.whole, top.whole, (i) => top.change.data[i] === 0)).toBe(0)
    // Most of the trousers is still there.
    const kept = differingPixels(photo, top.whole, (i) => trousers.change.data[i] > 0.5 && top.change.data[i] === 0)
    const drawn = trousers.change.data.filter((share) => share > 0.5).length
    expect(kept / drawn).toBeGreaterThan(0.5)
  })

  it('leave the hands that the photo shows, where they are found less well after another layer', async () => {
    const pair = await readPair(FIXTURES, { person: 'kim-tee', garment: 'jacket_closed', part: 'top' })
    const engine = await sharedEngine()
    const context = { ...quiet, models: await sharedModels(), engines: new Map([['warp', engine]]) }
    const draw = (under: Under, { bytes }: Pick<Pair['garment'], 'bytes'>, category: string) => {
      const product = { title: null, description: null, classifications: { category } }
      const options = { watermark: false, seed: 1, mode: 'balanced', format: 'png', fullResolution: false } as const
      const garmentHash = createHash('sha256').update(bytes).digest('hex')
      return tryOn({ engine: 'warp', ...under, garment: bytes, garmentHash, logo: null, product, options }, context)
    }
    const photo = await encodeImage(pair.figure.bitmap, { format: 'png' })
    const { image, body } = await draw(
      { photo, crop: 'none' },
      await readGarment(FIXTURES, 'trousers_black'),
      'bottoms',
    )
    const hands = handsOf(pair.figure)
    const changedHands = async (under: Under) => {
      const result = await draw(under, pair.garment, 'outerwear')
      return differingPixels(await decodeImage(image), await decodeImage(result.image), (i) => hands.data[i] === 1)
    }
    const kept = await changedHands({ photo: image, crop: 'none', body })
    expect(kept).toBeLessThan(100)
    expect(await changedHands({ photo: image, crop: 'none' })).toBeGreaterThan(kept)
  })

  it('show the shirt just put on between the fronts of an open jacket', async () => {
    const { figure, garment } = await readPair(FIXTURES, { person: 'ray-white', garment: 'open_beige', part: 'top' })
    const { bitmap: mustard } = await readGarment(FIXTURES, 'tshirt_mustard')
    const shirt = await wear(figure.bitmap, mustard, 'tops')
    const jacket = await wear(shirt.whole, garment.bitmap, 'outerwear')
    expect([shirt, jacket].map(({ hidesTops }) => hidesTops)).toEqual([true, false])
    const { landmarks = {} } = jacket
    const middle = [1, 2, 3].map((i) => {
      const [left, right] = [landmarks[`front_${i}_l`], landmarks[`front_${i}_r`]]
      return Math.round((left.y + right.y) / 2) * figure.bitmap.width + Math.round((left.x + right.x) / 2)
    })
    const labOf = (image: Bitmap, i: number) => [...rgbToLab(bitmapToColours(image)).data.subarray(3 * i, 3 * i + 3)]
    const apart = (a: number[], b: number[]) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
    for (const i of middle) {
      expect(apart(labOf(jacket.whole, i), labOf(shirt.whole, i))).toBeLessThan(8)
      expect(apart(labOf(jacket.whole, i), labOf(figure.bitmap, i))).toBeGreaterThan(25)
    }
  })
})
