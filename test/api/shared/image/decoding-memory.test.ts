import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import {
  DECODING_BYTES,
  decodingBytes,
  HEIC_BYTES,
  type StoredImage,
} from '../../../../api/shared/image/decoding-memory.ts'
import { readJpegSampling } from '../../../../api/shared/image/image-format.ts'

const PHOTO: StoredImage = {
  format: 'jpeg',
  width: 8000,
  height: 6000,
  channels: 3,
  bytesPerSample: 1,
  fileBytes: 8e6,
  ...{
    isProgressive: false,
    hasAlpha: false,
    isAnimated: false,
    isTurned: true,
    samplesPerPixel: 1.5,
    isLossless: false,
  },
}
const NORMALISED = 9e6
const bytesOf = (more: Partial<StoredImage>) => decodingBytes({ ...PHOTO, ...more }, NORMALISED)

describe('the memory that decoding takes', () => {
  it('leaves room for two phone photos beside a HEIC', () => {
    const photo = bytesOf({ width: 4000, height: 3000, fileBytes: 4e6 })
    expect(2 * photo).toBeLessThanOrEqual(DECODING_BYTES - HEIC_BYTES)
  })

  // The growth of a process that decoded such files of 49 megapixels, in MB, was measured.
  it.each<[string, Partial<StoredImage>, number]>([
    ['a progressive JPEG', { isProgressive: true }, 176],
    ['a progressive JPEG with full chroma', { isProgressive: true, samplesPerPixel: 3 }, 315],
    ['a progressive JPEG with four components', { isProgressive: true, channels: 4, samplesPerPixel: 4 }, 419],
    ['an interlaced PNG', { format: 'png', isProgressive: true }, 165],
    ['an interlaced PNG with alpha', { format: 'png', isProgressive: true, channels: 4, hasAlpha: true }, 261],
    ['an interlaced PNG of 16 bits', { format: 'png', isProgressive: true, bytesPerSample: 2 }, 328],
    [
      'an interlaced PNG of 16 bits with alpha',
      { format: 'png', isProgressive: true, bytesPerSample: 2, channels: 4, hasAlpha: true },
      470,
    ],
  ])('covers what %s took', (_, more, megabytes) => {
    const estimate = bytesOf({ width: 7000, height: 7000, isTurned: false, fileBytes: 1e6, ...more }) / 2 ** 20
    expect(estimate).toBeGreaterThan(0.9 * megabytes)
    expect(estimate).toBeLessThan(1.2 * megabytes)
  })

  it.each([
    ['4:2:0', 1.5],
    ['4:4:4', 3],
  ])('counts the samples of a JPEG with %s', async (chromaSubsampling, samples) => {
    const image = sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    expect(readJpegSampling(await image.jpeg({ chromaSubsampling }).toBuffer())).toBe(samples)
  })

  it('counts all samples if the decoder stores every component', async () => {
    const file = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer()
    const frame = file.indexOf(Buffer.from([0xff, 0xc0]))
    for (let i = 0; i < 3; i++) file[frame + 11 + 3 * i] = 0x22
    expect(readJpegSampling(file)).toBe(3)
  })
})
