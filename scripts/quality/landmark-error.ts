import type { Point } from '../../worker/raster/plane.ts'
import { distance } from '../../worker/raster/vector.ts'
import type { KnownFigure, PairName } from './pair.ts'

// Of a dress the truth is a top and a skirt: the top's hem is none. The true skirts are not as long as the products.
const LANDMARKS: Readonly<Record<PairName['part'], RegExp>> = {
  top: /^(neck|shoulder|armpit|hem|sleeve)/,
  lower: /^(waist|ankle|crotch)/,
  both: /^(neck|shoulder|armpit)/,
}

/**
 * Mean distance of the garment's landmarks from those of the same cut on the true picture, in % of the body's height; null where
 * nothing can be compared.
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
