import { type Bitmap, type Colours, createPlane, type Pixels, type Plane, type Point, type Size } from './plane.ts'

/** Affine map of points: x' = a·x + b·y + c, y' = d·x + e·y + f. Pixel centres have integer coordinates. */
export type Affine = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

export function applyAffine([a, b, c, d, e, f]: Affine, { x, y }: Point): Point {
  return { x: a * x + b * y + c, y: d * x + e * y + f }
}

/** The inverse of `map`. */
export function invertAffine([a, b, c, d, e, f]: Affine): Affine {
  const det = a * e - b * d
  return [e / det, -b / det, (b * f - c * e) / det, -d / det, a / det, (c * d - a * f) / det]
}

/** Applies `first`, then `second`. */
export function composeAffine(second: Affine, first: Affine): Affine {
  const [a, b, c, d, e, f] = second
  const [p, q, r, s, t, u] = first
  return [a * p + b * s, a * q + b * t, a * r + b * u + c, d * p + e * s, d * q + e * t, d * r + e * u + f]
}

/** Value between pixels. Outside the plane the border is replicated. */
export function sampleBilinear({ width, height, data }: Plane, x: number, y: number): number {
  const cx = Math.min(Math.max(x, 0), width - 1)
  const cy = Math.min(Math.max(y, 0), height - 1)
  const x0 = Math.min(cx | 0, Math.max(0, width - 2))
  const y0 = Math.min(cy | 0, Math.max(0, height - 2))
  const fx = cx - x0
  const fy = cy - y0
  const i = y0 * width + x0
  const right = width > 1 ? 1 : 0
  const down = height > 1 ? width : 0
  const top = data[i] + (data[i + right] - data[i]) * fx
  const bottom = data[i + down] + (data[i + down + right] - data[i + down]) * fx
  return top + (bottom - top) * fy
}

/** The two inputs around each output along one side, and the weight of the second. */
export interface LinearTaps {
  readonly first: Int32Array
  readonly second: Int32Array
  readonly share: Float32Array
}

/** Linear interpolation along one side with half-pixel centres. An output covers `step` inputs. */
export function linearTaps(from: number, to: number, step = from / to): LinearTaps {
  const taps = { first: new Int32Array(to), second: new Int32Array(to), share: new Float32Array(to) }
  for (let i = 0; i < to; i++) {
    const at = Math.min(Math.max((i + 0.5) * step - 0.5, 0), from - 1)
    taps.first[i] = at
    taps.second[i] = Math.min(taps.first[i] + 1, from - 1)
    taps.share[i] = at - taps.first[i]
  }
  return taps
}

/** Bilinear resize with half-pixel centres, for enlarging. `step`: see `linearTaps`. To reduce, use `resizeArea`. */
export function resizeBilinear(plane: Plane, size: Size, step?: number): Plane {
  const { width, height } = plane
  if (size.width === width && size.height === height) return plane
  const out = createPlane(size)
  const columns = linearTaps(width, size.width, step)
  const rows = linearTaps(height, size.height, step)
  const row = new Float32Array(width)
  for (let y = 0, to = 0; y < size.height; y++) {
    mixRows(row, plane, { rows, y })
    for (let x = 0; x < size.width; x++, to++) {
      const left = row[columns.first[x]]
      out.data[to] = left + (row[columns.second[x]] - left) * columns.share[x]
    }
  }
  return out
}

/** The plane's values between two of its rows, in its columns `first` to `last`. */
export function mixRows(
  row: Float32Array,
  { width, data }: Plane,
  { rows, y, first = 0, last = width - 1 }: { rows: LinearTaps; y: number; first?: number; last?: number },
): void {
  const [upper, lower, share] = [rows.first[y] * width, rows.second[y] * width, rows.share[y]]
  for (let x = first; x <= last; x++) row[x] = data[upper + x] + (data[lower + x] - data[upper + x]) * share
}

/** Resize by area averaging, for reducing. Any channel count, interleaved. */
export function resizeArea(
  {
    width,
    height,
    channels,
    data,
  }: Size & {
    readonly channels: number
    readonly data: Float32Array | Uint8Array | Uint8ClampedArray
  },
  size: Size,
): Float32Array {
  if (size.width === width && size.height === height) return new Float32Array(data)
  const stride = width * channels
  const columns = areaTaps(width, size.width)
  const rows = areaTaps(height, size.height)
  const row = new Float32Array(stride)
  // A copy of the input's row in one type of array: V8 is slower if a loop reads several.
  const line = new Float32Array(stride)
  const out = new Float32Array(size.width * size.height * channels)
  for (let y = 0; y < size.height; y++) {
    row.fill(0)
    for (let k = rows.first[y]; k < rows.first[y + 1]; k++) {
      const from = (rows.start[y] + k - rows.first[y]) * stride
      line.set(data.subarray(from, from + stride))
      addWeighted(row, line, rows.weights[k])
    }
    const reduced = out.subarray(y * size.width * channels, (y + 1) * size.width * channels)
    if (channels === 3) reduceColours(row, columns, reduced)
    else for (let c = 0; c < channels; c++) reduceChannel(row, columns, { out: reduced, channels, c })
  }
  return out
}

