import { describe, expect, it } from 'vitest'
import { resizeBitmap } from '../../../../api/shared/image/image.ts'
import type { Bitmap } from '../../../../worker/vision/raster/plane.ts'
import { personIn, sharedEngine } from '../../../support/vision.ts'
import { readGarment } from '../../vision/garment/known-garments.ts'
import { readFigure } from '../../vision/person/figures.ts'

/** The shirt at three times its size with a fine weave all over, as a large product photo has one. */
async function wovenShirt(): Promise<Bitmap> {
  const { bitmap, mask } = await readGarment('tshirt_mustard')
  const large = await resizeBitmap(bitmap, { width: 3 * bitmap.width, height: 3 * bitmap.height })
  const data = Uint8Array.from(large.data)
  for (let y = 0; y < large.height; y++) {
    for (let x = 0; x < large.width; x++) {
      if (!mask.data[Math.floor(y / 3) * mask.width + Math.floor(x / 3)] || (x >> 2) % 2 === (y >> 2) % 2) continue
      for (let c = 0; c < 3; c++) data[(y * large.width + x) * large.channels + c] *= 0.6
    }
  }
  return { ...large, data }
}

/** Mean difference of neighbours in a square in the middle of the chest, of 255. */
function detail({ width, channels, data }: Bitmap, { x, y, side }: { x: number; y: number; side: number }): number {
  let sum = 0
  for (let v = y; v < y + side; v++)
    for (let u = x; u < x + side; u++) {
      const i = (v * width + u) * channels
      sum += Math.abs(data[i] - data[i + channels])
    }
  return sum / (side * side)
}

describe('a result in full resolution', () => {
  it('keeps detail of the product photo that the default resolution loses', async () => {
    const { bitmap } = await readFigure('heavy-half')
    const person = await resizeBitmap(bitmap, { width: 3 * bitmap.width, height: 3 * bitmap.height })
    const garment = await wovenShirt()
    const engine = await sharedEngine()
    const found = await personIn(person)
    const wear = async (fullResolution: boolean) => {
      const { image } = await engine.run(
        {
          person,
          found,
          garment,
          garmentHash: 'woven',
          category: 'tops',
          options: { seed: 1, mode: 'balanced', fullResolution },
        },
        { signal: new AbortController().signal, onProgress: () => {} },
      )
      const scale = image.width / person.width
      const side = Math.round(150 * scale)
      return {
        width: image.width,
        detail: detail(image, { x: Math.round(980 * scale), y: Math.round(1500 * scale), side }),
      }
    }
    const full = await wear(true)
    const usual = await wear(false)
    expect(full.width).toBe(person.width)
    expect(usual.width).toBeLessThan(1300)
    expect(full.detail).toBeGreaterThan(1.87 * usual.detail)
    expect(full.detail).toBeGreaterThan(8)
  })
})
