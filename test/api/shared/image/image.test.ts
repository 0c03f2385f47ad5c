import fc from 'fast-check'
import sharp, { type Color, type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import {
  type Bitmap,
  cropBitmap,
  decodeImage,
  decodeOnWhite,
  encodeImage,
  inspectImage,
  normaliseImage,
  resizeBitmap,
} from '../../../../api/shared/image/image.ts'
import { heicFile } from '../../../support/heic-file.ts'

const COLOUR = { r: 220, g: 90, b: 40 }
const XMP =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'

function plain(width = 80, height = 64, background: Color = COLOUR): Sharp {
  return sharp({ create: { width, height, channels: 3, background } })
}

function grey(): Sharp {
  return plain(80, 64, { r: 130, g: 130, b: 130 })
}

/** An image with detail everywhere, so that every part of its file matters. */
function noisy(width: number, height: number): Bitmap {
  const data = new Uint8Array(width * height * 3)
  let state = 1
  for (let i = 0; i < data.length; i++) {
    state = (state * 1103515245 + 12345) % 2 ** 31
    data[i] = state >> 16
  }
  return { width, height, channels: 3, data }
}

/** Four quarters, as seen: red and green above, blue and white below. */
function quarters(width: number, height: number): Bitmap {
  const data = new Uint8Array(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set(quarterColour(2 * x >= width, 2 * y >= height), (y * width + x) * 3)
  }
  return { width, height, channels: 3, data }
}

function quarterColour(right: boolean, below: boolean): number[] {
  if (below) return right ? [255, 255, 255] : [0, 0, 255]
  return right ? [0, 255, 0] : [255, 0, 0]
}

/** Which pixel, as seen, is stored in a row and column under each EXIF orientation (Exif 2.3, tag 274). */
const SEEN_AT: ((row: number, column: number, right: number, bottom: number) => [x: number, y: number])[] = [
  (row, column) => [column, row],
  (row, column, right) => [right - column, row],
  (row, column, right, bottom) => [right - column, bottom - row],
  (row, column, _, bottom) => [column, bottom - row],
  (row, column) => [row, column],
  (row, column, right) => [right - row, column],
  (row, column, right, bottom) => [right - row, bottom - column],
  (row, column, _, bottom) => [row, bottom - column],
]

function asStored(seen: Bitmap, orientation: number): Sharp {
  const [width, height] = orientation < 5 ? [seen.width, seen.height] : [seen.height, seen.width]
  const data = new Uint8Array(width * height * 3)
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = SEEN_AT[orientation - 1](row, column, seen.width - 1, seen.height - 1)
      data.set(pixel(seen, x, y), (row * width + column) * 3)
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } }).withMetadata({ orientation })
}

function pixel(bitmap: Bitmap, x: number, y: number): number[] {
  const start = (y * bitmap.width + x) * bitmap.channels
  return [...bitmap.data.subarray(start, start + bitmap.channels)]
}

function expectNear(actual: number[], wanted: number[], tolerance: number): void {
  expect(actual).toHaveLength(wanted.length)
  actual.forEach((value, i) => {
    expect(Math.abs(value - wanted[i]), `${actual} against ${wanted}`).toBeLessThanOrEqual(tolerance)
  })
}

