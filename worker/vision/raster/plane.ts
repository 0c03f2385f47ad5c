/** One value per pixel, row-major, height × width. */
export interface Plane {
  readonly width: number
  readonly height: number
  readonly data: Float32Array
}

/** Boolean per pixel: 0 or 1, row-major, height × width. */
export interface Mask {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** Colour per pixel, interleaved, height × width × channels. The creator defines the units: RGB in 0 to 255, or CIE Lab. */
export interface Colours {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Float32Array
}

/** `Colours` that can be stored as bytes, in a quarter of the memory: RGB or premultiplied RGBA in 0 to 255. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Float32Array | Uint8ClampedArray
}

/** Decoded pixels: sRGB, 8 bits, interleaved, height × width × channels (3 = RGB, 4 = RGB with straight alpha). */
export interface Bitmap {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Uint8Array
}

/** A size in px. Objects of the same size can be combined pixel by pixel. */
export interface Size {
  readonly width: number
  readonly height: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

export function createPlane({ width, height }: Size, value = 0): Plane {
  const data = new Float32Array(width * height)
  if (value !== 0) data.fill(value)
  return { width, height, data }
}

export function createMask({ width, height }: Size): Mask {
  return { width, height, data: new Uint8Array(width * height) }
}

/** Pixels for which `test(index)` is true. */
export function maskWhere({ width, height }: Size, test: (index: number) => boolean): Mask {
  const data = new Uint8Array(width * height)
  for (let i = 0; i < data.length; i++) data[i] = test(i) ? 1 : 0
  return { width, height, data }
}

/** Pixels of the mask for which `test(index)` is true; calls `test` only inside the mask. */
export function subset(mask: Mask, test: (index: number) => boolean): Mask {
  const { width, height, data } = mask
  const out = new Uint8Array(data.length)
  for (let i = 0; i < data.length; i++) if (data[i] !== 0 && test(i)) out[i] = 1
  return { width, height, data: out }
}

export function longSide({ width, height }: Size): number {
  return Math.max(width, height)
}

// The following functions are called with every bitmap, so that V8 compiles each of them once. A function that is passed to `maskWhere`
// or `subset` is compiled separately, and called for every pixel.

/** The pixels that are set in any of the masks. */
export function union(first: Mask, ...others: readonly Mask[]): Mask {
  const out = copyMask(first)
  for (const other of others) addPixels(out.data, other.data)
  return out
}

/** The pixels that are set in all masks. */
export function intersect(first: Mask, ...others: readonly Mask[]): Mask {
  const out = copyMask(first)
  for (const other of others) keepPixels(out.data, other.data)
  return out
}

/** The pixels of the mask that are set in none of the others. */
export function without(mask: Mask, ...others: readonly Mask[]): Mask {
  const out = copyMask(mask)
  for (const other of others) removePixels(out.data, other.data)
  return out
}

function copyMask({ width, height, data }: Mask): Mask {
  return { width, height, data: new Uint8Array(data) }
}

// Four pixels at a time take a fifth of the time. The last of them are an incomplete word.
function wordsOf({ buffer, byteOffset, length }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length >> 2)
}

function addPixels(data: Uint8Array, other: Uint8Array): void {
  const [words, others] = [wordsOf(data), wordsOf(other)]
  for (let i = 0; i < words.length; i++) words[i] |= others[i]
  for (let i = 4 * words.length; i < data.length; i++) data[i] |= other[i]
}

function keepPixels(data: Uint8Array, other: Uint8Array): void {
  const [words, others] = [wordsOf(data), wordsOf(other)]
  for (let i = 0; i < words.length; i++) words[i] &= others[i]
  for (let i = 4 * words.length; i < data.length; i++) data[i] &= other[i]
}

function removePixels(data: Uint8Array, other: Uint8Array): void {
  const [words, others] = [wordsOf(data), wordsOf(other)]
  for (let i = 0; i < words.length; i++) words[i] &= ~others[i]
  for (let i = 4 * words.length; i < data.length; i++) data[i] &= ~other[i]
}

/** The pixels of the mask with a value over `over` and under `under`. */
export function withValue(
  mask: Mask,
  { data: values }: Plane,
  { over = Number.NEGATIVE_INFINITY, under = Number.POSITIVE_INFINITY }: { over?: number; under?: number },
): Mask {
  const { width, height, data } = mask
  const out = new Uint8Array(data.length)
  for (let i = 0; i < out.length; i++) if (data[i] !== 0 && values[i] > over && values[i] < under) out[i] = 1
  return { width, height, data: out }
}

/** The pixels with this label. */
export function withLabel({ width, height }: Size, labels: Uint8Array, label: number): Mask {
  const out = new Uint8Array(labels.length)
  for (let i = 0; i < out.length; i++) out[i] = labels[i] === label ? 1 : 0
  return { width, height, data: out }
}

/** The pixels that are not set. */
export function invert({ width, height, data }: Mask): Mask {
  const out = new Uint8Array(data.length).fill(1)
  removePixels(out, data)
  return { width, height, data: out }
}

export function threshold(plane: Plane, above: number): Mask {
  const mask = createMask(plane)
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = plane.data[i] > above ? 1 : 0
  return mask
}

export function below(plane: Plane, limit: number): Mask {
  const mask = createMask(plane)
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = plane.data[i] < limit ? 1 : 0
  return mask
}

export function maskToPlane(mask: Mask): Plane {
  return { width: mask.width, height: mask.height, data: new Float32Array(mask.data) }
}

export function countSet(mask: Mask): number {
  let n = 0
  for (let i = 0; i < mask.data.length; i++) n += mask.data[i]
  return n
}

export function sumOf({ data }: Plane): number {
  let total = 0
  for (let i = 0; i < data.length; i++) total += data[i]
  return total
}

/** The bitmap's first three channels as floats in 0 to 255. */
export function bitmapToColours(bitmap: Bitmap): Colours {
  const { width, height, channels, data } = bitmap
  const out = new Float32Array(width * height * 3)
  for (let i = 0, j = 0; j < out.length; i += channels, j += 3) {
    out[j] = data[i]
    out[j + 1] = data[i + 1]
    out[j + 2] = data[i + 2]
  }
  return { width, height, channels: 3, data: out }
}

/** Floats in 0 to 255, rounded and clamped, as a bitmap. */
export function coloursToBitmap({ data, ...size }: Colours): Bitmap {
  const bytes = new Uint8ClampedArray(data.length)
  for (let i = 0; i < data.length; i++) bytes[i] = data[i]
  return { ...size, data: new Uint8Array(bytes.buffer) }
}

/** One channel of an interleaved bitmap, times `scale`, as a separate plane. */
export function channelOf(colours: Colours, channel: number, scale = 1): Plane {
  const { width, height, channels, data } = colours
  const out = new Float32Array(width * height)
  for (let i = 0, j = channel; i < out.length; i++, j += channels) out[i] = scale * data[j]
  return { width, height, data: out }
}
