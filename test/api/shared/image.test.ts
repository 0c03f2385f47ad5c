import sharp, { type Color } from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../api/shared/image.ts'

const RED_LEFT = { r: 220, g: 30, b: 40 }

function plain(width: number, height: number, background: Color = RED_LEFT) {
  return sharp({ create: { width, height, channels: 3, background } })
}

describe('decodeImage', () => {
  it('gives three channels of sRGB for an opaque picture, even one stored with alpha', async () => {
    const bitmap = await decodeImage(await plain(5, 3).ensureAlpha(1).png().toBuffer())
    expect(bitmap).toMatchObject({ width: 5, height: 3, channels: 3 })
    expect([...bitmap.data.subarray(0, 3)]).toEqual([220, 30, 40])
    expect(bitmap.data).toHaveLength(5 * 3 * 3)
  })

  it('keeps straight alpha when a pixel is not opaque', async () => {
    const bitmap = await decodeImage(await plain(5, 3).ensureAlpha(0.4).png().toBuffer())
    expect(bitmap.channels).toBe(4)
    expect([...bitmap.data.subarray(0, 4)]).toEqual([220, 30, 40, 102])
  })

  it('refuses half a JPEG instead of filling it with grey', async () => {
    const noise = { type: 'gaussian' as const, mean: 120, sigma: 40 }
    const jpeg = await sharp({ create: { width: 300, height: 300, channels: 3, background: 'white', noise } })
      .jpeg()
      .toBuffer()
    await expect(decodeImage(jpeg.subarray(0, jpeg.length / 2))).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
  })
})
