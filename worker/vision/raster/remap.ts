import { type Window, windowAround } from './crop.ts'
import { createPlane, type Mask, type Pixels, type Plane, type Point, type Size } from './plane.ts'

/** A premultiplied RGBA bitmap in 0 to 255, stored as bytes to save memory. */
export interface Layer extends Size {
  readonly channels: 4
  readonly data: Uint8ClampedArray
}

/** The source point of every pixel in a box of the output. */
export interface BackwardMap {
  readonly box: Window
  /** Source position per pixel of the box; NaN where undefined. */
  readonly x: Float32Array
  readonly y: Float32Array
}

/** An undefined map for the pixels of a `size` bitmap around `points`. */
export function createBackwardMap(points: readonly Point[], margin: number, size: Size): BackwardMap {
  const box = windowAround(points, margin, size)
  const cells = box.width * box.height
  return { box, x: new Float32Array(cells).fill(Number.NaN), y: new Float32Array(cells).fill(Number.NaN) }
}

/**
 * Remaps a premultiplied RGBA source through `map` to a bitmap of `size`: bicubic (Keys 1981, a = −½), transparent outside
 * the source and where the map is undefined.
 */
export function remapCubic(source: Pixels, map: BackwardMap, size: Size): Layer {
  const out = new Uint8ClampedArray(size.width * size.height * 4)
  const taps = { columns: createTaps(source.width, 4), rows: createTaps(source.height, 4 * source.width) }
  for (let row = 0; row < map.box.height; row++) {
    const to = 4 * ((row + map.box.y) * size.width + map.box.x)
    remapRow(source, map, { ...taps, from: row * map.box.width, to, out })
  }
  return { width: size.width, height: size.height, channels: 4, data: out }
}

function remapRow(
  { width, height, data }: Pixels,
  { box, x, y }: BackwardMap,
  {
    columns,
    rows,
    from,
    to: first,
    out,
  }: { columns: Taps; rows: Taps; from: number; to: number; out: Uint8ClampedArray },
): void {
  for (let i = from, to = first; i < from + box.width; i++, to += 4) {
    if (!(x[i] > -2 && y[i] > -2 && x[i] < width + 1 && y[i] < height + 1)) continue
    findTaps(x[i], columns)
    findTaps(y[i], rows)
    const w0 = columns.weights[0]
    const w1 = columns.weights[1]
    const w2 = columns.weights[2]
    const w3 = columns.weights[3]
    let r = 0
    let g = 0
    let b = 0
    let a = 0
    for (let v = 0; v < 4; v++) {
      const weight = rows.weights[v]
      const p = rows.offsets[v] + columns.offsets[0]
      const q = rows.offsets[v] + columns.offsets[1]
      const s = rows.offsets[v] + columns.offsets[2]
      const t = rows.offsets[v] + columns.offsets[3]
      r += weight * (w0 * data[p] + w1 * data[q] + w2 * data[s] + w3 * data[t])
      g += weight * (w0 * data[p + 1] + w1 * data[q + 1] + w2 * data[s + 1] + w3 * data[t + 1])
      b += weight * (w0 * data[p + 2] + w1 * data[q + 2] + w2 * data[s + 2] + w3 * data[t + 2])
      a += weight * (w0 * data[p + 3] + w1 * data[q + 3] + w2 * data[s + 3] + w3 * data[t + 3])
    }
    // The kernel's negative lobes must not make colours brighter than their alpha permits.
    const alpha = Math.min(Math.max(a, 0), 255)
    out[to] = Math.min(Math.max(r, 0), alpha)
    out[to + 1] = Math.min(Math.max(g, 0), alpha)
    out[to + 2] = Math.min(Math.max(b, 0), alpha)
    out[to + 3] = alpha
  }
}

/** Remaps a plane or a mask through `map`, bilinear, for the pixels of the map's box; 0 where the map is undefined. */
export function remapPlane({ width, height, data }: Plane | Mask, { box, x, y }: BackwardMap): Plane {
  const out = createPlane(box)
  for (let i = 0; i < out.data.length; i++) {
    if (!(x[i] >= 0 && y[i] >= 0 && x[i] <= width - 1 && y[i] <= height - 1)) continue
    const x0 = Math.min(x[i] | 0, width - 2)
    const y0 = Math.min(y[i] | 0, height - 2)
    const fx = x[i] - x0
    const fy = y[i] - y0
    const at = y0 * width + x0
    const upper = data[at] + (data[at + 1] - data[at]) * fx
    const lower = data[at + width] + (data[at + width + 1] - data[at + width]) * fx
    out.data[i] = upper + (lower - upper) * fy
  }
  return out
}

interface Taps {
  readonly count: number
  readonly stride: number
  readonly offsets: Int32Array
  readonly weights: Float64Array
}

function createTaps(count: number, stride: number): Taps {
  return { count, stride, offsets: new Int32Array(4), weights: new Float64Array(4) }
}

// The four neighbours of a position and the weights of Keys' cubic convolution kernel; 0 for neighbours outside the source.
function findTaps(position: number, { count, stride, offsets, weights }: Taps): void {
  const first = Math.floor(position) - 1
  const t = position - first - 1
  weights[0] = t * (-0.5 + t * (1 - 0.5 * t))
  weights[1] = 1 + t * t * (-2.5 + 1.5 * t)
  weights[2] = t * (0.5 + t * (2 - 1.5 * t))
  weights[3] = t * t * (-0.5 + 0.5 * t)
  for (let k = 0; k < 4; k++) {
    const index = first + k
    if (index < 0 || index >= count) weights[k] = 0
    offsets[k] = stride * Math.min(Math.max(index, 0), count - 1)
  }
}
