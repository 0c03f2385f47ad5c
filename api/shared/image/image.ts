import { availableParallelism } from 'node:os'
import sharp, { type Metadata, type OutputInfo, type Sharp } from 'sharp'
import { DrapeError } from '../contract/errors.ts'
import { createFairLimiter, type Turn } from '../process/fair-limiter.ts'
import { DECODING_BYTES, decodingBytes, HEIC_BYTES } from './decoding-memory.ts'
import { decodeHeic } from './heic/heic.ts'
import { isProfileOf } from './icc-profile.ts'
import {
  hasLosslessPart,
  type ImageHeader,
  readImageFormat,
  readImageHeader,
  readJpegSampling,
} from './image-format.ts'
import { readJpegSegments, START_OF_SCAN } from './jpeg-segments.ts'
import { toPlainJpeg } from './plain-jpeg.ts'
import { toPlainPng } from './plain-png.ts'
import { insertXmp } from './png-xmp.ts'

/** Decoded image: sRGB, 8 bits, interleaved, height × width × channels (3 = RGB, 4 = RGB with straight alpha). */
export interface Bitmap {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Uint8Array
}

/** The bytes of a file, or a function that reads them when needed. */
export type ImageFile = Uint8Array | (() => Promise<Uint8Array>)

/** Owner of the image, and a signal that aborts the wait. */
export type Requester = Pick<Turn, 'owner' | 'signal'>

export interface NormalisedImage {
  readonly bytes: Buffer
  readonly contentType: 'image/jpeg' | 'image/png'
  readonly width: number
  readonly height: number
  readonly alpha: boolean
}

export interface ImageEncoding {
  readonly format: 'jpeg' | 'png' | 'webp'
  /** 1 to 100, default 92; ignored for PNG. */
  readonly quality?: number
  /** XMP packet, the only metadata of the result. */
  readonly xmp?: string
}

/** In px, within the image. */
export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const MAX_PIXELS = 50_000_000
const MAX_SIDE = 12_000
const NORMALISED_SIDE = 3_000
const NORMALISED_QUALITY = 95
const ENCODED_QUALITY = 92
/** Below this, a 4:5 crop and its preview are not recognisable at any enlargement. */
const MIN_SIDE = 16
/** Scans × pixels of a JPEG: 20 scans of 50 megapixels take 0.3 s of processor time, even when they change nothing. */
const MAX_SCANNED_PIXELS = 1_000_000_000
const MAX_ASPECT = 10

// The decoder also reads SVG, TIFF, GIF and more. Callers must never reach these, whatever format the bytes claim.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'] })
// Every image is decoded once, so caching operations would waste memory. Images are processed concurrently, each on one
// thread.
sharp.cache(false)
sharp.concurrency(1)

const OPTIONS = { failOn: 'warning', limitInputPixels: MAX_PIXELS, autoOrient: true } as const

/**
 * Reads format and stored size from the bytes, without decoding.
 * @throws DrapeError INVALID_IMAGE when too small, damaged, over 50 megapixels or over 12,000 px a side;
 * UNSUPPORTED_IMAGE_TYPE when neither JPEG, PNG, WebP nor HEIC.
 */
export function inspectImage(bytes: Uint8Array): ImageHeader {
  const header = readImageHeader(bytes)
  const { width, height } = header
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
    throw new DrapeError(
      'INVALID_IMAGE',
      `The image has ${width} × ${height} pixels; at most 50 megapixels and ${MAX_SIDE} pixels a side are allowed.`,
    )
  }
  return header
}

/**
 * Decodes an image: upright by its EXIF orientation (a HEIC by its own rotation), sRGB, 8 bits, 4 channels if at least
 * one pixel is not opaque, otherwise 3. Decodes the first frame of an animation and the primary image of a HEIC.
 * @throws DrapeError as `inspectImage`, INVALID_IMAGE when the image is damaged, incomplete or takes too much memory,
 * and a retryable SERVICE_UNAVAILABLE when too many images wait.
 */
export async function decodeImage(bytes: Uint8Array): Promise<Bitmap> {
  return decode(bytes, (image) => image)
}

/**
 * Decodes an image as people see it: as `decodeImage`, but always in 3 channels, with transparent parts on white. The colours that a file
 * stores below transparent pixels can show anything. Given a size, it is reduced to it while it is decoded.
 */
