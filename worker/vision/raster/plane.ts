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

export function longSide({ width, height }: Size): number {
  return Math.max(width, height)
}

export function maskToPlane(mask: Mask): Plane {
  return { width: mask.width, height: mask.height, data: new Float32Array(mask.data) }
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

/** Changes every channel as a plane; all results have the same size. */
export function mapChannels(colours: Colours, change: (channel: Plane) => Plane): Colours {
  const { channels } = colours
  const planes = Array.from({ length: channels }, (_, c) => change(channelOf(colours, c)))
  const { width, height } = planes[0]
  const data = new Float32Array(width * height * channels)
  for (const [c, plane] of planes.entries())
    for (let i = 0, to = c; to < data.length; i++, to += channels) data[to] = plane.data[i]
  return { width, height, channels, data }
}