describe('decodeImage', () => {
  it.each([
    ['a JPEG', () => plain().jpeg({ quality: 100, chromaSubsampling: '4:4:4' }), 1],
    ['a PNG', () => plain().png(), 0],
    ['a lossless WebP', () => plain().webp({ lossless: true }), 0],
    ['a PNG with a palette', () => plain().png({ palette: true }), 0],
    ['a PNG of 16 bits', () => plain().toColourspace('rgb16').png(), 0],
    ['a PNG stored with an opaque alpha channel', () => plain().ensureAlpha(1).png(), 0],
    ['a JPEG in Display P3', () => plain().withIccProfile('p3').jpeg({ quality: 100, chromaSubsampling: '4:4:4' }), 3],
    ['a CMYK JPEG', () => plain().toColourspace('cmyk').jpeg({ quality: 100, chromaSubsampling: '4:4:4' }), 30],
  ])('gives the sRGB colour of %s in three channels', async (_, make, tolerance) => {
    const bitmap = await decodeImage(await make().toBuffer())
    expect(bitmap).toMatchObject({ width: 80, height: 64, channels: 3 })
    expect(bitmap.data).toHaveLength(80 * 64 * 3)
    expectNear(pixel(bitmap, 40, 32), [220, 90, 40], tolerance)
  })

  it.each([
    ['a grey JPEG', () => grey().greyscale().jpeg({ quality: 100 })],
    ['a grey PNG', () => grey().greyscale().png()],
    ['a grey PNG of 16 bits', () => grey().toColourspace('grey16').png()],
  ])('spreads %s over three equal channels', async (_, make) => {
    const [r, g, b] = pixel(await decodeImage(await make().toBuffer()), 3, 3)
    expect([g, b]).toEqual([r, r])
    expectNear([r], [130], 1)
  })

  it('reads one bit per pixel as black and white', async () => {
    const stripes = quarters(64, 64)
    stripes.data.forEach((_, i) => {
      stripes.data[i] = Math.floor(i / 3) % 2 ? 255 : 0
    })
    const file = await sharp(stripes.data, { raw: stripes }).png({ palette: true, colours: 2 }).toBuffer()
    const bitmap = await decodeImage(file)
    expect(file[24]).toBe(1)
    expect([pixel(bitmap, 0, 0), pixel(bitmap, 1, 0)]).toEqual([
      [0, 0, 0],
      [255, 255, 255],
    ])
  })

  it.each([
    ['a PNG', () => plain().ensureAlpha(0.4).png(), [220, 90, 40, 102]],
    ['a PNG of 16 bits', () => plain().ensureAlpha(0.4).toColourspace('rgb16').png(), [220, 90, 40, 102]],
    ['a WebP', () => plain().ensureAlpha(0.4).webp({ lossless: true }), [220, 90, 40, 102]],
    ['a grey PNG', () => grey().greyscale().ensureAlpha(0.4).png(), [130, 130, 130, 102]],
  ])('keeps the straight alpha of %s', async (_, make, wanted) => {
    const file = await make().toBuffer()
    expectNear(pixel(await decodeImage(file), 7, 7), wanted, 2)
    const [colour, alpha] = [wanted.slice(0, 3), wanted[3] / 255]
    const seen = colour.map((value) => value * alpha + 255 * (1 - alpha))
    expectNear(pixel(await decodeOnWhite(file), 7, 7), seen, 2)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('turns EXIF orientation %i upright', async (orientation) => {
    const file = await asStored(quarters(60, 80), orientation).jpeg({ quality: 100 }).toBuffer()
    const bitmap = await decodeImage(file)
    expect(bitmap).toMatchObject({ width: 60, height: 80 })
    expectNear(pixel(bitmap, 5, 5), [255, 0, 0], 6)
    expectNear(pixel(bitmap, 54, 5), [0, 255, 0], 6)
    expectNear(pixel(bitmap, 5, 74), [0, 0, 255], 6)
    expectNear(pixel(bitmap, 54, 74), [255, 255, 255], 6)
  })

  it('decodes an image with a damaged colour profile', async () => {
    const file = await plain().withIccProfile('p3').png().toBuffer()
    file[file.indexOf('iCCP') + 20] ^= 0x55
    expect((await decodeImage(file)).width).toBe(80)
  })

  it('decodes the first frame of an animation', async () => {
    const frames = await Promise.all([plain(), plain().negate()].map((frame) => frame.png().toBuffer()))
    const animation = await sharp(frames, { join: { animated: true } })
      .webp({ lossless: true })
      .toBuffer()
    const bitmap = await decodeImage(animation)
    expect([bitmap.width, bitmap.height, ...pixel(bitmap, 1, 1)]).toEqual([80, 64, 220, 90, 40])
  })

  it.each(['jpeg', 'png', 'webp'] as const)('refuses a %s cut in half', async (format) => {
    const file = await encodeImage(noisy(200, 200), { format })
    await expect(decodeImage(file.subarray(0, file.length / 2))).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
  })

  it('refuses a PNG with a wrong checksum in its pixels', async () => {
    const file = await encodeImage(noisy(80, 80), { format: 'png' })
    file[file.indexOf('IDAT') + 100] ^= 0x10
    await expect(decodeImage(file)).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
  })

  it('refuses a HEIC without image data', async () => {
    const heic = heicFile(['heic', 'mif1', 'heic'], [{ width: 640, height: 480 }])
    await expect(decodeImage(heic)).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
  })
})

describe('inspectImage', () => {
  it.each([
    ['more than 50 megapixels', 8_000, 7_000],
    ['a side over 12,000', 12_001, 100],
    ['a height over 12,000', 100, 13_000],
  ])('refuses %s by the header alone', (_, width, height) => {
    const file = Buffer.alloc(30)
    file.write('RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1')
    file.writeUIntLE(width - 1, 24, 3)
    file.writeUIntLE(height - 1, 27, 3)
    expect(() => inspectImage(file)).toThrow(`The image has ${width} × ${height} pixels`)
  })

  it('accepts 12,000 px a side within 50 megapixels', async () => {
    const file = await plain(12_000, 100).png().toBuffer()
    expect(inspectImage(file)).toEqual({ format: 'png', width: 12_000, height: 100 })
  })
})

describe('normaliseImage', () => {
  it('removes orientation, GPS position and colour profile', async () => {
    const gps = { GPSLatitudeRef: 'N', GPSLatitude: '48/1 51/1 29/1' }
    const file = await plain(90, 70)
      .withIccProfile('p3')
      .withExif({ IFD0: { Artist: 'Somebody', Orientation: '6' }, IFD3: gps })
      .jpeg()
      .toBuffer()
    expect(await sharp(file).metadata()).toHaveProperty('exif')
    const { bytes } = await normaliseImage(file)
    const metadata = await sharp(bytes).metadata()
    for (const kind of ['exif', 'icc', 'xmp', 'iptc', 'orientation']) expect(metadata).not.toHaveProperty(kind)
    expect(bytes.includes('Somebody')).toBe(false)
  })

  it('encodes an opaque image as JPEG with full chroma', async () => {
    const image = await normaliseImage(await plain().ensureAlpha(1).webp({ lossless: true }).toBuffer())
    expect(image).toMatchObject({ contentType: 'image/jpeg', width: 80, height: 64, alpha: false })
    expect(await sharp(image.bytes).metadata()).toMatchObject({ format: 'jpeg', chromaSubsampling: '4:4:4' })
  })

  it('encodes an image with alpha as PNG with the same pixels', async () => {
    const file = await plain().ensureAlpha(0.4).webp({ lossless: true }).toBuffer()
    const image = await normaliseImage(file)
    expect(image).toMatchObject({ contentType: 'image/png', alpha: true })
    expect(await decodeImage(image.bytes)).toEqual(await decodeImage(file))
  })

  it('downscales the longest side to 3,000 px after the rotation', async () => {
    const file = await plain(3600, 900).jpeg().withMetadata({ orientation: 6 }).toBuffer()
    const image = await normaliseImage(file)
    expect([image.width, image.height]).toEqual([750, 3000])
    expect(inspectImage(image.bytes)).toEqual({ format: 'jpeg', width: 750, height: 3000 })
  })

  it('never enlarges', async () => {
    expect(await normaliseImage(await plain(64, 640).png().toBuffer())).toMatchObject({ width: 64, height: 640 })
  })

  it.each([
    [16, 16],
    [16, 160],
    [63, 48],
  ])('takes %i × %i px', async (width, height) => {
    expect(await normaliseImage(await plain(width, height).png().toBuffer())).toMatchObject({ width, height })
  })

  it.each([
    [1, 1, 'at least 16 pixels'],
    [15, 100, 'at least 16 pixels'],
    [10, 10_000, 'at least 16 pixels'],
    [64, 641, 'no side may have more than 10 times'],
  ])('refuses %i × %i px and names the limit', async (width, height, limit) => {
    const file = await plain(width, height).png().toBuffer()
    await expect(normaliseImage(file)).rejects.toMatchObject({ code: 'INVALID_IMAGE' })
    await expect(normaliseImage(file)).rejects.toThrow(`${width} × ${height}`)
    await expect(normaliseImage(file)).rejects.toThrow(limit)
  })

  it('returns the same bytes for the same image', async () => {
    const file = await encodeImage(noisy(300, 400), { format: 'jpeg' })
    expect((await normaliseImage(file)).bytes).toEqual((await normaliseImage(file)).bytes)
  })

  it('normalises or refuses every mutation of a valid file', async () => {
    const formats = ['jpeg', 'png', 'webp'] as const
    const good = await Promise.all(formats.map((format) => encodeImage(noisy(72, 72), { format, quality: 60 })))
    const mutation = fc.record({
      seed: fc.constantFrom(...good),
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }),
    })
    const check = fc.asyncProperty(mutation, async ({ seed, at, bytes }) => {
      const file = Buffer.from(seed)
      file.set(bytes.subarray(0, file.length - Math.floor(at * file.length)), Math.floor(at * file.length))
      const outcome = await normaliseImage(file).catch((error: unknown) => error)
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DrapeError)
    })
    await fc.assert(check, { numRuns: 200, seed: 11 })
  })
})

