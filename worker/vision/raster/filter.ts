import { type Colours, createPlane, mapChannels, type Plane } from './plane.ts'
import { enlargeByFactor, reduceByFactor } from './reduce.ts'

/** Mean over a (2·radius + 1) square window; the border is replicated. `radius` in whole pixels. */
export function boxBlur(plane: Plane, radius: number): Plane {
  const r = Math.round(radius)
  if (r < 1) return plane
  const rows = createPlane(plane)
  const result = createPlane(plane)
  boxRows(plane, r, rows)
  boxColumns(rows, r, result)
  return result
}

/**
 * Gaussian blur with a replicated border. Uses a sampled kernel below sigma 2.5 px, and three box passes of the same
 * variance above it, which are exact to a few per cent and cost the same for every sigma.
 */
export function gaussianBlur(plane: Plane, sigma: number): Plane {
  if (sigma < 0.2) return plane
  if (sigma < 2.5) return separable(plane, gaussianKernel(sigma))
  const rows = createPlane(plane)
  const result = createPlane(plane)
  let from = plane
  for (const radius of boxRadii(sigma, 3)) {
    boxRows(from, radius, rows)
    boxColumns(rows, radius, result)
    from = result
  }
  return result
}

/** `gaussianBlur` on every channel. */
export function gaussianBlurColours(colours: Colours, sigma: number): Colours {
  return mapChannels(colours, (plane) => gaussianBlur(plane, sigma))
}

/**
 * Guided filter with a grey guide (He, Sun, Tang 2010), for many inputs with one guide: smooths them along the edges of `guide`.
 * `guide` in 0 to 1, `radius` in px, `epsilon` in squared guide units. With a `factor` above 1 (an integer) the inputs are reduced by
 * it, as by `reduceByFactor`, and `radius` is in their px; only the last step uses the guide's size (He and Sun 2015, "Fast guided
 * filter").
 */
export function createGuidedFilter(
  guide: Plane,
  { radius, epsilon, factor = 1 }: { radius: number; epsilon: number; factor?: number },
): (input: Plane) => Plane {
  if (Math.round(radius) < 1) return (input) => enlargeByFactor(input, factor, guide)
  const coarse = factor === 1 ? guide : reduceByFactor(guide, factor)
  const meanGuide = boxBlur(coarse, radius)
  const steadiness = boxBlur(multiply(coarse, coarse), radius)
  for (let i = 0; i < steadiness.data.length; i++)
    steadiness.data[i] = 1 / (steadiness.data[i] - meanGuide.data[i] ** 2 + epsilon)
  return (input) => {
    const offset = boxBlur(input, radius)
    const slope = boxBlur(multiply(coarse, input), radius)
    for (let i = 0; i < slope.data.length; i++) {
      slope.data[i] = (slope.data[i] - meanGuide.data[i] * offset.data[i]) * steadiness.data[i]
      offset.data[i] -= slope.data[i] * meanGuide.data[i]
    }
    const slopes = enlargeByFactor(boxBlur(slope, radius), factor, guide).data
    const out = enlargeByFactor(boxBlur(offset, radius), factor, guide)
    for (let i = 0; i < out.data.length; i++) out.data[i] += slopes[i] * guide.data[i]
    return out
  }
}

/** Magnitude of the Sobel gradient, divided by 8: 1 for a ramp of 1 per px. */
export function gradientLength(plane: Plane): Plane {
  const { width, height, data } = plane
  const out = createPlane(plane)
  for (let y = 0; y < height; y++) {
    const up = Math.max(0, y - 1) * width
    const row = y * width
    const down = Math.min(height - 1, y + 1) * width
    for (let x = 0; x < width; x++) {
      const left = Math.max(0, x - 1)
      const right = Math.min(width - 1, x + 1)
      const gx =
        data[up + right] +
        2 * data[row + right] +
        data[down + right] -
        data[up + left] -
        2 * data[row + left] -
        data[down + left]
      const gy =
        data[down + left] +
        2 * data[down + x] +
        data[down + right] -
        data[up + left] -
        2 * data[up + x] -
        data[up + right]
      out.data[row + x] = Math.sqrt(gx * gx + gy * gy) / 8
    }
  }
  return out
}

function multiply(a: Plane, b: Plane): Plane {
  const out = createPlane(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] * b.data[i]
  return out
}

function boxRows({ width, height, data }: Plane, r: number, { data: out }: Plane): void {
  const scale = 1 / (2 * r + 1)
  const last = width - 1
  // Until this column only border values leave the window; from there on only border values enter.
  const whole = Math.min(r, width)
  const end = Math.max(whole, last - r)
  for (let y = 0; y < height; y++) {
    const row = y * width
    let sum = data[row] * (r + 1)
    for (let x = 1; x <= r; x++) sum += data[row + Math.min(x, last)]
    let x = 0
    for (; x < whole; x++) {
      out[row + x] = sum * scale
      sum += data[row + Math.min(x + r + 1, last)] - data[row]
    }
    for (let i = row + x; i < row + end; i++) {
      out[i] = sum * scale
      sum += data[i + r + 1] - data[i - r]
    }
    for (x = end; x < width; x++) {
      out[row + x] = sum * scale
      sum += data[row + last] - data[row + x - r]
    }
  }
}

