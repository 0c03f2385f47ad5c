import type { BodyModel } from '../../../vision/body/body-model.ts'
import type { PreparedGarment } from '../../../vision/garment/prepare-garment.ts'
import type { Fitting } from './fitting.ts'
import { fitLower } from './lower/fit.ts'
import { fitUpper } from './upper/fit.ts'

/**
 * Fits a garment to a person: its size, the position of each piece, and the regions of the body.
 *
 * Throws `DrapeError` RESULT_REJECTED if the garment does not suit the pose or the photo shows too little of the person.
 */
export function fitGarment(model: BodyModel, garment: PreparedGarment): Fitting {
  return garment.kind === 'trousers' || garment.kind === 'skirt' ? fitLower(model, garment) : fitUpper(model, garment)
}
