import type { Point } from '../../worker/vision/raster/plane.ts'
import { distance } from '../../worker/vision/raster/vector.ts'
import type { KnownFigure, PairName } from './pair.ts'

// The truth of a dress is a top and a skirt: the hem of the top is none. The true skirts are shorter than the products.
const LANDMARKS: Readonly<Record<PairName['part'], RegExp>> = {
  top: /^(neck|shoulder|armpit|hem|sleeve)/,
  lower: /^(waist|ankle|crotch)/,
  both: /^(neck|shoulder|armpit)/,
}

/**
 * Mean distance of the garment's landmarks from those of the same cut in the true image, in % of the body height; null if no
 * landmark can be compared.
 */
export function landmarkError(
  placed: Readonly<Record<string, Point>>,
  truth: KnownFigure,
  part: PairName['part'],
): number | null {
  const known = truth.landmarks[part === 'lower' ? 'lower' : 'top']
  const errors = Object.entries(placed)
    .filter(([name]) => LANDMARKS[part].test(name) && name in known)
    .map(([name, point]) => distance(point, known[name]))
  if (errors.length === 0) return null
  return errors.reduce((sum, error) => sum + error, 0) / errors.length / (truth.height / 100)
}
