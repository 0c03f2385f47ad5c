import type { BodyModel } from '../../../vision/body/body-model.ts'
import type { PreparedGarment } from '../../../vision/garment/prepare-garment.ts'
import { fitLower } from './lower/fit.ts'
import type { LowerFitting } from './lower/fitting.ts'
import { fitUpper } from './upper/fit.ts'
import type { UpperFitting } from './upper/fitting.ts'

/**
 * Fits a garment to a person: its size, the position of each piece, and the regions of the body.
 *
 * Throws `DrapeError` RESULT_REJECTED if the garment does not suit the pose or the photo shows too little of the person.
 */
export function fitGarment(model: BodyModel, garment: PreparedGarment): Fitting {
  return garment.kind === 'trousers' || garment.kind === 'skirt' ? fitLower(model, garment) : fitUpper(model, garment)
}

/** A garment fitted to a person. */
export type Fitting = UpperFitting | LowerFitting