function addWeighted(sums: Float32Array, values: Float32Array, weight: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] += weight * values[i]
}

// One row of three channels, unrolled: a loop over the channels takes more than twice as long in V8.
function reduceColours(row: Float32Array, { start, first, weights }: Taps, out: Float32Array): void {
  for (let x = 0, to = 0; x < start.length; x++, to += 3) {
    let red = 0
    let green = 0
    let blue = 0
    for (let k = first[x], at = start[x] * 3; k < first[x + 1]; k++, at += 3) {
      const weight = weights[k]
      red += weight * row[at]
      green += weight * row[at + 1]
      blue += weight * row[at + 2]
    }
    out[to] = red
    out[to + 1] = green
    out[to + 2] = blue
  }
}

function reduceChannel(
  row: Float32Array,
  { start, first, weights }: Taps,
  { out, channels, c }: { out: Float32Array; channels: number; c: number },
): void {
  for (let x = 0, to = c; x < start.length; x++, to += channels) {
    let sum = 0
    for (let k = first[x], at = start[x] * channels + c; k < first[x + 1]; k++, at += channels)
      sum += weights[k] * row[at]
    out[to] = sum
  }
}

export function resizeAreaPlane(plane: Plane, size: Size): Plane {
  return { width: size.width, height: size.height, data: resizeArea({ ...plane, channels: 1 }, size) }
}

export function resizeAreaColours(colours: Pixels | Bitmap, size: Size): Colours {
  return { width: size.width, height: size.height, channels: colours.channels, data: resizeArea(colours, size) }
}

/** Samples every output pixel from the position in the input that `map` (output → input) returns, bilinear; 0 outside the input. */
export function warpAffinePlane(input: Plane, map: Affine, size: Size): Plane {
  const out = createPlane(size)
  for (let y = 0; y < size.height; y++) warpRow(input, map, { y, out })
  return out
}

function warpRow({ width, height, data }: Plane, map: Affine, { y, out }: { y: number; out: Plane }): void {
  const [a, b, c, d, e, f] = map
  for (let x = 0, to = y * out.width; x < out.width; x++, to++) {
    const u = a * x + b * y + c
    const v = d * x + e * y + f
    const x0 = Math.floor(u)
    const y0 = Math.floor(v)
    if (x0 < -1 || y0 < -1 || x0 >= width || y0 >= height) continue
    const fx = u - x0
    const fy = v - y0
    const at = y0 * width + x0
    const isRight = x0 + 1 < width
    const isBelow = y0 + 1 < height
    const upperLeft = x0 >= 0 && y0 >= 0 ? data[at] : 0
    const upperRight = isRight && y0 >= 0 ? data[at + 1] : 0
    const lowerLeft = x0 >= 0 && isBelow ? data[at + width] : 0
    const lowerRight = isRight && isBelow ? data[at + width + 1] : 0
    const top = upperLeft * (1 - fx) + upperRight * fx
    const bottom = lowerLeft * (1 - fx) + lowerRight * fx
    out.data[to] = top * (1 - fy) + bottom * fy
  }
}

interface Taps {
  /** First input cell of every output cell. */
  readonly start: Int32Array
  /** Index into `weights` of every output cell's first weight; one more entry than cells. */
  readonly first: Int32Array
  readonly weights: Float64Array
}

// The input cells that each output cell covers, with weights that sum to 1.
function areaTaps(from: number, to: number): Taps {
  const ratio = from / to
  const start = new Int32Array(to)
  const first = new Int32Array(to + 1)
  const weights: number[] = []
  for (let o = 0; o < to; o++) {
    const left = o * ratio
    const right = Math.min(from, left + ratio)
    start[o] = Math.floor(left)
    for (let i = start[o]; i < Math.ceil(right - 1e-9); i++) {
      weights.push((Math.min(right, i + 1) - Math.max(left, i)) / (right - left))
    }
    first[o + 1] = weights.length
  }
  return { start, first, weights: Float64Array.from(weights) }
}
