import type { Warped } from '../dressing.ts'
import type { Fitting } from '../fit/fit.ts'
import { warpLower } from './lower.ts'
import { warpUpper } from './upper.ts'

/**
 * Warps a fitted garment to the person, in the resolution of the drawn bitmap.
 *
 * Throws `DrapeError` RESULT_REJECTED if a piece would fold over itself.
 */
export function warpGarment(fitting: Fitting): Warped {
  const { drawn: size, scale } = fitting.view
  return fitting.kind === 'upper'
    ? { ...fitting, layers: warpUpper(fitting.garment, fitting.placement, { size, scale }) }
    : { ...fitting, layers: warpLower(fitting.garment, fitting.placement, { size, scale }) }
}
