import { boxBlur } from './filter.ts'
import { type Bitmap, type Colours, channelOf, createPlane, type Plane } from './plane.ts'
import { type LinearTaps, linearTaps, mixRows } from './sample.ts'

/** One plane for each of three colours. */
type Channels = readonly [Plane, Plane, Plane]

/** The filtered plane is `slopes[0] · red + slopes[1] · green + slopes[2] · blue + offset`, pixel by pixel. */
export interface GuidedPlane {
  readonly slopes: Channels
  readonly offset: Plane
}

/**
 * Guided filter with a colour guide (He, Sun, Tang 2010, equations 19 to 21): approximates `input` around each pixel as a linear
 * function of the guide's colour, fitted in a window of (2·radius + 1)² px. The functions vary slowly, so they can be computed on a
 * small bitmap, enlarged, and applied to a large one.
 * `guide` in 0 to 255; `radius` in whole px; `epsilon`, for a guide in 0 to 1, is the variance below which a window counts as plain.
 */
export function guideByColour(
  guide: Colours,
  input: Plane,
  { radius, epsilon }: { radius: number; epsilon: number },
): GuidedPlane {
  const [red, green, blue] = [0, 1, 2].map((channel) => channelOf(guide, channel, 1 / 255))
  const blur = (plane: Plane) => boxBlur(plane, radius)
  const [r, g, b] = [red, green, blue].map(blur)
  const p = blur(input)
  const covariance = (x: Plane, y: Plane, meanX: Plane, meanY: Plane) =>
    subtractProduct(blur(product(x, y)), meanX, meanY)
  const [rr, gg, bb] = [covariance(red, red, r, r), covariance(green, green, g, g), covariance(blue, blue, b, b)]
  const [rg, rb, gb] = [covariance(red, green, r, g), covariance(red, blue, r, b), covariance(green, blue, g, b)]
  const [rp, gp, bp] = [covariance(red, input, r, p), covariance(green, input, g, p), covariance(blue, input, b, p)]
  const windows = { r, g, b, p, rr, gg, bb, rg, rb, gb, rp, gp, bp }
  for (let from = 0; from < p.data.length; from += p.width) fitRow(windows, { from, epsilon })
  return { slopes: [blur(rp), blur(gp), blur(bp)], offset: blur(p) }
}

// Replaces the covariances with the input by the slopes, and the input's mean by the offset.
function fitRow(
  { r, g, b, p, rr, gg, bb, rg, rb, gb, rp, gp, bp }: Record<string, Plane>,
  { from, epsilon }: { from: number; epsilon: number },
): void {
  for (let i = from; i < from + p.width; i++) {
    // Inverse of the symmetric 3 × 3 matrix of the colours' covariances, by cofactors.
    const a11 = rr.data[i] + epsilon
    const a22 = gg.data[i] + epsilon
    const a33 = bb.data[i] + epsilon
    const a12 = rg.data[i]
    const a13 = rb.data[i]
    const a23 = gb.data[i]
    const c11 = a22 * a33 - a23 * a23
    const c12 = a13 * a23 - a12 * a33
    const c13 = a12 * a23 - a13 * a22
    const scale = 1 / (a11 * c11 + a12 * c12 + a13 * c13)
    const x = rp.data[i]
    const y = gp.data[i]
    const z = bp.data[i]
    rp.data[i] = scale * (c11 * x + c12 * y + c13 * z)
    gp.data[i] = scale * (c12 * x + (a11 * a33 - a13 * a13) * y + (a12 * a13 - a11 * a23) * z)
    bp.data[i] = scale * (c13 * x + (a12 * a13 - a11 * a23) * y + (a11 * a22 - a12 * a12) * z)
    p.data[i] -= rp.data[i] * r.data[i] + gp.data[i] * g.data[i] + bp.data[i] * b.data[i]
  }
}

/**
 * Evaluates the functions for each pixel of `bitmap` and writes the results to `into`, which has the same size. Each function covers
 * a square of `scale` × `scale` px of the bitmap; the first function is `x` and `y` such squares from its corner. Functions are
 * interpolated in between. Results are not clipped.
 */
export function applyEnlarged(
  { slopes, offset }: GuidedPlane,
  bitmap: Bitmap,
  { x, y, scale, into }: { x: number; y: number; scale: number; into: Plane },
): void {
  const { width, height } = offset
  const [left, top] = [x * scale, y * scale]
  const columns = linearTaps(width, Math.min(bitmap.width - left, width * scale), 1 / scale)
  const rows = linearTaps(height, Math.min(bitmap.height - top, height * scale), 1 / scale)
  const planes = [...slopes, offset]
  const current = planes.map(() => new Float32Array(width))
  for (let row = 0; row < rows.first.length; row++) {
    for (const [c, plane] of planes.entries()) mixRows(current[c], plane, { rows, y: row })
    applyRow(current, bitmap, { start: (top + row) * bitmap.width + left, columns, into })
  }
}

// `current` are the slopes and the offset along the row that starts at pixel `start`.
function applyRow(
  [red, green, blue, constant]: readonly Float32Array[],
  { channels, data }: Bitmap,
  { start, columns, into }: { start: number; columns: LinearTaps; into: Plane },
): void {
  for (let j = 0; j < columns.first.length; j++) {
    const i = columns.first[j]
    const n = columns.second[j]
    const f = columns.share[j]
    const at = start + j
    const from = at * channels
    const coloured =
      (red[i] + (red[n] - red[i]) * f) * data[from] +
      (green[i] + (green[n] - green[i]) * f) * data[from + 1] +
      (blue[i] + (blue[n] - blue[i]) * f) * data[from + 2]
    into.data[at] = coloured / 255 + constant[i] + (constant[n] - constant[i]) * f
  }
}

function product(a: Plane, b: Plane): Plane {
  const out = createPlane(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] * b.data[i]
  return out
}

// Changes `plane`.
function subtractProduct(plane: Plane, a: Plane, b: Plane): Plane {
  for (let i = 0; i < plane.data.length; i++) plane.data[i] -= a.data[i] * b.data[i]
  return plane
}