export async function decodeOnWhite(
  bytes: Uint8Array,
  size?: { readonly width: number; readonly height: number },
): Promise<Bitmap> {
  return decode(bytes, (image) => {
    const opaque = image.flatten({ background: 'white' })
    return size ? opaque.resize(size.width, size.height, { fit: 'fill' }) : opaque
  })
}

function decode(bytes: Uint8Array, prepare: (image: Sharp) => Sharp): Promise<Bitmap> {
  const work = () => withFile(bytes, { pixels: MAX_PIXELS }, ({ image, isDeep }) => toPixels(prepare(image), isDeep))
  return isHeic(bytes) ? inHeicTurn(work) : work()
}

/**
 * Normalises an image for storage: upright, sRGB, 8 bits, without metadata, longest side at most 3,000 px (never
 * enlarged); a JPEG of quality 95 without chroma subsampling, or a PNG when it has alpha. Deterministic. A file given
 * as a function is read when its turn comes: few files are decoded concurrently, and owners take turns.
 * @throws DrapeError as `decodeImage`, INVALID_IMAGE for a side under 16 px or an aspect ratio over 10, and
 * VALIDATION_FAILED when the signal aborts before the file's turn.
 */
export async function normaliseImage(file: ImageFile, requester: Requester = {}): Promise<NormalisedImage> {
  const read = async () => (typeof file === 'function' ? file() : file)
  const normalised = await inTurn(async () => {
    const bytes = await read()
    return isHeic(bytes) ? null : normalise(bytes, requester)
  }, requester)
  return normalised ?? inHeicTurn(async () => normalise(await read(), requester), requester)
}

const MAX_WAITING = 200
// Each takes a core and many times the memory of its file.
const inTurn = createFairLimiter(Math.max(2, Math.min(4, Math.floor(availableParallelism() / 2))), {
  maxWaiting: MAX_WAITING,
})
/** Separate, because a HEIC takes many times longer than any other image and would delay those. */
const inHeicTurn = createFairLimiter(1, { maxWaiting: MAX_WAITING })
const inMemory = createFairLimiter(DECODING_BYTES, { maxWaiting: MAX_WAITING })

function isHeic(bytes: Uint8Array): boolean {
  return readImageFormat(bytes) === 'heic'
}

async function normalise(bytes: Uint8Array, requester: Requester): Promise<NormalisedImage> {
  assertWorkableSize(inspectImage(bytes))
  const pixels = NORMALISED_SIDE ** 2
  return withFile(bytes, { ...requester, pixels }, async ({ image, isDeep, hasAlpha }) => {
    const reduced = withinNormalised(image)
    return hasAlpha ? normaliseBitmap(await toPixels(reduced, isDeep)) : normaliseOpaque(reduced)
  })
}

/** Streams: neither the image nor the result is in memory as pixels. */
async function normaliseOpaque(image: Sharp): Promise<NormalisedImage> {
  const { data, info } = await undamaged(
    asJpeg(image, { quality: NORMALISED_QUALITY, optimiseCoding: false }).toBuffer({ resolveWithObject: true }),
  )
  // The primary image of a HEIC may be smaller than the largest image in its file.
  assertWorkableSize(info)
  return { bytes: data, contentType: 'image/jpeg', width: info.width, height: info.height, alpha: false }
}

async function normaliseBitmap(bitmap: Bitmap): Promise<NormalisedImage> {
  assertWorkableSize(bitmap)
  const { width, height } = bitmap
  const alpha = bitmap.channels === 4
  return {
    bytes: await encodeImage(bitmap, { format: alpha ? 'png' : 'jpeg', quality: NORMALISED_QUALITY }),
    contentType: alpha ? 'image/png' : 'image/jpeg',
    width,
    height,
    alpha,
  }
}

/** A mask for storage. */
export interface NormalisedMask {
  /** A PNG in which the pixels of the region are white, and all others black. */
  readonly bytes: Buffer
  readonly width: number
  readonly height: number
  readonly isEmpty: boolean
}

/**
 * Normalises a mask: upright and reduced as a photo. Its light and opaque pixels are the region, with `isInverted` all others.
 * @throws DrapeError as `normaliseImage`
 */
