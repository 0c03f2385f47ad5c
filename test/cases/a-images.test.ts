import { readFile } from 'node:fs/promises'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Drape, formOf, readSample, startDrape } from '../support/drape.ts'
import { heicImage } from '../support/heic-images.ts'

const LONG = process.env.LONG_TESTS === '1'
const MUTATIONS = 256
const REPEATS = LONG ? 1000 : 200

describe('uploaded images', () => {
  let drape: Drape
  let person: Buffer

  beforeAll(async () => {
    drape = await startDrape({ separate: true })
    person = await readSample('persons/astronaut.jpg')
  })
  afterAll(() => drape.stop())

  const upload = (file: Uint8Array) =>
    drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file }) })
  const stored = async ({ body }: Answer) => Buffer.from(await (await fetch(body.imageUrl)).arrayBuffer())
  const isRefused = async (file: Uint8Array, code: string, status = 400) =>
    expect(await upload(file)).toMatchObject({ status, body: { code, status, message: expect.any(String) } })

  it('are refused in unsupported formats, whatever their bytes claim', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd" width="9" height="9"/></svg>'
    const foreign = [
      ...[
        svg,
        `<?xml version="1.0"?>${svg}`,
        'GIF89a....................',
        'BM......................',
        '%PDF-1.7\n1 0 obj',
      ],
      ...[
        'II*\0....................',
        'MM\0*....................',
        '8BPS....................',
        '\xff\x0a..................',
      ],
      ...['\0\0\0\x0cJXL \r\n\x87\n..........', '\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf'],
    ]
    for (const bytes of foreign) await isRefused(Buffer.from(bytes, 'latin1'), 'UNSUPPORTED_IMAGE_TYPE')
  })

  it('are refused before decoding if their header declares too many pixels', async () => {
    const giant = pngHeader(16_000, 16_000)
    // The pixels are in the file, which is small because they are all zero.
    const pixels = pngChunk('IDAT', deflateSync(Buffer.alloc(16_000 * 16_001)))
    const before = await memoryOf(drape.api.pid)
    for (let i = 0; i < 5; i++) {
      await isRefused(Buffer.concat([giant, pixels, pngChunk('IEND', Buffer.alloc(0))]), 'INVALID_IMAGE')
    }
    expect((await memoryOf(drape.api.pid)).peak - before.now).toBeLessThan(200)
    const one = pngChunk('IDAT', deflateSync(Buffer.alloc(8)))
    await isRefused(Buffer.concat([pngHeader(2 ** 31 - 1, 1), one]), 'INVALID_IMAGE')
    await isRefused(webpHeader(16, 2 ** 24), 'INVALID_IMAGE')
    await isRefused(webpHeader(2 ** 24, 2 ** 24), 'INVALID_IMAGE')
  })

  it('are refused with a wrong header checksum', async () => {
    const png = await sharp(person).resize(100).png().toBuffer()
    png[29] ^= 1
    await isRefused(png, 'INVALID_IMAGE')
  })

  it('are refused above the file size limit, with 60 MB of metadata', async () => {
    const segment = Buffer.concat([Buffer.from('ffe1ffff', 'hex'), Buffer.alloc(65_533, 7)])
    const heavy = Buffer.concat([person.subarray(0, 2), ...Array(960).fill(segment), person.subarray(2)])
    await isRefused(heavy, 'FILE_TOO_LARGE', 413)
    const light = Buffer.concat([person.subarray(0, 2), ...Array(150).fill(segment), person.subarray(2)])
    expect((await upload(light)).status).toBe(201)
  })

  it('are refused if too small or too narrow', async () => {
    for (const [width, height] of [
      [1, 1],
      [10, 10_000],
      [10_000, 10],
      [64, 641],
    ]) {
      const file = await sharp({ create: { width, height, channels: 3, background: 'teal' } })
        .png()
        .toBuffer()
      await isRefused(file, 'INVALID_IMAGE')
    }
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'are stored upright without metadata for EXIF orientation %i',
    async (orientation) => {
      const upright = await sharp(person).resize(200, 240, { fit: 'cover' }).removeAlpha().raw().toBuffer()
      const turned = await asStored(upright, { width: 200, height: 240, orientation })
      expect(turned.includes('Drape test camera')).toBe(true)
      const result = await stored(await upload(turned))
      const { width, height, exif, xmp, icc, orientation: left } = await sharp(result).metadata()
      expect({ width, height, exif, xmp, icc, left }).toEqual({ width: 200, height: 240 })
      expect(result.includes('Drape test camera')).toBe(false)
      const pixels = await sharp(result).raw().toBuffer()
      expect(meanDifference(pixels, upright)).toBeLessThan(3)
    },
  )

  it('are stored as 8-bit sRGB from CMYK, greyscale, 16-bit, palette and alpha', async () => {
    const small = sharp(person).resize(160, 200, { fit: 'cover' })
    const files = await Promise.all([
      small.clone().toColourspace('cmyk').jpeg().toBuffer(),
      small.clone().greyscale().jpeg().toBuffer(),
      small.clone().toColourspace('rgb16').png().toBuffer(),
      small.clone().greyscale().ensureAlpha(0.5).png().toBuffer(),
      small.clone().png({ palette: true, colours: 2 }).toBuffer(),
      small.clone().webp({ lossless: true }).toBuffer(),
    ])
    for (const file of files) {
      const answer = await upload(file)
      expect(answer.status).toBe(201)
      expect(await sharp(await stored(answer)).metadata()).toMatchObject({ space: 'srgb', depth: 'uchar', width: 160 })
    }
  })

  it('are stored as the first frame of an animation', async () => {
    const frames = ['#d04020', '#2040d0'].map((background) => ({
      create: { width: 90, height: 90, channels: 3 as const, background },
    }))
    const frameFiles = await Promise.all(frames.map((create) => sharp(create).png().toBuffer()))
    const animation = await sharp(frameFiles, { join: { animated: true } })
      .webp({ lossless: true })
      .toBuffer()
    expect((await sharp(animation).metadata()).pages).toBe(2)
    const result = sharp(await stored(await upload(animation)))
    const { dominant } = await result.stats()
    expect(dominant.r).toBeGreaterThan(dominant.b)
    expect(await result.metadata()).toMatchObject({ width: 90, height: 90 })
  })

  it.each(['single', 'tiles', 'ten-bit', 'pq', 'hlg', 'alpha', 'depth', 'grey'])(
    'are accepted in HEIC (%s)',
    async (name) => {
      const answer = await upload(heicImage(name))
      expect(answer.status).toBe(201)
      expect(await sharp(await stored(answer)).metadata()).toMatchObject({ width: 160, height: 120, depth: 'uchar' })
    },
  )

  it('are refused in HEIC without their primary item', async () => {
    const file = heicImage('single')
    const primary = file.indexOf('pitm', 0, 'latin1')
    file.writeUInt16BE(999, primary + 8)
    await isRefused(file, 'INVALID_IMAGE')
  })

  it('have the format of their bytes, whatever the content type and file name say', async () => {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(person)], { type: 'image/png' }), 'me.svg')
    const answer = await drape.call('POST', '/tryon/v1/images/upload', { body })
    expect(answer.status).toBe(201)
    expect((await stored(answer)).subarray(0, 3)).toEqual(Buffer.from('ffd8ff', 'hex'))
  })

  it.each(['jpeg', 'png', 'webp', 'heic'] as const)(
    `are accepted or refused in ${MUTATIONS} mutations of a %s`,
    async (format) => {
      const small = sharp(person).resize(96, 120, { fit: 'cover' })
      const good = format === 'heic' ? heicImage('single') : await small.toFormat(format).toBuffer()
      const next = createNumbers(7)
      const statuses = new Map<number, number>()
      const one = async () => {
        const { status } = await upload(mutate(good, next))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      for (let i = 0; i < MUTATIONS; i += 8) await Promise.all(Array.from({ length: 8 }, one))
      expect([...statuses.keys()].filter((status) => status !== 201 && status !== 400)).toEqual([])
      expect(statuses.get(400)).toBeGreaterThan(0)
      expect((await upload(good)).status).toBe(201)
    },
  )

  it(`leak no memory in ${REPEATS} uploads of the same file`, async () => {
    const small = await sharp(person).resize(400, 500, { fit: 'cover' }).jpeg().toBuffer()
    const repeat = async (times: number) => {
      for (let i = 0; i < times; i += 4) await Promise.all(Array.from({ length: 4 }, () => upload(small)))
    }
    await repeat(REPEATS / 2)
    const warm = (await memoryOf(drape.api.pid)).now
    await repeat(REPEATS)
    expect((await memoryOf(drape.api.pid)).now / warm).toBeLessThanOrEqual(LONG ? 1.05 : 1.15)
  })
})

