import { readFile } from 'node:fs/promises'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Drape, formOf, readSample, startDrape } from '../support/drape.ts'

const LONG = process.env.LONG_TESTS === '1'
const REPEATS = LONG ? 1000 : 120

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

  it('are refused above the file size limit, with 60 MB of metadata', async () => {
    const segment = Buffer.concat([Buffer.from('ffe1ffff', 'hex'), Buffer.alloc(65_533, 7)])
    const heavy = Buffer.concat([person.subarray(0, 2), ...Array(960).fill(segment), person.subarray(2)])
    await isRefused(heavy, 'FILE_TOO_LARGE', 413)
    const light = Buffer.concat([person.subarray(0, 2), ...Array(150).fill(segment), person.subarray(2)])
    expect((await upload(light)).status).toBe(201)
  })

  it('are stored upright without metadata', async () => {
    const upright = await sharp(person).resize(200, 240, { fit: 'cover' }).removeAlpha().raw().toBuffer()
    // As a camera that was held upright stores them (Exif 2.3, tag 274), with a GPS position.
    const turned = await sharp(upright, { raw: { width: 200, height: 240, channels: 3 } })
      .rotate(270)
      .withExif({ IFD0: { Model: 'Drape test camera' }, IFD3: { GPSLatitude: '48/1 8/1 0/1', GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 97, chromaSubsampling: '4:4:4' })
      .toBuffer()
    expect(turned.includes('Drape test camera')).toBe(true)
    const result = await stored(await upload(turned))
    const { width, height, exif, xmp, icc, orientation: left } = await sharp(result).metadata()
    expect({ width, height, exif, xmp, icc, left }).toEqual({ width: 200, height: 240 })
    expect(result.includes('Drape test camera')).toBe(false)
    expect(meanDifference(await sharp(result).raw().toBuffer(), upright)).toBeLessThan(3)
  })

  it('have the format of their bytes, whatever the content type and file name say', async () => {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(person)], { type: 'image/png' }), 'me.svg')
    const answer = await drape.call('POST', '/tryon/v1/images/upload', { body })
    expect(answer.status).toBe(201)
    expect((await stored(answer)).subarray(0, 3)).toEqual(Buffer.from('ffd8ff', 'hex'))
  })

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

function meanDifference(one: Uint8Array, other: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += Math.abs(one[i] - other[i])
  return sum / one.length
}
