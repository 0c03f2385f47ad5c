import { type ColourSpace, convertToSrgb, isSrgb, type Samples, spaceOfCodePoints } from '../colour-space.ts'
import { isProfileOf, readIccProfile } from '../icc-profile.ts'
import { type DecodedHeic, HeicRefusal } from './heic-bitmap.ts'
import { type Call, within } from './heic-call.ts'
import {
  assertTiles,
  isLying,
  placeTile,
  reducedView,
  reductionOf,
  type Tile,
  type Tiling,
  tilesIn,
} from './heic-tiles.ts'
import { readView } from './heic-view.ts'
import { openLibheif } from './libheif.ts'

const COLOUR_SPACE_RGB = 1
const COLOUR_SPACE_GREY = 2
const CHANNEL_INTERLEAVED = 10
/** `heif_chroma_interleaved_RGB` and `…_RGBA`; for more than 8 bits `…_RRGGBB_LE` and `…_RRGGBBAA_LE`. */
const CHROMA = { shallow: { 3: 10, 4: 11 }, deep: { 3: 14, 4: 15 } } as const
/** `heif_decoding_options.strict_decoding`: without it, missing parts of an image are filled with green. */
const STRICT_DECODING_OFFSET = 21
/** `heif_decoding_options.ignore_transformations`. */
const IGNORE_TRANSFORMATIONS_OFFSET = 1
/** `heif_image_tiling`, with room for fields of later versions. */
const TILING_BYTES = 128
/** 50 megapixels, plus the blocks that an encoder adds at the borders. */
const MAX_SQUARE_SIDE = 7_200

export interface HeicDecoder {
  /**
   * Decodes the primary image of a HEIC file: applies the file's own rotation, mirroring and crop (the EXIF orientation
   * repeats them and is not applied) and converts to sRGB. A tiled image with more than 4 times the requested pixels is
   * reduced to half its sides or less, but not below the requested pixels. Blocks the thread.
   * @throws HeicRefusal when the file is damaged, incomplete, not HEVC, has tiles outside of the image, or needs too
   * much memory.
   */
  decode(file: Uint8Array, options: HeicOptions): DecodedHeic
  /** Memory of the library in bytes, which never shrinks. */
  heldBytes(): number
}

export interface HeicOptions {
  /** Pixels that the caller needs. */
  readonly pixels: number
  /** Budget for the library and the bitmap together. */
  readonly memoryBytes: number
}

export function createHeicDecoder(): HeicDecoder {
  let maxBytes = Number.POSITIVE_INFINITY
  const heif = openLibheif(() => maxBytes)
  return {
    decode: (file, { pixels, memoryBytes }) => {
      maxBytes = memoryBytes
      return within(heif, (call) => {
        const image = openPrimary(call, file)
        return decodePrimary(call, image, {
          pixels,
          reserve: (bytes) => {
            maxBytes = memoryBytes - bytes
            if (heif.HEAPU8.byteLength > maxBytes) throw new HeicRefusal('too large', 'Not enough memory')
          },
        })
      })
    },
    heldBytes: () => heif.HEAPU8.byteLength,
  }
}

interface PrimaryImage {
  readonly context: number
  readonly handle: number
}

function openPrimary(call: Call, file: Uint8Array): PrimaryImage {
  const { heif } = call
  const bytes = call.store(file)
  const context = heif._heif_context_alloc()
  call.onEnd(() => heif._heif_context_free(context))
  heif._heif_context_set_maximum_image_size_limit(context, MAX_SQUARE_SIDE)
  call.invoke((error) => heif._heif_context_read_from_memory_without_copy(error, context, bytes, file.length, 0))
  const handle = call.invoke((error, answer) => heif._heif_context_get_primary_image_handle(error, context, answer))
  call.onEnd(() => heif._heif_image_handle_release(handle))
  return { context, handle }
}

