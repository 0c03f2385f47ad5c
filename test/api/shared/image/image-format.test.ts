import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { readImageHeader } from '../../../../api/shared/image/image-format.ts'
import { box, heicFile } from '../../../support/heic-file.ts'

function image(width = 70, height = 90) {
  return sharp({ create: { width, height, channels: 3, background: '#a04020' } })
}

function codeOf(bytes: Uint8Array): string {
  try {
    readImageHeader(bytes)
    return 'accepted'
  } catch (error) {
    if (error instanceof DrapeError) return error.code
    throw error
  }
}

function pngHeader(width: number, height: number, { crcOffBy = 0 } = {}): Buffer {
  const chunk = Buffer.from('IHDR________\x08\x02\0\0\0', 'latin1')
  chunk.writeUInt32BE(width, 4)
  chunk.writeUInt32BE(height, 8)
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE((crc32(chunk) + crcOffBy) % 2 ** 32)
  return Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d', 'hex'), chunk, crc])
}

describe('supported formats', () => {
  it.each([
    ['jpeg', () => image().jpeg()],
    ['jpeg', () => image().jpeg({ progressive: true }).withMetadata({ orientation: 6 })],
    [
      'jpeg',
      () =>
        image()
          .jpeg()
          .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${' '.repeat(40_000)}</x:xmpmeta>`),
    ],
    ['png', () => image().png()],
    ['png', () => image().png({ palette: true, progressive: true })],
    ['webp', () => image().webp()],
    ['webp', () => image().webp({ lossless: true })],
    ['webp', () => image().ensureAlpha(0.5).webp().withMetadata({ orientation: 3 })],
  ])('reads %s and its size from the bytes (%#)', async (format, make) => {
    expect(readImageHeader(await make().toBuffer())).toEqual({ format, width: 70, height: 90 })
  })

  it('has the full size of a tiled HEIC', () => {
    const tile = { width: 512, height: 512 }
    const tiled = heicFile(['heic', 'mif1', 'heic'], [tile, { width: 4032, height: 3024 }, { width: 320, height: 240 }])
    expect(readImageHeader(tiled)).toEqual({ format: 'heic', width: 4032, height: 3024 })
  })

  it('distinguishes HEIC from AVIF if the brand names only the container', () => {
    expect(readImageHeader(heicFile(['mif1', 'mif1', 'heic'], [{ width: 64, height: 80 }])).format).toBe('heic')
    expect(codeOf(heicFile(['mif1', 'mif1', 'avif'], [{ width: 64, height: 80 }]))).toBe('UNSUPPORTED_IMAGE_TYPE')
    expect(codeOf(heicFile(['avif', 'mif1', 'miaf'], [{ width: 64, height: 80 }]))).toBe('UNSUPPORTED_IMAGE_TYPE')
  })
})

describe('unsupported formats', () => {
  it.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>')],
    ['SVG with a prologue', Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['BMP', Buffer.from('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0', 'latin1')],
    ['JPEG XL codestream', Buffer.from('ff0a7f18a00000000000000000', 'hex')],
    ['JPEG XL container', Buffer.from('0000000c4a584c200d0a870a00000014', 'hex')],
    ['JPEG 2000', Buffer.from('0000000c6a5020200d0a870a00000014', 'hex')],
    ['PSD', Buffer.from('8BPS\0\x01\0\0\0\0\0\0\0\x03', 'latin1')],
    ['PDF', Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3', 'latin1')],
    ['MP4', box('ftyp', 'isom\0\0\0\0isommp42')],
    ['WAV', Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1')],
    ['ICO', Buffer.from('000001000100101000000100200068', 'hex')],
    ['text', Buffer.from('This is the image you asked for.')],
    ['HTML', Buffer.from('<!doctype html><title>Not found</title>')],
    ['zeros', Buffer.alloc(64)],
  ])('refuses %s', (_, bytes) => {
    expect(codeOf(bytes)).toBe('UNSUPPORTED_IMAGE_TYPE')
  })

  it.each([
    ['GIF', () => image().gif()],
    ['TIFF', () => image().tiff()],
    ['AVIF', () => image().avif({ effort: 0 })],
  ])('refuses a real %s', async (_, make) => {
    expect(codeOf(await make().toBuffer())).toBe('UNSUPPORTED_IMAGE_TYPE')
  })
})

describe('damaged headers', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['three bytes of a JPEG', Buffer.from('ffd8ff', 'hex')],
    ['eleven bytes of a JPEG', Buffer.from('ffd8ffe000104a46494600', 'hex')],
    ['a JPEG that ends before its frame', Buffer.from('ffd8ffe000104a4649460001010000480048', 'hex')],
    ['a JPEG whose scan comes before its frame', Buffer.from('ffd8ffda000c03010002110311003f00', 'hex')],
    ['a JPEG segment of length 1', Buffer.from('ffd8ffe00001ffc0000b080010001001', 'hex')],
    ['a JPEG with no height', Buffer.from('ffd8ffc0000b080000001001011100ff', 'hex')],
    ['a PNG with a wrong checksum', pngHeader(64, 64, { crcOffBy: 1 })],
    ['a PNG without width', pngHeader(0, 64)],
    ['a PNG sent as text', Buffer.from('89504e470a1a0a0000000d49484452', 'hex')],
    ['a WebP that is longer than its file', Buffer.from('RIFF\xff\0\0\0WEBPVP8 ', 'latin1')],
    ['a WebP of an unknown chunk', Buffer.from('RIFF\x0c\0\0\0WEBPJUNK\0\0\0\0', 'latin1')],
    ['a HEIC without an image', heicFile(['heic', 'mif1', 'heic'], [])],
    ['a HEIC without an index', box('ftyp', 'heic\0\0\0\0mif1heic')],
    ['a HEIC with 3,500 boxes at each of 3 levels', crowdedHeic(3500)],
    ['a HEIC with a box of size 2', Buffer.concat([box('ftyp', 'heic\0\0\0\0'), Buffer.from('\0\0\0\x02meta')])],
  ])('refuses %s', (_, bytes) => {
    expect(codeOf(bytes)).toBe('INVALID_IMAGE')
  })

  it('reads sizes that exceed the limits', () => {
    expect(readImageHeader(pngHeader(2 ** 31 - 1, 1))).toMatchObject({ width: 2 ** 31 - 1, height: 1 })
  })

  it('returns a format or an image error for any bytes', async () => {
    const seeds = await Promise.all([image().jpeg(), image().png(), image().webp()].map((p) => p.toBuffer()))
    const good = [...seeds, heicFile(['heic', 'mif1', 'heic'], [{ width: 640, height: 480 }])]
    const change = fc.record({ at: fc.nat(400), to: fc.nat(255), cut: fc.nat(4000), seed: fc.constantFrom(...good) })
    const check = ({ at, to, cut, seed }: { at: number; to: number; cut: number; seed: Buffer }) => {
      const bytes = Buffer.from(seed.subarray(0, cut))
      bytes[at] = to
      expect(['accepted', 'INVALID_IMAGE', 'UNSUPPORTED_IMAGE_TYPE']).toContain(codeOf(bytes))
    }
    fc.assert(fc.property(change, check), { numRuns: 1000, seed: 7 })
  })
})

/** A HEIC with empty boxes beside each box that its size is read from. */
function crowdedHeic(count: number): Buffer {
  const free = Buffer.alloc(count * 8, box('free'))
  const extent = box('ispe', Buffer.from(Uint8Array.of(0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0)))
  const properties = box('iprp', free, box('ipco', free, extent))
  return Buffer.concat([box('ftyp', 'heic\0\0\0\0heic'), box('meta', '\0\0\0\0', free, properties)])
}
