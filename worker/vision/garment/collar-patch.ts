import type { Pixels, Point } from '../raster/plane.ts'
import { distance } from '../raster/vector.ts'
import { cutPatch, type GarmentPatch } from './garment-patch.ts'

/** The region around the collar at a fixed scale. */
export interface CollarPatch extends GarmentPatch {
  /** Neck corners in px of the patch, and their distance. */
  readonly corners: readonly [Point, Point]
  readonly width: number
}

const PATCH_WIDTH = 100

/** Cuts the region out of a premultiplied RGBA image, so that the neck corners lie about 100 px apart. */
export function collarPatch(image: Pixels, [left, right]: readonly [Point, Point]): CollarPatch {
  const width = distance(left, right)
  const bounds = {
    x0: Math.min(left.x, right.x) - 0.6 * width,
    x1: Math.max(left.x, right.x) + 0.6 * width,
    y0: Math.min(left.y, right.y) - 0.3 * width,
    y1: Math.max(left.y, right.y) + 2.2 * width,
  }
  const patch = cutPatch(image, bounds, PATCH_WIDTH / Math.max(1, width))
  const corners = [patch.toPatch(left), patch.toPatch(right)] as const
  return { ...patch, corners, width: distance(...corners) }
}
