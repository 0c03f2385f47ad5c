import { crc32 } from 'node:zlib'
import { DrapeError } from '../contract/errors.ts'
import { createPartCounter } from './image-parts.ts'
import { isFrame, readJpegSegments, START_OF_SCAN } from './jpeg-segments.ts'

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'heic'

export interface ImageHeader {
  readonly format: ImageFormat
  /** Pixels as stored, before the orientation is applied. */
  readonly width: number
  readonly height: number
}

export const MIN_IMAGE_BYTES = 12

type Size = Omit<ImageHeader, 'format'>

const SIZE_READERS: Record<ImageFormat, (bytes: Buffer) => Size> = {
  jpeg: readJpegSize,
  png: readPngSize,
  webp: readWebpSize,
  heic: readHeicSize,
}

/**
 * Reads format and size from an image's first bytes. Decodes nothing; ignores file names and headers of callers.
 * @throws DrapeError INVALID_IMAGE for fewer than 12 bytes or a damaged header, UNSUPPORTED_IMAGE_TYPE for any other
 * format.
 */
export function readImageHeader(bytes: Uint8Array): ImageHeader {
  const format = readImageFormat(bytes)
  return { format, ...readSize(format, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) }
}

/**
 * Reads the format by the first bytes alone.
 * @throws DrapeError INVALID_IMAGE for fewer than 12 bytes, UNSUPPORTED_IMAGE_TYPE for any other format.
 */
export function readImageFormat(bytes: Uint8Array): ImageFormat {
  if (bytes.length < MIN_IMAGE_BYTES) throw new DrapeError('INVALID_IMAGE', 'The file is too small to be an image.')
  const format = detectImageFormat(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if (!format) throw new DrapeError('UNSUPPORTED_IMAGE_TYPE', 'The file is not a JPEG, PNG, WebP or HEIC image.')
  return format
}

/** Format of an image by its first bytes, at least `MIN_IMAGE_BYTES`. Undefined for any other content. */
export function detectImageFormat(bytes: Buffer): ImageFormat | undefined {
  if (bytes.readUIntBE(0, 3) === 0xffd8ff) return 'jpeg'
  if (bytes.readUInt32BE(0) === 0x89504e47) return 'png'
  if (hasText(bytes, 0, 'RIFF') && hasText(bytes, 8, 'WEBP')) return 'webp'
  if (hasText(bytes, 4, 'ftyp') && hasHeicBrand(bytes)) return 'heic'
  return undefined
}

/**
 * Reading beyond the end of the bytes throws a RangeError, which means a truncated header, like every other error here.
 */
function readSize(format: ImageFormat, bytes: Buffer): Size {
  try {
    const size = SIZE_READERS[format](bytes)
    assertValid(size.width > 0 && size.height > 0)
    return size
  } catch (cause) {
    throw new DrapeError('INVALID_IMAGE', `The header of the ${format.toUpperCase()} image is damaged.`, { cause })
  }
}

function readPngSize(bytes: Buffer): Size {
  const [length, width, height] = [8, 16, 20].map((offset) => bytes.readUInt32BE(offset))
  assertValid(bytes.readUInt32BE(4) === 0x0d0a1a0a && length === 13 && hasText(bytes, 12, 'IHDR'))
  assertValid(crc32(bytes.subarray(12, 29)) === bytes.readUInt32BE(29))
  return { width, height }
}

function readJpegSize(bytes: Buffer): Size {
  const frame = findJpegFrame(bytes)
  return { height: bytes.readUInt16BE(frame + 4), width: bytes.readUInt16BE(frame + 6) }
}

/** Stored samples per pixel of a JPEG over all components: 3 without chroma subsampling, 1.5 with the usual one. */
export function readJpegSampling(bytes: Uint8Array): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const frame = findJpegFrame(view)
  const factors = Array.from({ length: view[frame + 8] }, (_, i) => view[frame + 10 + 3 * i])
  const [across, down] = [factors.map((factor) => factor >> 4), factors.map((factor) => factor & 15)]
  const stored = factors.reduce((sum, _, i) => sum + across[i] * down[i], 0)
  return stored / (Math.max(1, ...across) * Math.max(1, ...down))
}

