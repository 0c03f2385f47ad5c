import type { Session } from '../../inference/session.ts'
import type { Bitmap, Point } from '../raster/plane.ts'
import { levelFor, type Pyramid } from '../raster/pyramid.ts'
import { type Affine, applyAffine, invertAffine } from '../raster/sample.ts'
import { norm, unit } from '../raster/vector.ts'

/** A square of the bitmap, possibly rotated: the input of a model. Lengths and positions in px, the angle in radians. */
export interface Region {
  readonly centre: Point
  readonly side: number
  readonly angle: number
}

/** The smallest upright square around the whole bitmap. */
export function regionOfBitmap({ size }: Pyramid): Region {
  return {
    centre: { x: (size.width - 1) / 2, y: (size.height - 1) / 2 },
    side: Math.max(size.width, size.height),
    angle: 0,
  }
}

/**
 * The square that BlazePose's landmark model expects around a person: `centre` is the middle of the hips and `rim` a point on the
 * circle around the whole body, above the head. The square is a quarter larger than the circle, with the person upright.
 */
export function regionOfBody(centre: Point, rim: Point): Region {
  const x = rim.x - centre.x
  const y = rim.y - centre.y
  return { centre, side: 2.5 * norm(x, y), angle: Math.PI / 2 - Math.atan2(-y, x) }
}

/** The square around the points, turned so that `up` points upwards, and `share` times as large as their bounds. */
export function regionOfPoints(points: readonly Point[], up: Point, share: number): Region {
  const { x: cos, y: sin } = unit(up)
  const along = points.map(({ x, y }) => x * cos + y * sin)
  const across = points.map(({ x, y }) => y * cos - x * sin)
  const [u, v] = [along, across].map((values) => (Math.min(...values) + Math.max(...values)) / 2)
  const widest = Math.max(...[along, across].map((values) => Math.max(...values) - Math.min(...values)))
  const centre = { x: u * cos - v * sin, y: u * sin + v * cos }
  return { centre, side: Math.max(1, share * widest), angle: Math.atan2(up.x, -up.y) }
}

/**
 * The points that one of MediaPipe's landmark models with inputs of `size` × `size` px sees in the region, in px of the bitmap; null if
 * its output `flag` is below `least`.
 */
export async function locatePoints(
  pyramid: Pyramid,
  region: Region,
  { session, size, flag, least }: { session: Session; size: number; flag: string; least: number },
): Promise<readonly Point[] | null> {
  const view = viewRegion(pyramid, region, { size, border: 'replicate', range: [0, 1] })
  const outputs = await session.run({ image: { shape: [1, size, size, 3], data: view } }, ['landmarks', flag])
  if (outputs[flag].data[0] < least) return null
  const raw = outputs.landmarks.data
  const map = regionToBitmap(region, size)
  return Array.from({ length: raw.length / 3 }, (_, i) =>
    applyAffine(map, { x: raw[3 * i] - 0.5, y: raw[3 * i + 1] - 0.5 }),
  )
}

/** Maps the pixel (x, y) of a `size` × `size` view of the region to the bitmap. */
export function regionToBitmap({ centre, side, angle }: Region, size: number): Affine {
  const scale = side / size
  const cos = Math.cos(angle) * scale
  const sin = Math.sin(angle) * scale
  const middle = (size - 1) / 2
  return [cos, -sin, centre.x - (cos - sin) * middle, sin, cos, centre.y - (sin + cos) * middle]
}

/** Maps the bitmap to the `size` × `size` view of the region. */
export function bitmapToRegion(region: Region, size: number): Affine {
  return invertAffine(regionToBitmap(region, size))
}

/**
 * The region as model input: `size` × `size` × 3, with black mapped to `range[0]` and white to `range[1]`. Outside the bitmap the
 * border is replicated, or black with `border: 'black'`. Each value is the mean of 2 × 2 samples of the pyramid level closest to
 * the sampling distance, which avoids aliasing.
 */
export function viewRegion(
  pyramid: Pyramid,
  region: Region,
  { size, border, range }: { size: number; border: 'replicate' | 'black'; range: readonly [number, number] },
): Float32Array {
  const samples = 2 * size
  const level = levelFor(region.side, samples)
  const source = pyramid.level(level)
  const map = toLevel(regionToBitmap(region, samples), level)
  const out = new Float32Array(size * size * 3)
  for (let y = 0; y < samples; y++) addRow(out, source, { map, y, size, isBlack: border === 'black' })
  const scale = (range[1] - range[0]) / (255 * 4)
  for (let i = 0; i < out.length; i++) out[i] = range[0] + scale * out[i]
  return out
}

// A function per row, here and elsewhere: V8 compiles it once, but a loop within a loop again and again.
function addRow(
  out: Float32Array,
  { width, height, channels, data }: Bitmap,
  { map, y, size, isBlack }: { map: Affine; y: number; size: number; isBlack: boolean },
): void {
  const [a, b, c, d, e, f] = map
  const row = (y >> 1) * size
  for (let x = 0; x < 2 * size; x++) {
    let u = a * x + b * y + c
    let v = d * x + e * y + f
    if (isBlack && (u < -0.5 || v < -0.5 || u > width - 0.5 || v > height - 0.5)) continue
    u = Math.min(Math.max(u, 0), width - 1)
    v = Math.min(Math.max(v, 0), height - 1)
    const x0 = u | 0
    const y0 = v | 0
    const right = x0 + 1 < width ? channels : 0
    const down = y0 + 1 < height ? width * channels : 0
    const at = (y0 * width + x0) * channels
    const to = (row + (x >> 1)) * 3
    const under = at + down
    const fx = u - x0
    const fy = v - y0
    // Unrolled: a loop over the channels takes more than twice as long in V8.
    const red = data[at] + (data[at + right] - data[at]) * fx
    out[to] += red + (data[under] + (data[under + right] - data[under]) * fx - red) * fy
    const green = data[at + 1] + (data[at + 1 + right] - data[at + 1]) * fx
    out[to + 1] += green + (data[under + 1] + (data[under + 1 + right] - data[under + 1]) * fx - green) * fy
    const blue = data[at + 2] + (data[at + 2 + right] - data[at + 2]) * fx
    out[to + 2] += blue + (data[under + 2] + (data[under + 2 + right] - data[under + 2]) * fx - blue) * fy
  }
}

// Composes a map into the bitmap with the map from the bitmap's pixels to those of a pyramid level.
function toLevel([a, b, c, d, e, f]: Affine, level: number): Affine {
  const scale = 2 ** -level
  const shift = (scale - 1) / 2
  return [a * scale, b * scale, c * scale + shift, d * scale, e * scale, f * scale + shift]
}