describe('encodeImage', () => {
  it.each(['jpeg', 'png', 'webp'] as const)('writes a %s whose only metadata is the XMP packet', async (format) => {
    const file = await encodeImage(noisy(80, 64), { format, xmp: XMP })
    const metadata = await sharp(file).metadata()
    expect(metadata).toMatchObject({ format, width: 80, height: 64, xmpAsString: XMP })
    for (const kind of ['exif', 'icc', 'iptc']) expect(metadata).not.toHaveProperty(kind)
  })

  it('writes the packet into a PNG as the plain text that readers look for', async () => {
    const file = await encodeImage(noisy(80, 64), { format: 'png', xmp: XMP })
    expect(file.toString('latin1')).toContain(`iTXtXML:com.adobe.xmp\0\0\0\0\0${XMP}`)
    expect(file.toString('latin1')).not.toContain('zTXt')
  })

  it('loses nothing in a PNG', async () => {
    const bitmap = noisy(33, 21)
    expect(await decodeImage(await encodeImage(bitmap, { format: 'png' }))).toMatchObject({
      ...bitmap,
      data: Buffer.from(bitmap.data),
    })
  })

  it('flattens transparent pixels onto white in a JPEG', async () => {
    const clear: Bitmap = { width: 8, height: 8, channels: 4, data: new Uint8Array(8 * 8 * 4) }
    expect(pixel(await decodeImage(await encodeImage(clear, { format: 'jpeg' })), 4, 4)).toEqual([255, 255, 255])
  })

  it('writes fewer bytes at a lower quality', async () => {
    const sizes = await Promise.all(
      [95, 60].map(async (quality) => (await encodeImage(noisy(90, 90), { format: 'jpeg', quality })).length),
    )
    expect(sizes[1]).toBeLessThan(sizes[0] * 0.7)
  })
})

