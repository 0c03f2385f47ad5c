import type { Rectangle } from '../../../api/shared/image.ts'
import type { Plane, Size } from '../../raster/plane.ts'
import { resizeAreaPlane } from '../../raster/sample.ts'
import { type Bytes, createBytes } from '../diffusion/bytes.ts'
import { resizeLanczos } from '../diffusion/resize-lanczos.ts'

/**
 * The part of a bitmap that the model draws, with the aspect of the canvas and around `needed`: as large as fits into the bitmap.
 * Extends beyond the bitmap only if `needed` requires a larger window. In px of the bitmap.
 */
export function windowAround(bitmap: Size, needed: Rectangle, canvas: Size): Rectangle {
  const aspect = canvas.width / canvas.height
  const inside = Math.min(bitmap.width, bitmap.height * aspect)
  const exact = Math.max(inside, needed.width, needed.height * aspect)
  const [width, height] = [Math.round(exact), Math.round(exact / aspect)]
  return {
    x: startOf(needed.x + needed.width / 2, width, bitmap.width),
    y: startOf(needed.y + needed.height / 2, height, bitmap.height),
    width,
    height,
  }
}

function startOf(centre: number, length: number, whole: number): number {
  if (length >= whole) return (whole - length) >> 1
  return Math.min(Math.max(Math.round(centre - length / 2), 0), whole - length)
}

/** The window, resized to the canvas. Replicates the border pixels beyond the edge of the bitmap. */
export function showOnCanvas(bitmap: Bytes, window: Rectangle, canvas: Size): Bytes {
  return resizeLanczos(cut(bitmap, window), canvas)
}

/** The window of a plane, resized to the canvas; 0 beyond the edge of the plane. */
export function planeOnCanvas(plane: Plane, window: Rectangle, canvas: Size): Plane {
  const part = new Float32Array(window.width * window.height)
  forEachRow(plane, window, ({ from, to, length }) => part.set(plane.data.subarray(from, from + length), to))
  return resizeAreaPlane({ width: window.width, height: window.height, data: part }, canvas)
}

/** Pastes the drawn canvas into the window of the bitmap. */
export function placeFromCanvas(bitmap: Bytes, drawn: Bytes, window: Rectangle): Bytes {
  const part = resizeLanczos(drawn, window)
  const out = { ...bitmap, data: new Uint8Array(bitmap.data) }
  forEachRow(bitmap, window, ({ from, to, length }) =>
    out.data.set(part.data.subarray(3 * to, 3 * (to + length)), 3 * from),
  )
  return out
}

function cut({ width, height, channels, data }: Bytes, window: Rectangle): Bytes {
  const out = createBytes(window, channels)
  for (let y = 0, to = 0; y < window.height; y++) {
    const row = Math.min(Math.max(window.y + y, 0), height - 1) * width
    for (let x = 0; x < window.width; x++) {
      const from = (row + Math.min(Math.max(window.x + x, 0), width - 1)) * channels
      for (let c = 0; c < channels; c++, to++) out.data[to] = data[from + c]
    }
  }
  return out
}

/** The rows that bitmap and window share: the start in each, and the length. */
function forEachRow(
  { width, height }: Size,
  window: Rectangle,
  visit: (row: { from: number; to: number; length: number }) => void,
): void {
  const [left, right] = [Math.max(0, window.x), Math.min(width, window.x + window.width)]
  const bottom = Math.min(height, window.y + window.height)
  for (let y = Math.max(0, window.y); y < bottom; y++)
    visit({ from: y * width + left, to: (y - window.y) * window.width + left - window.x, length: right - left })
}
