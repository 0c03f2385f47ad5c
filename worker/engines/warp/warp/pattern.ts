import type { UpperGarment } from '../../../vision/garment/garment.ts'
import { type Window, windowAround } from '../../../vision/raster/crop.ts'
import { gaussianBlurColours } from '../../../vision/raster/filter.ts'
import { union } from '../../../vision/raster/mask.ts'
import type { Mask, Pixels, Plane, Point, Size } from '../../../vision/raster/plane.ts'
import { coverPolygon, fillCapsules, fillPolygon } from '../../../vision/raster/polygon.ts'
import { arcLength, resample } from '../../../vision/raster/polyline.ts'
import { resizeAreaColours } from '../../../vision/raster/sample.ts'
import { distance } from '../../../vision/raster/vector.ts'
import type { PointGrid } from '../fit/patch.ts'
import type { Placement } from '../fit/upper/fitting.ts'
import { REDUCTION, TORSO_OVERLAP } from './tuning.ts'

/** A garment's bitmap at about its output size. All positions and planes are in px of `image`. */
export interface Pattern {
  /** Premultiplied RGBA. */
  readonly image: Pixels
  /** The matching points of the torso piece, in the order of the placement. */
  readonly controls: readonly Point[]
  readonly torso: Mask
  /** Share of each pixel that shows the inside of the back: above the front neckline or between open fronts; 0 to 1. */
  readonly opening: Plane
  /** The grids of the sleeves, in the order of the placement. */
  readonly sleeves: readonly PointGrid[]
}

/** Cuts a garment's bitmap into pieces. Downscales it first if the output is `scale` × smaller than the analysed bitmap. */
export function cutPattern(garment: UpperGarment, placement: Placement, scale: number): Pattern {
  const reduction = spread(placement.source) / (spread(placement.target) * scale)
  const { image, toImage, px } = prepareImage(garment, placement, reduction)
  const torso = coverTorso(image, placement.torso.map(toImage), TORSO_OVERLAP * garment.torsoWidth * px)
  return {
    image,
    controls: placement.source.map(toImage),
    torso,
    opening: openingOf(torso, garment, toImage),
    sleeves: placement.sleeves.map(({ source }) => source.map((row) => row.map(toImage))),
  }
}

// Mean distance from the centre.
function spread(points: readonly Point[]): number {
  const sum = points.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }), { x: 0, y: 0 })
  const centre = { x: sum.x / points.length, y: sum.y / points.length }
  return points.reduce((total, point) => total + distance(point, centre), 0) / points.length
}

interface Prepared {
  image: Pixels
  toImage: (point: Point) => Point
  /** px of `image` per px of the garment's bitmap. */
  px: number
}

// Downscales to at most 1.5 times the final resolution and blurs for the remaining factor.
function prepareImage({ image, sides }: UpperGarment, { torso }: Placement, reduction: number): Prepared {
  if (reduction <= REDUCTION.unblurred) return { image, toImage: (point) => point, px: 1 }
  const outline = sides.flatMap(({ sleeve }) => (sleeve ? [...sleeve.outer, ...sleeve.inner] : [])).concat(torso)
  const box = windowAround(outline, Math.ceil(4 * reduction), image)
  const by = Math.max(1, reduction / REDUCTION.kept)
  const size = { width: Math.ceil(box.width / by), height: Math.ceil(box.height / by) }
  const kx = size.width / box.width
  const ky = size.height / box.height
  return {
    image: gaussianBlurColours(resizeAreaColours(crop(image, box), size), (REDUCTION.sigma * reduction) / by),
    toImage: ({ x, y }) => ({ x: (x - box.x + 0.5) * kx - 0.5, y: (y - box.y + 0.5) * ky - 0.5 }),
    px: 1 / by,
  }
}

function crop({ width, channels, data }: Pixels, box: Window): Pixels {
  const out = new Uint8ClampedArray(box.width * box.height * channels)
  const stride = box.width * channels
  for (let row = 0; row < box.height; row++) {
    const from = ((row + box.y) * width + box.x) * channels
    out.set(data.subarray(from, from + stride), row * stride)
  }
  return { width: box.width, height: box.height, channels, data: out }
}

function coverTorso(image: Size, outline: readonly Point[], overlap: number): Mask {
  const closed = [...outline, outline[0]]
  const rim = resample(closed, 2 + Math.ceil(arcLength(closed) / Math.max(1, overlap)))
  const torso = fillPolygon(image, outline)
  const border = fillCapsules(
    image,
    rim,
    rim.map(() => overlap),
  )
  return union(torso, border)
}

// Above the neckline, and between the edges of an open front.
function openingOf(
  size: Size,
  { neckline, openFront }: Pick<UpperGarment, 'neckline' | 'openFront'>,
  toImage: (point: Point) => Point,
): Plane {
  const line = (openFront ? [...openFront[0], ...openFront[1].toReversed()] : neckline).map(toImage)
  return coverPolygon(size, [...line, { x: line[line.length - 1].x, y: -1 }, { x: line[0].x, y: -1 }])
}