/** `reserve` sets memory aside for the bitmap. */
function decodePrimary(
  call: Call,
  { context, handle }: PrimaryImage,
  { pixels, reserve }: { pixels: number; reserve: (bytes: number) => void },
): DecodedHeic {
  const { heif } = call
  const space = readSpace(call, handle)
  const tiling = readTiling(call, handle)
  assertTiles(tiling)
  const channels = heif._heif_image_handle_has_alpha_channel(handle) ? 4 : 3
  const decode = (tile?: Tile) => within(heif, (own) => decodePart(own, handle, { channels, space, tile }))
  if (tiling.columns * tiling.rows === 1) {
    // Samples of more than 8 bits are copied before conversion.
    const isDeep = heif._heif_image_handle_get_luma_bits_per_pixel(handle) > 8
    const size = heif._heif_image_handle_get_width(handle) * heif._heif_image_handle_get_height(handle)
    reserve(size * channels * (isSrgb(space) ? 1 : isDeep ? 3 : 2))
    return decode()
  }
  const whole = readView(call, { context, handle, ...tiling })
  const factor = channels === 4 ? 1 : reductionOf(tiling, whole, pixels)
  const view = reducedView(whole, factor)
  const { width, height } = isLying(view) ? { width: view.height, height: view.width } : view
  reserve(width * height * channels)
  const bitmap = { width, height, channels, data: new Uint8Array(width * height * channels) } as const
  for (const tile of tilesIn(tiling, whole)) {
    const part = decode(tile)
    if (part.width !== tiling.tileWidth || part.height !== tiling.tileHeight || part.channels !== channels)
      throw new HeicRefusal('damaged', 'The tiles have different sizes')
    const [x, y] = [tile.column * tiling.tileWidth, tile.row * tiling.tileHeight]
    placeTile(bitmap, part, { x: x / factor - view.left, y: y / factor - view.top, factor, view })
  }
  return bitmap
}

/** Decodes the image or a part of it in sRGB. */
function decodePart(
  call: Call,
  handle: number,
  { channels, space, tile }: { channels: 3 | 4; space: ColourSpace; tile?: Tile },
): DecodedHeic {
  const plain = isSrgb(space)
  const { width, height, ...samples } = decodeSamples(call, handle, { channels, deep: !plain, tile })
  const data = plain && samples.data instanceof Uint8Array ? samples.data : convertToSrgb(samples, space)
  return { width, height, channels, data }
}

/** Tiling of the image as stored, before rotation, mirroring and crop. */
function readTiling(call: Call, handle: number): Tiling {
  const pointer = call.allocate(TILING_BYTES)
  call.invoke((error) => call.heif._heif_image_handle_get_image_tiling(error, handle, 0, pointer))
  const fields = call.read(pointer, TILING_BYTES)
  const [columns, rows, tileWidth, tileHeight, width, height] = Array.from({ length: 6 }, (_, i) =>
    fields.readUInt32LE(4 + 4 * i),
  )
  return { columns, rows, tileWidth, tileHeight, width, height }
}

/** An ICC profile that is unreadable, or of another kind of images, counts as sRGB, like a missing one. */
function readSpace(call: Call, handle: number): ColourSpace {
  const { heif } = call
  const size = heif._heif_image_handle_get_raw_color_profile_size(handle)
  const srgb = { primaries: 1, transfer: 13 }
  if (size === 0) return spaceOfCodePoints(readCodePoints(call, handle) ?? srgb)
  const pointer = call.allocate(size)
  call.invoke((error) => heif._heif_image_handle_get_raw_color_profile(error, handle, pointer))
  const profile = Buffer.from(call.read(pointer, size))
  const isUsed = isProfileOf(profile, isGrey(call, handle) ? 'GRAY' : 'RGB ')
  return (isUsed && readIccProfile(profile)) || spaceOfCodePoints(srgb)
}

