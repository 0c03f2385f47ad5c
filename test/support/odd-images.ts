import { crc32, deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { box } from './heic-file.ts'
import { heicImage, IMAGE_SIZE, imageColour } from './heic-images.ts'
import { exifSegment, insertSegments, jpegSegments, segment } from './jpeg-segments.ts'

/** A file that violates its format slightly, and that viewers still display. */
export interface OddImage {
  readonly name: string
  readonly format: 'JPEG' | 'PNG' | 'WebP' | 'HEIC'
  readonly bytes: Buffer
}

type Make = (plain: Buffer) => Buffer | Promise<Buffer>

const { width, height } = IMAGE_SIZE
const EOI = Buffer.from([0xff, 0xd9])
const NONSENSE = Buffer.from('These bytes describe no colours. '.repeat(16))

/** The image of `heic-images.ts`, in any other format. */
function image(): Sharp {
  const data = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set(imageColour(x, y).map(Math.round), 3 * (y * width + x))
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
}

const jpeg = (options = {}) =>
  image()
    .jpeg({ quality: 92, ...options })
    .toBuffer()

const JPEGS: Record<string, Make> = {
  'scan header with spectral selection 0–0': (plain) => withScanHeader(plain, [0, 0, 0]),
  'scan header with values of 255': (plain) => withScanHeader(plain, [255, 255, 255]),
  'no end marker': (plain) => plain.subarray(0, -2),
  'no end marker, progressive': async () => (await jpeg({ progressive: true })).subarray(0, -2),
  'half an end marker': (plain) => plain.subarray(0, -1),
  'zeros in place of the end marker': (plain) => Buffer.concat([plain.subarray(0, -2), Buffer.alloc(512)]),
  'zeros before the end marker': (plain) => Buffer.concat([plain.subarray(0, -2), Buffer.alloc(64), EOI]),
  'zeros after the end marker': (plain) => Buffer.concat([plain, Buffer.alloc(4096)]),
  'a second image after the end marker': (plain) => Buffer.concat([plain, plain]),
  'Adobe marker with an unknown transform': (plain) => insertSegments(plain, adobe(9)),
  'Adobe marker with the transform of four inks': (plain) => insertSegments(plain, adobe(2)),
  'Adobe marker for RGB beside a JFIF marker': (plain) => insertSegments(plain, jfif(1), adobe(0)),
  'Adobe marker cut off': (plain) => insertSegments(plain, segment(0xee, Buffer.from('Adobe\0d'))),
  'JFIF version 9': (plain) => insertSegments(plain, jfif(9)),
  'ICC profile of nonsense': (plain) => insertSegments(plain, icc(1, 1)),
  'ICC profile without its second part': (plain) => insertSegments(plain, icc(1, 2)),
  'ICC profile with part 0 of 0': (plain) => insertSegments(plain, icc(0, 0)),
  'ICC profile with one part twice': (plain) => insertSegments(plain, icc(1, 1), icc(1, 1)),
  'fill bytes before markers': (plain) => betweenSegments(plain, Buffer.alloc(3, 0xff)),
  'stray bytes before markers': (plain) => betweenSegments(plain, Buffer.from([0, 1, 2, 3])),
  'Exif of nonsense': (plain) => insertSegments(plain, segment(0xe1, Buffer.from('Exif\0\0nonsense'))),
  'Exif orientation 9': (plain) => insertSegments(plain, exifSegment(9)),
  'Exif orientation 6 behind an empty Exif': (plain) =>
    insertSegments(plain, segment(0xe1, Buffer.from('Exif\0\0')), exifSegment(6)),
  'Exif orientation 6 before another of 8': (plain) => insertSegments(plain, exifSegment(6), exifSegment(8)),
  'no Huffman tables': async () => {
    const segments = jpegSegments(await jpeg({ optimiseCoding: false }))
    return Buffer.concat(segments.filter((part) => part[1] !== 0xc4))
  },
  'application segments of unknown kinds': (plain) =>
    insertSegments(plain, ...[0xe5, 0xea, 0xef].map((kind) => segment(kind, Buffer.alloc(60_000, kind)))),
}

const PNGS: Record<string, Make> = {
  'no end chunk': (plain) => plain.subarray(0, -12),
  'half an end chunk': (plain) => plain.subarray(0, -6),
  'bytes after the end chunk': (plain) => Buffer.concat([plain, Buffer.alloc(4096, 7)]),
  'wrong checksum of a text chunk': (plain) => insertChunk(plain, chunk('tEXt', Buffer.from('a\0b'), 1)),
  'ICC profile of nonsense': (plain) => insertChunk(plain, chunk('iCCP', Buffer.from('icc\0\0nonsense'))),
  'unknown chunk': (plain) => insertChunk(plain, chunk('drAp', NONSENSE)),
  'pixels in chunks of 100 bytes': (plain) => inSmallChunks(plain, 100),
  'an empty chunk before the pixels': (plain) => inSmallChunks(plain, 100_000, chunk('IDAT', Buffer.alloc(0))),
  'Exif orientation 6': (plain) => insertChunk(plain, chunk('eXIf', exifSegment(6).subarray(10))),
}

const WEBPS: Record<string, Make> = {
  'bytes after the end': (plain) => Buffer.concat([plain, Buffer.alloc(4096, 7)]),
  'unknown chunk': (plain) => withRiffSize(Buffer.concat([plain, webpChunk('drAp', NONSENSE)]), NONSENSE.length + 8),
  'flags of parts that are not there': (plain) => extended(plain, 0x2c),
  'ICC profile of nonsense': (plain) => extended(plain, 0x20, webpChunk('ICCP', NONSENSE)),
}

const HEICS: Record<string, Make> = {
  'bytes after the end': (plain) => Buffer.concat([plain, Buffer.alloc(4096, 7)]),
  'unknown box at the end': (plain) => Buffer.concat([plain, box('drAp', NONSENSE)]),
  'brand of the container': (plain) => withBytes(plain, 8, Buffer.from('mif1')),
  'unknown version of the brand': (plain) => withBytes(plain, 12, Buffer.from('9999')),
}

/** Every odd image: `docs/images.md` says that Drape reads such files. */
export async function oddImages(): Promise<OddImage[]> {
  const [plainPng, plainWebp] = [await image().png().toBuffer(), await image().webp({ quality: 95 }).toBuffer()]
  const files = [
    await make('JPEG', await jpeg(), JPEGS),
    await make('PNG', plainPng, PNGS),
    await make('WebP', plainWebp, WEBPS),
    await make('HEIC', heicImage('single'), HEICS),
  ]
  return files.flat()
}

function make(format: OddImage['format'], plain: Buffer, makers: Record<string, Make>): Promise<OddImage[]> {
  return Promise.all(
    Object.entries(makers).map(async ([name, change]) => ({ name, format, bytes: await change(plain) })),
  )
}

function withBytes(file: Buffer, start: number, bytes: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, start), bytes, file.subarray(start + bytes.length)])
}