function boxColumns({ width, height, data }: Plane, r: number, { data: out }: Plane): void {
  const scale = 1 / (2 * r + 1)
  const last = height - 1
  // A row of running sums instead of one column at a time, to access memory sequentially.
  const sums = new Float64Array(width)
  for (let x = 0; x < width; x++) sums[x] = data[x] * (r + 1)
  for (let y = 1; y <= r; y++) {
    const row = Math.min(y, last) * width
    for (let x = 0; x < width; x++) sums[x] += data[row + x]
  }
  for (let y = 0; y < height; y++) {
    const row = y * width
    const enter = Math.min(y + r + 1, last) * width
    const leave = Math.max(y - r, 0) * width
    for (let x = 0; x < width; x++) {
      out[row + x] = sums[x] * scale
      sums[x] += data[enter + x] - data[leave + x]
    }
  }
}

function gaussianKernel(sigma: number): Float64Array {
  const radius = Math.max(1, Math.ceil(3 * sigma))
  const kernel = Float64Array.from({ length: 2 * radius + 1 }, (_, i) =>
    Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)),
  )
  const sum = kernel.reduce((a, b) => a + b, 0)
  return kernel.map((k) => k / sum)
}

function separable(plane: Plane, kernel: Float64Array): Plane {
  const rows = alongRows(plane, kernel)
  downColumns(rows, kernel)
  return rows
}

function alongRows(plane: Plane, kernel: Float64Array): Plane {
  const { width, data } = plane
  const r = (kernel.length - 1) / 2
  const rows = createPlane(plane)
  // A row with replicated borders, so that the inner loop needs no bounds checks.
  const line = new Float32Array(width + 2 * r)
  for (let row = 0; row < data.length; row += width) {
    line.set(data.subarray(row, row + width), r)
    line.fill(data[row], 0, r)
    line.fill(data[row + width - 1], r + width)
    for (let x = 0; x < width; x++) {
      const centre = x + r
      let sum = kernel[r] * line[centre]
      for (let k = 1; k <= r; k++) sum += kernel[r + k] * (line[centre - k] + line[centre + k])
      rows.data[row + x] = sum
    }
  }
  return rows
}

// In place: only the last few overwritten rows are needed again.
function downColumns({ width, height, data }: Plane, kernel: Float64Array): void {
  const r = (kernel.length - 1) / 2
  const sums = new Float32Array(width)
  const before = Array.from({ length: r }, () => new Float32Array(width))
  for (let y = 0; y < height; y++) {
    const own = data.subarray(y * width, (y + 1) * width)
    for (let x = 0; x < width; x++) sums[x] = kernel[r] * own[x]
    for (let k = 1; k <= r; k++) {
      const weight = kernel[r + k]
      const above = y === 0 ? own : before[Math.max(y - k, 0) % r]
      const last = Math.min(y + k, height - 1) * width
      const below = data.subarray(last, last + width)
      for (let x = 0; x < width; x++) sums[x] += weight * (above[x] + below[x])
    }
    before[y % r].set(own)
    own.set(sums)
  }
}

// Box widths whose repeated application has the variance of the Gaussian (Kovesi 2010, "Fast almost-Gaussian filtering").
function boxRadii(sigma: number, passes: number): number[] {
  const ideal = Math.sqrt((12 * sigma * sigma) / passes + 1)
  let lower = Math.floor(ideal)
  if (lower % 2 === 0) lower--
  const upper = lower + 2
  const count = Math.round(
    (12 * sigma * sigma - passes * lower * lower - 4 * passes * lower - 3 * passes) / (-4 * lower - 4),
  )
  return Array.from({ length: passes }, (_, i) => ((i < count ? lower : upper) - 1) / 2)
}

/**
 * Gaussian blur of weighted pixels only (normalised convolution, Knutsson and Westin 1993): blur(values · weight) /
 * blur(weight). `reach` is the blurred weight, 0 to 1; where it is 0 the value is 0.
 */
export function weightedBlur(values: Plane, weight: Plane, sigma: number): { values: Plane; reach: Plane } {
  const product = createPlane(values)
  for (let i = 0; i < product.data.length; i++) product.data[i] = values.data[i] * weight.data[i]
  const sum = gaussianBlur(product, sigma)
  const reach = gaussianBlur(weight, sigma)
  const out = createPlane(values)
  for (let i = 0; i < out.data.length; i++) out.data[i] = sum.data[i] / Math.max(reach.data[i], 1e-3)
  return { values: out, reach }
}
