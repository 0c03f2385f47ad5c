import type { BodyModel } from '../../../body/body-model.ts'
import type { PreparedGarment } from '../../../garment/prepare-garment.ts'
import type { Fitting } from './fitting.ts'
import { fitLower } from './lower/fit.ts'
import { fitUpper } from './upper/fit.ts'

/**
 * Fits a garment on a person: its size, where each piece goes, and where the body's regions lie.
 *
 * Throws `DrapeError` RESULT_REJECTED when the garment does not suit the pose or the photo shows too little of the person.
 */
export function fitGarment(model: BodyModel, garment: PreparedGarment): Fitting {
  return garment.kind === 'trousers' || garment.kind === 'skirt' ? fitLower(model, garment) : fitUpper(model, garment)
}
