import type { Warped } from '../dressing.ts'
import type { Fitting } from '../fit/fitting.ts'
import { warpLower } from './lower.ts'
import { warpUpper } from './upper.ts'

/**
 * Bends a fitted garment into the shape it takes on the person, in the resolution of the drawn picture.
 *
 * Throws `DrapeError` RESULT_REJECTED when a piece would fold over itself.
 */
export function warpGarment(fitting: Fitting): Warped {
  const { drawn: size, scale } = fitting.view
  return fitting.kind === 'upper'
    ? { ...fitting, layers: warpUpper(fitting.garment, fitting.placement, { size, scale }) }
    : { ...fitting, layers: warpLower(fitting.garment, fitting.placement, { size, scale }) }
}
