import type { Point } from '../../../../vision/raster/plane.ts'
import { arcLength } from '../../../../vision/raster/polyline.ts'
import { distance } from '../../../../vision/raster/vector.ts'
import { MAX_SLEEVE_BEND } from '../tuning.ts'

/**
 * Length of a sleeve's outer edge in px of the product. A transparent or ruffled sleeve has a jagged outline, which is longer than the
 * sleeve.
 */
export function sleeveLength(outer: readonly Point[]): number {
  return Math.min(arcLength(outer), MAX_SLEEVE_BEND * distance(outer[0], outer[outer.length - 1]))
}
