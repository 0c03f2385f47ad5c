import type { BodyModel } from '../../../../vision/body/body-model.ts'
import type { UpperGarment } from '../../../../vision/garment/garment.ts'
import type { UpperFitting } from './fitting.ts'
import { upperLandmarks } from './landmarks.ts'
import { placeUpper } from './place.ts'
import { cropToGarment } from './region-of-interest.ts'
import { findRegions } from './regions.ts'

/** Places a top or dress, crops the view to the affected region, and finds the regions of the body. Throws as `placeGarment` does. */
export function fitUpper({ view: whole, person, body, parts }: BodyModel, given: UpperGarment): UpperFitting {
  const { placement, garment } = placeUpper({ person, body, parts }, given)
  const { fitting, view } = cropToGarment(
    whole,
    { person, body, parts, placement },
    { toFeet: garment.kind === 'dress' },
  )
  return {
    ...fitting,
    kind: 'upper',
    view,
    garment,
    regions: findRegions(fitting),
    landmarks: upperLandmarks(fitting.placement),
    warnings: placement.warnings,
  }
}
