import { boxBlur } from '../raster/filter.ts'
import { type Bitmap, createPlane, type Plane, type Point } from '../raster/plane.ts'
import { levelFor, type Pyramid } from '../raster/pyramid.ts'
import { applyAffine, composeAffine, warpAffinePlane } from '../raster/sample.ts'
import type { Box } from './person.ts'
import { pictureToRegion, type Region, regionToPicture } from './region.ts'

// The filter's coefficients vary slowly: this many px across the region are enough for them (He and Sun 2015, "Fast guided filter").
const COEFFICIENT_SIZE = 512
// A little more than the segmentation's own pixel, so that its soft edge can move to the picture's.
const RADIUS_IN_SEGMENTATION = 1.5
const EPSILON = 2e-4

/**
 * How much of each pixel belongs to the person, 0 to 1, in the picture's size: the coarse segmentation of a region, drawn to the
 * edges of the picture by a guided filter for each colour channel (He, Sun, Tang 2010), their mean, with the ends cut off so that
 * sure pixels are exactly 0 or 1.
 */
export function segmentPerson(pyramid: Pyramid, region: Region, segmentation: Plane): Plane {
  const level = levelFor(region.side, COEFFICIENT_SIZE)
  const small = pyramid.level(level)
  const window = boundsOfRegion(region, level, small)
  const mask = createPlane(pyramid.size)
  if (window.width <= 0 || window.height <= 0) return mask
  const coarse = placeSegmentation(region, segmentation, { window, level })
  const radius = Math.max(2, Math.round((RADIUS_IN_SEGMENTATION * region.side) / 2 ** level / segmentation.width))
  paint(mask, pyramid.level(0), { coefficients: guide(small, window, { coarse, radius }), window, level })
  return mask
}

function boundsOfRegion(region: Region, level: number, size: { width: number; height: number }): Box {
  const map = regionToPicture(region, 1)
  const corners: Point[] = [-0.5, 0.5].flatMap((x) => [-0.5, 0.5].map((y) => applyAffine(map, { x, y })))
  const xs = corners.map(({ x }) => x / 2 ** level)
  const ys = corners.map(({ y }) => y / 2 ** level)
  const x = Math.max(0, Math.floor(Math.min(...xs)))
  const y = Math.max(0, Math.floor(Math.min(...ys)))
  const right = Math.min(size.width, Math.ceil(Math.max(...xs)) + 1)
  const bottom = Math.min(size.height, Math.ceil(Math.max(...ys)) + 1)
  return { x, y, width: right - x, height: bottom - y }
}

interface Window {
  readonly window: Box
  readonly level: number
}

function placeSegmentation(region: Region, segmentation: Plane, { window, level }: Window): Plane {
  const scale = 2 ** level
  const shift = (scale - 1) / 2
  const toPicture = [scale, 0, window.x * scale + shift, 0, scale, window.y * scale + shift] as const
  return warpAffinePlane(segmentation, composeAffine(pictureToRegion(region, segmentation.width), toPicture), window)
}

// Interleaved: mask = c0 · red + c1 · green + c2 · blue + c3, colours in 0 to 255.
function guide(picture: Bitmap, window: Box, { coarse, radius }: { coarse: Plane; radius: number }): Float32Array {
  const out = new Float32Array(window.width * window.height * 4)
  const meanCoarse = boxBlur(coarse, radius)
  const offset = createPlane(window)
  for (let channel = 0; channel < 3; channel++) {
    const colour = channelOfWindow(picture, window, channel)
    const mean = boxBlur(colour, radius)
    const meanProduct = boxBlur(product(colour, coarse), radius)
    const meanSquare = boxBlur(product(colour, colour), radius)
    const slope = createPlane(window)
    for (let i = 0; i < slope.data.length; i++) {
      const m = mean.data[i]
      const a = (meanProduct.data[i] - m * meanCoarse.data[i]) / (meanSquare.data[i] - m * m + EPSILON)
      slope.data[i] = a / 3
      offset.data[i] += (meanCoarse.data[i] - a * m) / 3
    }
    const meanSlope = boxBlur(slope, radius).data
    for (let i = 0, to = channel; i < meanSlope.length; i++, to += 4) out[to] = meanSlope[i] / 255
  }
  const meanOffset = boxBlur(offset, radius).data
  for (let i = 0, to = 3; i < meanOffset.length; i++, to += 4) out[to] = meanOffset[i]
  return out
}

function channelOfWindow(picture: Bitmap, { x, y, width, height }: Box, channel: number): Plane {
  const plane = createPlane({ width, height })
  for (let row = 0, to = 0; row < height; row++) {
    let from = ((y + row) * picture.width + x) * picture.channels + channel
    for (let column = 0; column < width; column++, from += picture.channels) plane.data[to++] = picture.data[from] / 255
  }
  return plane
}

function product(a: Plane, b: Plane): Plane {
  const out = createPlane(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] * b.data[i]
  return out
}

// Applies the coefficients, interpolated, to every pixel of the picture that the window covers.
function paint(
  mask: Plane,
  picture: Bitmap,
  { coefficients, window, level }: Window & { coefficients: Float32Array },
): void {
  const scale = 2 ** level
  const shift = (1 / scale - 1) / 2
  const stride = window.width * 4
  const right = Math.min(picture.width, (window.x + window.width) * scale)
  const bottom = Math.min(picture.height, (window.y + window.height) * scale)
  for (let y = window.y * scale; y < bottom; y++) {
    const v = Math.min(Math.max(y / scale + shift - window.y, 0), window.height - 1)
    const y0 = Math.min(v | 0, Math.max(0, window.height - 2))
    const down = window.height > 1 ? stride : 0
    const fy = v - y0
    for (let x = window.x * scale; x < right; x++) {
      const u = Math.min(Math.max(x / scale + shift - window.x, 0), window.width - 1)
      const x0 = Math.min(u | 0, Math.max(0, window.width - 2))
      const side = window.width > 1 ? 4 : 0
      const fx = u - x0
      const from = (y * picture.width + x) * picture.channels
      const at = y0 * stride + x0 * 4
      let value = 0
      for (let k = 0; k < 4; k++) {
        const i = at + k
        const upper = coefficients[i] + (coefficients[i + side] - coefficients[i]) * fx
        const lower = coefficients[i + down] + (coefficients[i + down + side] - coefficients[i + down]) * fx
        value += (upper + (lower - upper) * fy) * (k < 3 ? picture.data[from + k] : 1)
      }
      mask.data[y * picture.width + x] = Math.min(Math.max((value - 0.15) / 0.7, 0), 1)
    }
  }
}