export async function normaliseMask(
  bytes: Uint8Array,
  { isInverted, ...requester }: Requester & { readonly isInverted: boolean },
): Promise<NormalisedMask> {
  assertWorkableSize(inspectImage(bytes))
  const read = ({ image }: OpenedFile) => {
    const grey = withinNormalised(image).flatten({ background: 'black' }).greyscale().toColourspace('srgb')
    return undamaged(grey.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true }))
  }
  const work = () => withFile(bytes, { ...requester, pixels: NORMALISED_SIDE ** 2 }, read)
  const { data: levels, info } = await (isHeic(bytes) ? inHeicTurn(work, requester) : inTurn(work, requester))
  const { width, height, channels } = info
  const region = new Uint8Array(width * height)
  for (let i = 0; i < region.length; i++) region[i] = levels[i * channels] >= 128 === isInverted ? 0 : 255
  const image = sharp(region, { raw: { width, height, channels: 1 } })
  return { bytes: await image.png().toBuffer(), width, height, isEmpty: !region.includes(255) }
}

/** Of the pixels of masks, 98 % and more are nearly black or white, without soft edges; of those of photos of persons, up to 22 %. */
const MIN_MASK_SHARE = 0.8
/** Of a mask, no pixels have a colour; of a small person on a wide white or black background, more. */
const MAX_COLOURED_SHARE = 0.001

/** Whether the image seems to be a mask: nearly all of its pixels are black or white, and the others grey. */
export async function looksLikeMask(bytes: Uint8Array): Promise<boolean> {
  const side = 256
  const { data, info } = await withFile(bytes, { pixels: side ** 2 }, ({ image }) => {
    const colours = image.flatten({ background: 'white' }).resize(side, side, { fit: 'fill' }).toColourspace('srgb')
    return undamaged(colours.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true }))
  })
  let [extreme, coloured] = [0, 0]
  for (let i = 0; i < data.length; i += info.channels) {
    const low = Math.min(data[i], data[i + 1], data[i + 2])
    const high = Math.max(data[i], data[i + 1], data[i + 2])
    if (high < 16 || low >= 240) extreme++
    else if (high - low > 32) coloured++
  }
  const count = side ** 2
  return extreme >= MIN_MASK_SHARE * count && coloured <= MAX_COLOURED_SHARE * count
}

function withinNormalised(image: Sharp): Sharp {
  return image.resize(NORMALISED_SIDE, NORMALISED_SIDE, { fit: 'inside', withoutEnlargement: true })
}

/** Encodes a bitmap. A JPEG keeps full chroma and shows transparent parts on white. */
export async function encodeImage(
  bitmap: Bitmap,
  { format, quality = ENCODED_QUALITY, xmp }: ImageEncoding,
): Promise<Buffer> {
  const image = fromBitmap(bitmap)
  if (format === 'png') {
    const png = await image.png().toBuffer()
    return xmp ? insertXmp(png, xmp) : png
  }
  if (xmp) image.withXmp(xmp)
  if (format === 'webp') return image.webp({ quality, smartSubsample: true }).toBuffer()
  return asJpeg(image.flatten({ background: 'white' }), { quality }).toBuffer()
}

/** Encodes the rectangle of the image as a JPEG with `longest` px on its longest side. */
export async function encodeView(
  image: Uint8Array | Bitmap,
  { x, y, width, height }: Rectangle,
  longest: number,
): Promise<Buffer> {
  const encode = (whole: Sharp) => {
    const view = whole
      .extract({ left: x, top: y, width, height })
      .resize(longest, longest, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: 'white' })
    return undamaged(asJpeg(view, { quality: ENCODED_QUALITY }).toBuffer())
  }
  if (!(image instanceof Uint8Array)) return encode(fromBitmap(image))
  return withFile(image, { pixels: MAX_PIXELS }, ({ image: whole }) => encode(whole))
}

/** `optimiseCoding` makes the file a few per cent smaller, but holds all coefficients in memory. */
function asJpeg(image: Sharp, options: { quality: number; optimiseCoding?: boolean }): Sharp {
  return image.jpeg({ ...options, chromaSubsampling: '4:4:4' })
}

