import type { Colours, Mask, Plane, Point, Size } from './plane.ts'

/** A rectangle of whole px inside a bitmap. */
export interface Window {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export function cropPlane({ width, data }: Plane | Mask, window: Window): Plane {
  const out = new Float32Array(window.width * window.height)
  copyRows(data, out, { window, stride: width, channels: 1 })
  return { width: window.width, height: window.height, data: out }
}

export function cropMask({ width, data }: Mask, window: Window): Mask {
  const out = new Uint8Array(window.width * window.height)
  copyRows(data, out, { window, stride: width, channels: 1 })
  return { width: window.width, height: window.height, data: out }
}

export function cropColours({ width, channels, data }: Colours, window: Window): Colours {
  const out = new Float32Array(window.width * window.height * channels)
  copyRows(data, out, { window, stride: width, channels })
  return { width: window.width, height: window.height, channels, data: out }
}

function copyRows(
  from: Float32Array | Uint8Array,
  to: Float32Array | Uint8Array,
  { window, stride, channels }: { window: Window; stride: number; channels: number },
): void {
  const length = window.width * channels
  for (let row = 0; row < window.height; row++) {
    const start = ((window.y + row) * stride + window.x) * channels
    to.set(from.subarray(start, start + length), row * length)
  }
}

/** The whole pixels of a bitmap of this size within `margin` px of the bounds of the points; can be empty. */
export function windowAround(points: readonly Point[], margin: number, size: Size): Window {
  const x = Math.max(0, Math.floor(Math.min(...points.map((point) => point.x)) - margin))
  const y = Math.max(0, Math.floor(Math.min(...points.map((point) => point.y)) - margin))
  const right = Math.min(size.width, Math.ceil(Math.max(...points.map((point) => point.x)) + margin) + 1)
  const bottom = Math.min(size.height, Math.ceil(Math.max(...points.map((point) => point.y)) + margin) + 1)
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) }
}

/** The smallest window around the pixels with a value over `above`; null if there is none. */
export function boundsOf(
  { width, height, data }: Size & { readonly data: ArrayLike<number> },
  above = 0,
): Window | null {
  let left = width
  let top = height
  let right = 0
  let bottom = 0
  // Columns within the bounds found so far cannot extend them: search each row only outside these columns.
  for (let y = 0, row = 0; y < height; y++, row += width) {
    let x = 0
    while (x < width && !(data[row + x] > above)) x++
    if (x === width) continue
    if (x < left) left = x
    if (y < top) top = y
    bottom = y + 1
    let end = width
    while (end > right && !(data[row + end - 1] > above)) end--
    if (end > right) right = end
  }
  return right > left ? { x: left, y: top, width: right - left, height: bottom - top } : null
}