function isGrey(call: Call, handle: number): boolean {
  const [space, chroma] = [call.allocate(4), call.allocate(4)]
  call.invoke((error) => call.heif._heif_image_handle_get_preferred_decoding_colorspace(error, handle, space, chroma))
  return call.read(space, 4).readUInt32LE(0) === COLOUR_SPACE_GREY
}

function readCodePoints(call: Call, handle: number): { primaries: number; transfer: number } | null {
  const { heif } = call
  try {
    const profile = call.invoke((error, answer) =>
      heif._heif_image_handle_get_nclx_color_profile(error, handle, answer),
    )
    call.onEnd(() => heif._heif_nclx_color_profile_free(profile))
    const fields = call.read(profile, 12)
    return { primaries: fields.readUInt32LE(4), transfer: fields.readUInt32LE(8) }
  } catch (error) {
    if (error instanceof HeicRefusal) return null
    throw error
  }
}

/** The decoded samples: in the stored bit depth with `deep`, otherwise in 8 bits. */
function decodeSamples(
  call: Call,
  handle: number,
  { channels, deep, tile }: { channels: 3 | 4; deep: boolean; tile?: Tile },
): Samples & { width: number; height: number } {
  const { heif } = call
  const depth = deep && heif._heif_image_handle_get_luma_bits_per_pixel(handle) > 8 ? 'deep' : 'shallow'
  const options = heif._heif_decoding_options_alloc()
  call.onEnd(() => heif._heif_decoding_options_free(options))
  heif.HEAPU8[options + STRICT_DECODING_OFFSET] = 1
  // Tiles are put in their place, turned and cropped, by the caller.
  if (tile) heif.HEAPU8[options + IGNORE_TRANSFORMATIONS_OFFSET] = 1
  const chroma = CHROMA[depth][channels]
  const image = call.invoke((error, answer) =>
    tile
      ? heif._heif_image_handle_decode_image_tile(
          ...([error, handle, answer, COLOUR_SPACE_RGB, chroma, options, tile.column, tile.row] as const),
        )
      : heif._heif_decode_image(error, handle, answer, COLOUR_SPACE_RGB, chroma, options),
  )
  call.onEnd(() => heif._heif_image_release(image))

  const width = heif._heif_image_get_width(image, CHANNEL_INTERLEAVED)
  const height = heif._heif_image_get_height(image, CHANNEL_INTERLEAVED)
  const rowBytes = width * channels * (depth === 'deep' ? 2 : 1)
  const packed = copyRows(call, image, { height, rowBytes })
  const bits = heif._heif_image_get_bits_per_pixel_range(image, CHANNEL_INTERLEAVED)
  const data = depth === 'deep' ? new Uint16Array(packed.buffer) : packed
  if (heif._heif_image_is_premultiplied_alpha(image)) divideByAlpha(data, 2 ** bits - 1)
  return { width, height, channels, bits, data }
}

/** Copies the rows without padding. */
function copyRows(
  call: Call,
  image: number,
  { height, rowBytes }: { height: number; rowBytes: number },
): Uint8Array<ArrayBuffer> {
  const stride = call.allocate(4)
  const plane = call.heif._heif_image_get_plane_readonly2(image, CHANNEL_INTERLEAVED, stride)
  const step = call.read(stride, 4).readUInt32LE(0)
  const packed = new Uint8Array(rowBytes * height)
  const { HEAPU8 } = call.heif
  for (let y = 0; y < height; y++) {
    const start = plane + y * step
    packed.set(HEAPU8.subarray(start, start + rowBytes), y * rowBytes)
  }
  return packed
}

function divideByAlpha(rgba: Uint8Array | Uint16Array, opaque: number): void {
  for (let i = 0; i < rgba.length; i += 4) {
    const alpha = rgba[i + 3]
    if (alpha === 0 || alpha === opaque) continue
    for (let c = i; c < i + 3; c++) rgba[c] = Math.min(opaque, Math.round((rgba[c] * opaque) / alpha))
  }
}
