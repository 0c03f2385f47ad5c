import { cropBitmap } from '../../../api/shared/image/image.ts'
import { applyEnlarged, guideByColour } from '../raster/colour-guide.ts'
import { connectedComponents } from '../raster/components.ts'
import { boundsOf, windowAround } from '../raster/crop.ts'
import { maskWhere, threshold } from '../raster/mask.ts'
import { dilate } from '../raster/morphology.ts'
import { bitmapToColours, createPlane, type Mask, type Plane, type Size } from '../raster/plane.ts'
import { levelFor, type Pyramid } from '../raster/pyramid.ts'
import { applyAffine, composeAffine, warpAffinePlane } from '../raster/sample.ts'
import { scale } from '../raster/vector.ts'
import type { Box } from './person.ts'
import { bitmapToRegion, type Region, regionToBitmap } from './region.ts'

// The filter's coefficients vary slowly: this resolution in px across the region is enough (He and Sun 2015, "Fast guided filter").
const COEFFICIENT_SIZE = 512
// Max distance in px of the segmentation by which its edge moves to an image edge.
const RADIUS = 3
const EPSILON = 1e-4
// Output of the filter below and above these values becomes 0 and 1.
const SURELY_OUTSIDE = 0.2
const SURELY_INSIDE = 0.8
// Min area of a piece as a share of the largest piece.
const MIN_PIECE = 0.1

/**
 * Share of each pixel that belongs to the person, 0 to 1, in the size of the bitmap: aligns the coarse segmentation of a region
 * with the edges of the bitmap by a guided filter, and clips certain pixels to exactly 0 or 1.
 */
export function segmentPerson(pyramid: Pyramid, region: Region, segmentation: Plane): Plane {
  const mask = createPlane(pyramid.size)
  const near = surroundings(segmentation)
  const level = levelFor(region.side, COEFFICIENT_SIZE)
  const small = pyramid.level(level)
  const box = boundsInLevel(near, region, { level, size: small })
  if (box.width <= 0 || box.height <= 0) return mask
  const coarse = placeSegmentation(region, limit(segmentation, near), { box, level })
  const radius = Math.max(2, Math.round((RADIUS * region.side) / 2 ** level / segmentation.width))
  const guided = guideByColour(bitmapToColours(cropBitmap(small, box)), coarse, { radius, epsilon: EPSILON })
  applyEnlarged(guided, pyramid.level(0), { x: box.x, y: box.y, scale: 2 ** level, into: mask })
  const { data } = mask
  const slope = 1 / (SURELY_INSIDE - SURELY_OUTSIDE)
  for (let i = 0; i < data.length; i++) data[i] = Math.min(Math.max((data[i] - SURELY_OUTSIDE) * slope, 0), 1)
  return mask
}

// The person and the few pixels around that the filter can add.
function surroundings(segmentation: Plane): Mask {
  const { labels, components } = connectedComponents(threshold(segmentation, 0.5))
  const minArea = MIN_PIECE * Math.max(0, ...components.map(({ area }) => area))
  const person = maskWhere(segmentation, (i) => labels[i] > 0 && components[labels[i] - 1].area >= minArea)
  return dilate(person, RADIUS)
}

function limit(segmentation: Plane, { data }: Mask): Plane {
  return { ...segmentation, data: segmentation.data.map((value, i) => value * data[i]) }
}

// The part of the level that the filter can reach from the set pixels of the region's view.
function boundsInLevel(near: Mask, region: Region, { level, size }: { level: number; size: Size }): Box {
  const bounds = boundsOf(near)
  if (bounds === null) return { x: 0, y: 0, width: 0, height: 0 }
  const map = regionToBitmap(region, near.width)
  const xs = [bounds.x - 2 * RADIUS, bounds.x + bounds.width + 2 * RADIUS]
  const ys = [bounds.y - 2 * RADIUS, bounds.y + bounds.height + 2 * RADIUS]
  const corners = xs.flatMap((x) => ys.map((y) => scale(applyAffine(map, { x, y }), 2 ** -level)))
  return windowAround(corners, 0, size)
}

function placeSegmentation(region: Region, segmentation: Plane, { box, level }: { box: Box; level: number }): Plane {
  const scale = 2 ** level
  const shift = (scale - 1) / 2
  const toBitmap = [scale, 0, box.x * scale + shift, 0, scale, box.y * scale + shift] as const
  return warpAffinePlane(segmentation, composeAffine(bitmapToRegion(region, segmentation.width), toBitmap), box)
}