/** Copies the rectangle of the bitmap. */
export function cropBitmap(bitmap: Bitmap, { x, y, width, height }: Rectangle): Bitmap {
  const data = new Uint8Array(width * height * bitmap.channels)
  const stride = width * bitmap.channels
  for (let row = 0; row < height; row++) {
    const start = ((y + row) * bitmap.width + x) * bitmap.channels
    data.set(bitmap.data.subarray(start, start + stride), row * stride)
  }
  return { width, height, channels: bitmap.channels, data }
}

/** Resizes a bitmap to exactly `width` × `height`, or to `longest` px on its longest side. */
export async function resizeBitmap(
  bitmap: Bitmap,
  size: { readonly width: number; readonly height: number } | { readonly longest: number },
  { kernel = 'lanczos3' }: { readonly kernel?: 'lanczos3' | 'linear' } = {},
): Promise<Bitmap> {
  const image = fromBitmap(bitmap)
  const resized =
    'longest' in size
      ? image.resize(size.longest, size.longest, { fit: 'inside', kernel })
      : image.resize(size.width, size.height, { fit: 'fill', kernel })
  const { data, info } = await resized.raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, channels: bitmap.channels, data }
}

/** Grey pixels of an image or of a part of it, squeezed into a square; transparent parts are white. Decodes no more than needed. */
export async function readLuminance(
  image: Uint8Array | Bitmap,
  { side, part }: { readonly side: number; readonly part?: Rectangle },
): Promise<Uint8Array> {
  const squeeze = (whole: Sharp) => {
    if (part) whole.extract({ left: part.x, top: part.y, width: part.width, height: part.height })
    const grey = whole
      .flatten({ background: 'white' })
      .resize(side, side, { fit: 'fill' })
      .greyscale()
      .toColourspace('srgb')
    return undamaged(grey.raw({ depth: 'uchar' }).toBuffer())
  }
  if (!(image instanceof Uint8Array)) return squeeze(fromBitmap(image))
  return withFile(image, { pixels: side ** 2 }, ({ image: whole }) => squeeze(whole))
}

function assertWorkableSize({ width, height }: Pick<ImageHeader, 'width' | 'height'>): void {
  const [short, long] = width < height ? [width, height] : [height, width]
  const limit =
    short < MIN_SIDE
      ? `each side must have at least ${MIN_SIDE} pixels`
      : long > MAX_ASPECT * short && `no side may have more than ${MAX_ASPECT} times the pixels of the other`
  if (limit) throw new DrapeError('INVALID_IMAGE', `The image has ${width} × ${height} pixels; ${limit}.`)
}

interface OpenedFile {
  /** Decoded on demand. */
  readonly image: Sharp
  /** Whether its samples have 16 bits, otherwise 8. */
  readonly isDeep: boolean
  /** Whether the format has an alpha channel, even if unused. */
  readonly hasAlpha: boolean
}

/** Opens a file, reduced to about `pixels` pixels, when the process has enough memory for decoding it. */
async function withFile<T>(
  bytes: Uint8Array,
  { pixels, ...requester }: Requester & { readonly pixels: number },
  work: (file: OpenedFile) => Promise<T>,
): Promise<T> {
  const header = inspectImage(bytes)
  const { format } = header
  if (format === 'heic') {
    const decodeAndWork = async () => {
      const bitmap = await decodeHeic(bytes, { pixels })
      return work({ image: fromBitmap(bitmap), isDeep: false, hasAlpha: bitmap.channels === 4 })
    }
    return inMemory(decodeAndWork, { ...requester, weight: HEIC_BYTES })
  }
  const plain = toPlainFile(bytes, header)
  const stored = await undamaged(sharp(plain, OPTIONS).metadata())
  const { width, height, channels, depth, hasAlpha, orientation = 1, pages = 1, isProgressive } = stored
  const needed = decodingBytes(
    {
      format,
      width,
      height,
      channels,
      isProgressive,
      hasAlpha,
      bytesPerSample: depth === 'uchar' ? 1 : 2,
      isAnimated: pages > 1,
      isTurned: orientation > 1,
      samplesPerPixel: format === 'jpeg' ? readJpegSampling(bytes) : 0,
      isLossless: format === 'webp' && hasLosslessPart(bytes),
      fileBytes: plain === bytes ? bytes.byteLength : bytes.byteLength + plain.byteLength,
    },
    pixels,
  )
  if (needed > DECODING_BYTES) {
    throw new DrapeError(
      'INVALID_IMAGE',
      `The image takes ${toMegabytes(needed)} MB of memory to decode, and ${toMegabytes(DECODING_BYTES)} MB are allowed; send it with fewer pixels, 8 bits, or not progressive or interlaced.`,
    )
  }
  return inMemory(() => work({ ...openInSrgb(plain, stored), hasAlpha }), { ...requester, weight: needed })
}

