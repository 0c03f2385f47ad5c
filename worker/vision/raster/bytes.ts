import type { Bitmap, Size } from './plane.ts'

/** A bitmap with any number of 8-bit channels, interleaved, height × width × channels. */
export interface Bytes {
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly data: Uint8Array
}

export function createBytes({ width, height }: Size, channels: number): Bytes {
  return { width, height, channels, data: new Uint8Array(width * height * channels) }
}

/** The bitmap composited on white, in 3 channels. */
export function onWhite({ width, height, channels, data }: Bitmap): Bitmap {
  if (channels === 3) return { width, height, channels, data }
  const out: Bitmap = { width, height, channels: 3, data: new Uint8Array(3 * width * height) }
  for (let from = 0, to = 0; from < data.length; from += 4, to += 3) {
    const alpha = data[from + 3] / 255
    for (let c = 0; c < 3; c++) out.data[to + c] = Math.round(data[from + c] * alpha + 255 * (1 - alpha))
  }
  return out
}
