import { beforeAll, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { cutOut } from '../../../../worker/vision/garment/cut-out/cut-out.ts'
import { findSalience } from '../../../../worker/vision/garment/cut-out/salience.ts'
import { type RunGarmentModel, runGarmentModels } from '../../../../worker/vision/garment/garment-models.ts'
import { prepareProduct } from '../../../../worker/vision/garment/prepare-product.ts'
import { recognizeCategory } from '../../../../worker/vision/garment/recognize.ts'
import { createRandom } from '../../../../worker/vision/raster/clusters.ts'
import { countSet } from '../../../../worker/vision/raster/mask.ts'
import type { Bitmap, Mask, Size } from '../../../../worker/vision/raster/plane.ts'
import { cutOutOnce, sharedModels } from '../../../support/vision.ts'
import { CUTS, drawGarment } from './drawn-garments.ts'
import { overlap, readGarment } from './known-garments.ts'
import { prepareGarment } from './prepare-by-outline.ts'

type Painter = (x: number, y: number) => ArrayLike<number>

const random = createRandom(5)
const grain = Float32Array.from({ length: 4096 }, () => random() - 0.5)
const BACKGROUNDS: Record<string, Painter> = {
  boards: (x, y) => {
    const shade =
      y % 110 < 3 ? 0.4 : 1 + 0.14 * Math.sin(y / 9 + 3 * Math.sin(x / 90)) + 0.1 * grain[(x * 7 + y * 131) & 4095]
    return [150 * shade, 95 * shade, 60 * shade]
  },
  tiles: (x, y) => {
    const level = x % 90 < 3 || y % 90 < 3 ? 150 : 210 + 12 * grain[(x * 13 + y * 57) & 4095]
    return [level, level, level]
  },
}
const OPTIONS = { category: null, longest: 1400 } as const

let run: RunGarmentModel
beforeAll(async () => {
  run = runGarmentModels(await sharedModels())
})

describe('a product photo on a background of several colours', () => {
  it.each([
    ['boards', 'tshirt_navy'],
    ['boards', 'jeans_blue'],
    ['tiles', 'tshirt_navy'],
    ['tiles', 'tshirt_mustard'],
  ])('is cut out on %s: %s', async (background, name) => {
    const { photo, mask } = await onBackground(name, background)
    const { alpha } = cutOut(photo, await findSalience(photo, run))
    expect(overlap(mask, alpha)).toBeGreaterThan(0.975)
  })

  it('becomes a garment, which colours alone do not separate', async () => {
    const { photo } = await onBackground('tshirt_navy', 'boards')
    expect(() => prepareGarment(photo, { category: null })).toThrow(DrapeError)
    expect(await prepareProduct(photo, OPTIONS, run)).toMatchObject({ kind: 'top', sleeved: true })
  })

  it('shows a white garment as a whole before a grey wall in uneven light', async () => {
    const { bitmap, mask } = drawGarment({ cut: CUTS.tee, colour: [244, 244, 248], background: [222, 222, 218] })
    for (let i = 0; i < mask.data.length; i++) {
      const light = mask.data[i] ? 0 : 10 / (1 + Math.exp((560 - i / 700) / 14)) + 3 * Math.sin((i % 700) / 80)
      for (let c = 3 * i; c < 3 * i + 3; c++) bitmap.data[c] += light
    }
    const { image } = await prepareProduct(bitmap, OPTIONS, run)
    let covered = 0
    for (let k = 3; k < image.data.length; k += 4) covered += image.data[k] / 255
    expect(Math.abs(covered / countSet(mask) - 1)).toBeLessThan(0.03)
  })

  it('is refused if it shows no single object', async () => {
    const { width, height } = (await readGarment('tshirt_navy')).bitmap
    const boards = drawBitmap({ width, height }, BACKGROUNDS.boards)
    await expect(prepareProduct(boards, OPTIONS, run)).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })
})

describe('the category of a product photo', () => {
  it.each([
    ['tshirt_navy', 'tops'],
    ['longsleeve_grey', 'tops'],
    ['jeans_blue', 'bottoms'],
    ['shorts_beige', 'bottoms'],
  ] as const)('is recognized: %s', async (name, category) => {
    const shares = await recognizeCategory(cutOutOnce((await readGarment(name)).bitmap), run)
    expect(shares[category]).toBeGreaterThan(0.5)
    expect(shares.tops + shares.bottoms + shares['one-pieces'] + shares.other).toBeCloseTo(1, 4)
  })
})

async function onBackground(name: string, background: string): Promise<{ photo: Bitmap; mask: Mask }> {
  const { bitmap, mask } = await readGarment(name)
  const { channels, data } = bitmap
  const photo = drawBitmap(bitmap, (x, y) => {
    const i = y * bitmap.width + x
    return mask.data[i] ? data.subarray(i * channels, i * channels + 3) : BACKGROUNDS[background](x, y)
  })
  return { photo, mask }
}

function drawBitmap({ width, height }: Size, colourAt: Painter): Bitmap {
  const data = new Uint8Array(width * height * 3)
  for (let i = 0; i < width * height; i++) data.set(colourAt(i % width, Math.floor(i / width)), 3 * i)
  return { width, height, channels: 3, data }
}