describe('cropBitmap', () => {
  it('takes the pixels of the rectangle, and only those', () => {
    const whole = quarters(40, 40)
    const part = cropBitmap(whole, { x: 18, y: 19, width: 5, height: 3 })
    expect(part).toMatchObject({ width: 5, height: 3, channels: 3 })
    expect([pixel(part, 1, 0), pixel(part, 2, 0), pixel(part, 1, 1), pixel(part, 4, 2)]).toEqual([
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
      [255, 255, 255],
    ])
  })
})

describe('resizeBitmap', () => {
  it('returns the exact size, with the image in its position', async () => {
    const small = await resizeBitmap(quarters(200, 100), { width: 30, height: 40 })
    expect(small).toMatchObject({ width: 30, height: 40, channels: 3 })
    expectNear(pixel(small, 4, 4), [255, 0, 0], 2)
    expectNear(pixel(small, 25, 35), [255, 255, 255], 2)
  })

  it('keeps the proportions when only the longest side is given', async () => {
    expect(await resizeBitmap(quarters(200, 100), { longest: 50 })).toMatchObject({ width: 50, height: 25 })
    expect(await resizeBitmap(quarters(30, 60), { longest: 120 })).toMatchObject({ width: 60, height: 120 })
  })

  it('keeps alpha', async () => {
    const { data, ...size } = await resizeBitmap(
      { width: 8, height: 8, channels: 4, data: new Uint8Array(256).fill(255) },
      { longest: 4 },
    )
    expect(size).toEqual({ width: 4, height: 4, channels: 4 })
    expect([...data.subarray(0, 4)]).toEqual([255, 255, 255, 255])
  })
})

describe('unsupported files', () => {
  it('are never decoded, even under a valid file name', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90"/></svg>')
    for (const file of [svg, await plain().gif().toBuffer(), await plain().tiff().toBuffer()]) {
      await expect(decodeImage(file)).rejects.toMatchObject({ code: 'UNSUPPORTED_IMAGE_TYPE' })
      await expect(sharp(file).metadata()).rejects.toThrow(/unsupported/)
    }
  })
})
