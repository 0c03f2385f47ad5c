import { type Bitmap, type Colours, createPlane, type Plane, type Point, type Size } from './plane.ts'

/** Affine map of points: x' = a·x + b·y + c, y' = d·x + e·y + f. Pixel centres lie at whole numbers. */
export type Affine = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

export function applyAffine([a, b, c, d, e, f]: Affine, { x, y }: Point): Point {
  return { x: a * x + b * y + c, y: d * x + e * y + f }
}

/** The map that undoes `map`. */
export function invertAffine([a, b, c, d, e, f]: Affine): Affine {
  const det = a * e - b * d
  return [e / det, -b / det, (b * f - c * e) / det, -d / det, a / det, (c * d - a * f) / det]
}

/** `second` after `first`. */
export function composeAffine(second: Affine, first: Affine): Affine {
  const [a, b, c, d, e, f] = second
  const [p, q, r, s, t, u] = first
  return [a * p + b * s, a * q + b * t, a * r + b * u + c, d * p + e * s, d * q + e * t, d * r + e * u + f]
}

/** Value between pixels; outside of the plane the border is replicated. */
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

/** Bilinear resize with half-pixel centres; meant for enlarging (see `resizeArea`). */
export function resizeBilinear(plane: Plane, size: Size): Plane {
  if (size.width === plane.width && size.height === plane.height) return plane
  const out = createPlane(size)
  const sx = plane.width / size.width
  const sy = plane.height / size.height
  const { width, height, data } = plane
  const lefts = new Int32Array(size.width)
  const rights = new Int32Array(size.width)
  const fractions = new Float32Array(size.width)
  for (let x = 0; x < size.width; x++) {
    const u = Math.min(Math.max((x + 0.5) * sx - 0.5, 0), width - 1)
    lefts[x] = u | 0
    rights[x] = Math.min(lefts[x] + 1, width - 1)
    fractions[x] = u - lefts[x]
  }
  for (let y = 0; y < size.height; y++) {
    const v = Math.min(Math.max((y + 0.5) * sy - 0.5, 0), height - 1)
    const y0 = v | 0
    const upper = y0 * width
    const lower = Math.min(y0 + 1, height - 1) * width
    const fy = v - y0
    for (let x = 0; x < size.width; x++) {
      const fx = fractions[x]
      const top = data[upper + lefts[x]] + (data[upper + rights[x]] - data[upper + lefts[x]]) * fx
      const bottom = data[lower + lefts[x]] + (data[lower + rights[x]] - data[lower + lefts[x]]) * fx
      out.data[y * size.width + x] = top + (bottom - top) * fy
    }
  }
  return out
}

/** Resize that averages the covered area: for reducing. Any channel count, interleaved. */
export function resizeArea(
  { width, height, channels, data }: { width: number; height: number; channels: number; data: ArrayLike<number> },
  size: Size,
): Float32Array {
  const rows = new Float32Array(size.width * height * channels)
  for (const [x, taps] of areaTaps(width, size.width).entries()) {
    for (let y = 0; y < height; y++) {
      const to = (y * size.width + x) * channels
      for (const [from, weight] of taps) {
        const at = (y * width + from) * channels
        for (let c = 0; c < channels; c++) rows[to + c] += weight * data[at + c]
      }
    }
  }
  const out = new Float32Array(size.width * size.height * channels)
  const stride = size.width * channels
  for (const [y, taps] of areaTaps(height, size.height).entries()) {
    for (const [from, weight] of taps) {
      for (let i = 0; i < stride; i++) out[y * stride + i] += weight * rows[from * stride + i]
    }
  }
  return out
}

export function resizeAreaPlane(plane: Plane, size: Size): Plane {
  return { width: size.width, height: size.height, data: resizeArea({ ...plane, channels: 1 }, size) }
}

export function resizeAreaColours(colours: Colours | Bitmap, size: Size): Colours {
  return { width: size.width, height: size.height, channels: colours.channels, data: resizeArea(colours, size) }
}

/**
 * Pulls every output pixel from where `map` (output pixel → input pixel) points, bilinear. Outside of the input:
 * the nearest border pixel, or 0 with `border: 'zero'`.
 */
export function warpAffine(
  input: Colours | Bitmap,
  map: Affine,
  { size, border }: { size: Size; border: 'replicate' | 'zero' },
): Colours {
  const { width, height, channels, data } = input
  const out = new Float32Array(size.width * size.height * channels)
  const [a, b, c, d, e, f] = map
  for (let y = 0; y < size.height; y++) {
    for (let x = 0; x < size.width; x++) {
      const u = a * x + b * y + c
      const v = d * x + e * y + f
      const x0 = Math.floor(u)
      const y0 = Math.floor(v)
      const to = (y * size.width + x) * channels
      for (let k = 0; k < 4; k++) {
        let px = x0 + (k & 1)
        let py = y0 + (k >> 1)
        const weight = (k & 1 ? u - x0 : 1 - u + x0) * (k >> 1 ? v - y0 : 1 - v + y0)
        if (px < 0 || py < 0 || px >= width || py >= height) {
          if (border === 'zero') continue
          px = Math.min(Math.max(px, 0), width - 1)
          py = Math.min(Math.max(py, 0), height - 1)
        }
        const at = (py * width + px) * channels
        for (let ch = 0; ch < channels; ch++) out[to + ch] += weight * data[at + ch]
      }
    }
  }
  return { width: size.width, height: size.height, channels, data: out }
}

/** `warpAffine` for one plane; 0 outside of the input. */
export function warpAffinePlane(input: Plane, map: Affine, size: Size): Plane {
  const out = createPlane(size)
  const [a, b, c, d, e, f] = map
  const { width, height, data } = input
  for (let y = 0; y < size.height; y++) {
    for (let x = 0; x < size.width; x++) {
      const u = a * x + b * y + c
      const v = d * x + e * y + f
      const x0 = Math.floor(u)
      const y0 = Math.floor(v)
      if (x0 < -1 || y0 < -1 || x0 >= width || y0 >= height) continue
      const fx = u - x0
      const fy = v - y0
      const at = (px: number, py: number) =>
        px < 0 || py < 0 || px >= width || py >= height ? 0 : data[py * width + px]
      const top = at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx
      const bottom = at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx
      out.data[y * size.width + x] = top * (1 - fy) + bottom * fy
    }
  }
  return out
}

// For each output cell the input cells it covers, with weights that sum to 1.
function areaTaps(from: number, to: number): [index: number, weight: number][][] {
  const ratio = from / to
  return Array.from({ length: to }, (_, o) => {
    const start = o * ratio
    const end = Math.min(from, start + ratio)
    const taps: [number, number][] = []
    for (let i = Math.floor(start); i < Math.ceil(end - 1e-9); i++) {
      taps.push([i, (Math.min(end, i + 1) - Math.max(start, i)) / (end - start)])
    }
    return taps
  })
}