/**
 * Whether a WebP has lossless parts. Chunks begin at even offsets; a native search is 10 times slower in a file that
 * consists of V bytes.
 */
export function hasLosslessPart(bytes: Uint8Array): boolean {
  for (let i = 12; i + 3 < bytes.length; i += 2) {
    if (bytes[i] === V && bytes[i + 1] === P && bytes[i + 2] === DIGIT_8 && bytes[i + 3] === L) return true
  }
  return false
}

const [V, P, DIGIT_8, L] = Buffer.from('VP8L')

/** Offset of the marker code of the frame header. */
function findJpegFrame(bytes: Buffer): number {
  for (const { marker, start } of readJpegSegments(bytes)) {
    if (isFrame(marker)) return start + 1
    assertValid(marker !== START_OF_SCAN)
  }
  throw new RangeError('no frame')
}

function readWebpSize(bytes: Buffer): Size {
  assertValid(bytes.readUInt32LE(4) + 8 <= bytes.length)
  const chunk = bytes.toString('latin1', 12, 16)
  if (chunk === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (chunk === 'VP8L') return readLosslessWebpSize(bytes)
  assertValid(chunk === 'VP8 ' && bytes.readUIntBE(23, 3) === 0x9d012a)
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
}

function readLosslessWebpSize(bytes: Buffer): Size {
  assertValid(bytes[20] === 0x2f)
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx']

/** `mif1` and `msf1` name only the container; the compatible brands distinguish HEIC from AVIF. */
function hasHeicBrand(bytes: Buffer): boolean {
  const major = bytes.toString('latin1', 8, 12)
  if (HEIC_BRANDS.includes(major)) return true
  if (major !== 'mif1' && major !== 'msf1') return false
  const compatible = bytes.toString('latin1', 16, Math.min(bytes.readUInt32BE(0), 256))
  return HEIC_BRANDS.some((brand) => compatible.includes(brand))
}

/** The largest `ispe` property is the whole image; others describe tiles, thumbnails and depth maps. */
function readHeicSize(bytes: Buffer): Size {
  const countPart = createPartCounter()
  const meta = findBox(bytes, 'meta', { start: 0, end: bytes.length, countPart })
  const properties = findBox(bytes, 'iprp', { start: meta.start + 4, end: meta.end, countPart })
  const container = findBox(bytes, 'ipco', { ...properties, countPart })
  let largest = { width: 0, height: 0 }
  for (const { start } of boxesIn(bytes, 'ispe', { ...container, countPart })) {
    const size = { width: bytes.readUInt32BE(start + 4), height: bytes.readUInt32BE(start + 8) }
    if (size.width * size.height > largest.width * largest.height) largest = size
  }
  return largest
}

/** Start and end of a box's content, in bytes of the file (ISO/IEC 14496-12, 4.2). */
interface Span {
  readonly start: number
  readonly end: number
}

interface CountedSpan extends Span {
  readonly countPart: () => void
}

function findBox(bytes: Buffer, type: string, within: CountedSpan): Span {
  for (const box of boxesIn(bytes, type, within)) return box
  throw new RangeError(`no box ${type}`)
}

/** The boxes of this type. */
function* boxesIn(bytes: Buffer, type: string, { start, end, countPart }: CountedSpan): Generator<Span> {
  const code = Buffer.from(type, 'latin1').readUInt32BE()
  for (let offset = start; offset < end; ) {
    countPart()
    const short = bytes.readUInt32BE(offset)
    const header = short === 1 ? 16 : 8
    const size = short === 1 ? Number(bytes.readBigUInt64BE(offset + 8)) : short || end - offset
    assertValid(size >= header && offset + size <= end)
    if (bytes.readUInt32BE(offset + 4) === code) yield { start: offset + header, end: offset + size }
    offset += size
  }
}

function hasText(bytes: Buffer, offset: number, text: string): boolean {
  return bytes.toString('latin1', offset, offset + text.length) === text
}

function assertValid(holds: boolean): asserts holds {
  if (!holds) throw new RangeError('does not conform to the format')
}