/** The last three bytes of a scan's header. */
function withScanHeader(file: Buffer, values: readonly number[]): Buffer {
  return Buffer.concat(
    jpegSegments(file).map((part) => {
      if (part[1] !== 0xda) return part
      const changed = Buffer.from(part)
      changed.set(values, 4 + changed.readUInt16BE(2) - 2 - 3)
      return changed
    }),
  )
}

/** Not behind the start marker: the first three bytes make it a JPEG. */
function betweenSegments(file: Buffer, added: Buffer): Buffer {
  return Buffer.concat(jpegSegments(file).flatMap((part, i) => (i < 2 ? [part] : [added, part])))
}

function jfif(version: number): Buffer {
  return segment(0xe0, Buffer.from([...Buffer.from('JFIF\0'), version, 1, 0, 0, 1, 0, 1, 0, 0]))
}

function adobe(transform: number): Buffer {
  return segment(0xee, Buffer.from([...Buffer.from('Adobe'), 0, 100, 0, 0, 0, 0, transform]))
}

function icc(part: number, parts: number): Buffer {
  return segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([part, parts]), NONSENSE]))
}

export function chunk(type: string, data: Buffer, error = 0): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([uint32(data.length), typed, uint32((crc32(typed) ^ error) >>> 0)])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const SIGNATURE_AND_HEADER = 33

export function insertChunk(file: Buffer, added: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, SIGNATURE_AND_HEADER), added, file.subarray(SIGNATURE_AND_HEADER)])
}

function inSmallChunks(file: Buffer, size: number, first: Buffer = Buffer.alloc(0)): Buffer {
  const start = file.indexOf('IDAT')
  const end = start + 4 + file.readUInt32BE(start - 4)
  const data = file.subarray(start + 4, end)
  const parts: Buffer[] = [first]
  for (let at = 0; at < data.length; at += size) parts.push(chunk('IDAT', data.subarray(at, at + size)))
  return Buffer.concat([file.subarray(0, start - 4), ...parts, file.subarray(end + 4)])
}

function withRiffSize(file: Buffer, more: number): Buffer {
  const changed = Buffer.from(file)
  changed.writeUInt32LE(changed.readUInt32LE(4) + more, 4)
  return changed
}

function webpChunk(type: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(type, 'latin1'), size, data, Buffer.alloc(data.length % 2)])
}

function extended(file: Buffer, flags: number, before: Buffer | null = null, after: Buffer | null = null): Buffer {
  const header = Buffer.alloc(10)
  header[0] = flags
  header.writeUIntLE(width - 1, 4, 3)
  header.writeUIntLE(height - 1, 7, 3)
  const parts = [webpChunk('VP8X', header), before, file.subarray(12), after].filter((part) => part !== null)
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts])
  return webpChunk('RIFF', body)
}

/** A PNG with text chunks that inflate to 7 MB each: 7 KB of the file. */
export function textPng(chunks: number): Buffer {
  const header = Buffer.from('________\x08\x02\0\0\0', 'latin1')
  header.writeUInt32BE(200, 0)
  header.writeUInt32BE(200, 4)
  const text = deflateSync(Buffer.alloc(7_000_000, 'A'), { level: 9 })
  const texts = Array.from({ length: chunks }, (_, i) => chunk('zTXt', Buffer.concat([Buffer.from(`k${i}\0\0`), text])))
  const pixels = chunk('IDAT', deflateSync(Buffer.alloc(601 * 200)))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), ...texts, pixels, chunk('IEND', Buffer.alloc(0))])
}
