import { type ColourSpace, convertToSrgb, isSrgb, type Samples, spaceOfCodePoints } from './colour-space.ts'
import { readIccProfile } from './icc-profile.ts'
import { type Libheif, openLibheif } from './libheif.ts'

/** A picture upright, in sRGB, 8 bits, interleaved RGB or RGB with straight alpha. */
export interface DecodedHeic {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Uint8Array
}

/** What is wrong with a file, in the words of the library. Any other error leaves the library unusable. */
export class HeicRefusal extends Error {
  readonly reason: 'damaged' | 'too large'

  constructor(reason: HeicRefusal['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** `heif_error_Memory_allocation_error`. */
const MEMORY_ERROR = 6
const COLOUR_SPACE_RGB = 1
const CHANNEL_INTERLEAVED = 10
/** `heif_chroma_interleaved_RGB` and `…_RGBA`; for more than 8 bits `…_RRGGBB_LE` and `…_RRGGBBAA_LE`. */
const CHROMA = { shallow: { 3: 10, 4: 11 }, deep: { 3: 14, 4: 15 } } as const
/** `heif_decoding_options.strict_decoding`: without it, missing parts of a picture are filled with green. */
const STRICT_DECODING_OFFSET = 21
/** 50 megapixels, and the blocks that a coder adds at the borders. */
const MAX_SQUARE_SIDE = 7_200

export interface HeicDecoder {
  /**
   * The primary picture of a HEIC file, upright by the file's own rotation and mirroring (its EXIF orientation says the same
   * once more and is not applied), cropped as it asks, converted to sRGB. Blocks the thread.
   * @throws HeicRefusal when the file is damaged, incomplete, coded in another way than HEVC, or needs too much memory.
   */
  decode(file: Uint8Array): DecodedHeic
}

/** Opens libheif with at most `memoryBytes` of memory of its own. */
export function createHeicDecoder({ memoryBytes }: { memoryBytes: number }): HeicDecoder {
  const heif = openLibheif(memoryBytes)
  return {
    decode: (file) => {
      const call = new Call(heif)
      try {
        return decodePrimary(call, file)
      } finally {
        call.end()
      }
    },
  }
}

/** The memory and objects of the library that one decoding uses. */
class Call {
  readonly heif: Libheif
  readonly #undos: (() => void)[] = []
  readonly #error: number
  readonly #answer: number

  constructor(heif: Libheif) {
    this.heif = heif
    this.#error = this.allocate(12)
    this.#answer = this.allocate(4)
  }

  onEnd(undo: () => void): void {
    this.#undos.push(undo)
  }

  end(): void {
    for (const undo of this.#undos.reverse()) undo()
  }

  allocate(bytes: number): number {
    const pointer = this.heif._malloc(bytes)
    if (pointer === 0) throw new HeicRefusal('too large', 'There is not enough memory for it')
    this.onEnd(() => this.heif._free(pointer))
    return pointer
  }

  store(bytes: Uint8Array): number {
    const pointer = this.allocate(bytes.length)
    this.heif.HEAPU8.set(bytes, pointer)
    return pointer
  }

  read(pointer: number, bytes: number): Buffer<ArrayBuffer> {
    return Buffer.from(this.heif.HEAPU8.buffer, pointer, bytes)
  }

  /** What a function of the library writes to its last pointer. */
  ask(run: (error: number, answer: number) => void): number {
    run(this.#error, this.#answer)
    const error = this.read(this.#error, 12)
    const code = error.readUInt32LE(0)
    if (code !== 0) {
      throw new HeicRefusal(code === MEMORY_ERROR ? 'too large' : 'damaged', this.#textAt(error.readUInt32LE(8)))
    }
    return this.read(this.#answer, 4).readUInt32LE(0)
  }

  #textAt(pointer: number): string {
    const text = this.read(pointer, 200)
    return text.toString('latin1', 0, text.indexOf(0)).trim()
  }
}

function decodePrimary(call: Call, file: Uint8Array): DecodedHeic {
  const { heif } = call
  const bytes = call.store(file)
  const context = heif._heif_context_alloc()
  call.onEnd(() => heif._heif_context_free(context))
  heif._heif_context_set_maximum_image_size_limit(context, MAX_SQUARE_SIDE)
  call.ask((error) => heif._heif_context_read_from_memory_without_copy(error, context, bytes, file.length, 0))
  const handle = call.ask((error, answer) => heif._heif_context_get_primary_image_handle(error, context, answer))
  call.onEnd(() => heif._heif_image_handle_release(handle))

  const space = readSpace(call, handle)
  const plain = isSrgb(space)
  const { width, height, ...samples } = decodeSamples(call, handle, { deep: !plain })
  if (plain && samples.data instanceof Uint8Array)
    return { width, height, channels: samples.channels, data: samples.data }
  return { width, height, channels: samples.channels, data: convertToSrgb(samples, space) }
}

/** An ICC profile that cannot be read counts as sRGB, like none at all. */
function readSpace(call: Call, handle: number): ColourSpace {
  const { heif } = call
  const size = heif._heif_image_handle_get_raw_color_profile_size(handle)
  const srgb = { primaries: 1, transfer: 13 }
  if (size === 0) return spaceOfCodePoints(readCodePoints(call, handle) ?? srgb)
  const pointer = call.allocate(size)
  call.ask((error) => heif._heif_image_handle_get_raw_color_profile(error, handle, pointer))
  return readIccProfile(Buffer.from(call.read(pointer, size))) ?? spaceOfCodePoints(srgb)
}

function readCodePoints(call: Call, handle: number): { primaries: number; transfer: number } | null {
  const { heif } = call
  try {
    const profile = call.ask((error, answer) => heif._heif_image_handle_get_nclx_color_profile(error, handle, answer))
    call.onEnd(() => heif._heif_nclx_color_profile_free(profile))
    const fields = call.read(profile, 12)
    return { primaries: fields.readUInt32LE(4), transfer: fields.readUInt32LE(8) }
  } catch (error) {
    if (error instanceof HeicRefusal) return null
    throw error
  }
}

/** The decoded picture; with `deep`, in as many bits as it was stored in, otherwise in 8. */
function decodeSamples(
  call: Call,
  handle: number,
  { deep }: { deep: boolean },
): Samples & { width: number; height: number } {
  const { heif } = call
  const channels = heif._heif_image_handle_has_alpha_channel(handle) ? 4 : 3
  const depth = deep && heif._heif_image_handle_get_luma_bits_per_pixel(handle) > 8 ? 'deep' : 'shallow'
  const options = heif._heif_decoding_options_alloc()
  call.onEnd(() => heif._heif_decoding_options_free(options))
  heif.HEAPU8[options + STRICT_DECODING_OFFSET] = 1
  const image = call.ask((error, answer) =>
    heif._heif_decode_image(error, handle, answer, COLOUR_SPACE_RGB, CHROMA[depth][channels], options),
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

/** The rows without what pads them, in memory of their own. */
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
