import { describe, expect, it } from 'vitest'
import { type Bitmap, encodeImage, resizeBitmap } from '../../../api/shared/image/image.ts'
import { createRepeatFinder } from '../../../scripts/photos/repeats.ts'

// Two figures before one wall: a body of another width.
function figure(halfWidth: number): Bitmap {
  const data = new Uint8Array(120 * 160 * 3).fill(230)
  for (let y = 30; y < 160; y++)
    for (let x = 60 - halfWidth; x < 60 + halfWidth; x++)
      data.fill(40 + (y % 90), (y * 120 + x) * 3, (y * 120 + x) * 3 + 3)
  return { width: 120, height: 160, channels: 3, data }
}

describe('repeated images in demos', () => {
  it('are detected in another size and format', async () => {
    const isRepeat = createRepeatFinder()
    const larger = await resizeBitmap(figure(20), { width: 300, height: 400 })
    expect(await isRepeat(await encodeImage(figure(20), { format: 'png' }))).toBe(false)
    expect(await isRepeat(await encodeImage(larger, { format: 'jpeg' }))).toBe(true)
  })

  it('exclude images that are only similar', async () => {
    const isRepeat = createRepeatFinder()
    expect(await isRepeat(await encodeImage(figure(20), { format: 'png' }))).toBe(false)
    expect(await isRepeat(await encodeImage(figure(28), { format: 'png' }))).toBe(false)
  })
})