/**
 * Opens an image with its colour profile if the profile describes such an image, otherwise as sRGB or as inks of a printing press.
 * `isDeep`: the output has 16 bits.
 */
function openInSrgb(bytes: Uint8Array, { icc, space, depth }: Metadata): { image: Sharp; isDeep: boolean } {
  const isGrey = space === 'b-w' || space === 'grey16'
  const hasProfile = icc !== undefined && isProfileOf(icc, isGrey ? 'GRAY' : space === 'cmyk' ? 'CMYK' : 'RGB ')
  const isDeep = hasProfile && depth !== 'uchar'
  // On input, sharp ignores profiles of grey with 16 bits, and converts RGB with 16 bits to Display P3.
  const image = sharp(bytes, { ...OPTIONS, ignoreIcc: !hasProfile || isDeep })
  if (!isDeep) return { image: image.toColourspace('srgb'), isDeep }
  return { image: image.toColourspace(isGrey ? 'grey16' : 'rgb16').withIccProfile('srgb', { attach: false }), isDeep }
}

/** The file as decoders accept it. A RangeError of a reader, which went beyond its end, means a damaged image. */
function toPlainFile(bytes: Uint8Array, { format, width, height }: ImageHeader): Uint8Array {
  try {
    if (format === 'png') return toPlainPng(bytes)
    if (format !== 'jpeg') return bytes
    // Walk once: it blocks the event loop for all bytes of the file.
    const segments = [...readJpegSegments(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))]
    // A decoder processes the whole image once per scan.
    const scans = segments.filter(({ marker }) => marker === START_OF_SCAN).length
    const maxScans = Math.floor(MAX_SCANNED_PIXELS / (width * height))
    if (scans <= maxScans) return toPlainJpeg(bytes, segments)
    throw new DrapeError(
      'INVALID_IMAGE',
      `The image has ${scans} scans; for its size, at most ${maxScans} are allowed.`,
    )
  } catch (cause) {
    if (cause instanceof RangeError) throw damaged(cause)
    throw cause
  }
}

function toMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6)
}

async function toPixels(image: Sharp, isDeep: boolean): Promise<Bitmap> {
  const pixels = image.raw({ depth: isDeep ? 'ushort' : 'uchar' })
  const { data, info } = await undamaged(pixels.toBuffer({ resolveWithObject: true }))
  return toBitmap({ data: isDeep ? toBytes(data) : data, info })
}

/** 16-bit samples in 8 bits, in the same memory. */
function toBytes(data: Buffer): Buffer {
  const samples = new Uint16Array(data.buffer, data.byteOffset, data.length / 2)
  for (let i = 0; i < samples.length; i++) data[i] = Math.round(samples[i] / 257)
  return data.subarray(0, samples.length)
}

async function undamaged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw damaged(cause)
  }
}

function damaged(cause: unknown): DrapeError {
  return new DrapeError('INVALID_IMAGE', 'The image is damaged or incomplete.', { cause })
}

function toBitmap({ data, info: { width, height, channels } }: { data: Buffer; info: OutputInfo }): Bitmap {
  if (channels === 3) return { width, height, channels, data }
  if (channels !== 4) throw new Error(`decoded into ${channels} channels`)
  return isOpaque(data) ? { width, height, channels: 3, data: withoutAlpha(data) } : { width, height, channels, data }
}

function isOpaque(rgba: Uint8Array): boolean {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) return false
  return true
}

function withoutAlpha(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3)
  for (let i = 0, j = 0; j < rgb.length; i += 4, j += 3) {
    rgb[j] = rgba[i]
    rgb[j + 1] = rgba[i + 1]
    rgb[j + 2] = rgba[i + 2]
  }
  return rgb
}

function fromBitmap({ width, height, channels, data }: Bitmap): Sharp {
  return sharp(data, { raw: { width, height, channels } })
}