/** Resident memory of a process in MiB. */
async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

function pngHeader(width: number, height: number): Buffer {
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  size.writeUInt8(8, 8)
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), pngChunk('IHDR', size)])
}

function pngChunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}

function webpHeader(width: number, height: number): Buffer {
  const file = Buffer.alloc(60)
  file.write('RIFF\x34\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1')
  file.writeUIntLE(width - 1, 24, 3)
  file.writeUIntLE(height - 1, 27, 3)
  return file
}

/** Encodes upright pixels as a camera in this orientation would (Exif 2.3, tag 274), with a GPS position. */
function asStored(
  upright: Buffer,
  { width, height, orientation }: { width: number; height: number; orientation: number },
): Promise<Buffer> {
  const result = sharp(upright, { raw: { width, height, channels: 3 } })
  if (orientation === 2 || orientation === 4) result.flop()
  if (orientation === 3 || orientation === 4) result.rotate(180)
  if (orientation === 5 || orientation === 6) result.rotate(270)
  if (orientation === 7 || orientation === 8) result.rotate(90)
  return result.toBuffer({ resolveWithObject: true }).then(({ data, info }) => {
    const turned = sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } })
    if (orientation === 5 || orientation === 7) turned.flip()
    return turned
      .withExif({ IFD0: { Model: 'Drape test camera' }, IFD3: { GPSLatitude: '48/1 8/1 0/1', GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation })
      .jpeg({ quality: 97, chromaSubsampling: '4:4:4' })
      .toBuffer()
  })
}

function meanDifference(one: Uint8Array, other: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += Math.abs(one[i] - other[i])
  return sum / one.length
}

/** Returns reproducible pseudo-random integers below a limit (linear congruential generator of Numerical Recipes). */
function createNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Bits flipped, bytes set, a piece cut out or doubled. */
function mutate(good: Buffer, next: (limit: number) => number): Buffer {
  const file = Buffer.from(good)
  const at = next(next(2) === 0 ? Math.min(200, file.length) : file.length)
  const piece = file.subarray(at, at + 1 + next(200))
  switch (next(5)) {
    case 0:
      return Buffer.concat([file.subarray(0, at), file.subarray(at + piece.length)])
    case 1:
      return Buffer.concat([file.subarray(0, at), piece, file.subarray(at)])
    case 2:
      return file.subarray(0, at)
    case 3:
      file[at] = [0, 0x7f, 0x80, 0xff][next(4)]
      return file
    default:
      for (let i = 0; i <= next(20); i++) file[next(file.length)] ^= 1 << next(8)
      return file
  }
}
