import type { BodyModel } from '../../../../vision/body/body-model.ts'
import { measureLegFields } from '../../../../vision/body/leg-field.ts'
import type { LowerGarment } from '../../../../vision/garment/garment.ts'
import type { LowerFitting } from './fitting.ts'
import { placeLower } from './place.ts'
import { partDress } from './worn-dress.ts'
import { findWornLower } from './worn-mask.ts'

/** Places trousers or a skirt and measures the worn clothes on hips and legs. Throws as `placeLower` does. */
export function fitLower({ view, person, body, parts: seen }: BodyModel, garment: LowerGarment): LowerFitting {
  const parts = partDress(seen)
  const placement = placeLower({ person, body, parts, garment })
  const { legs, covered, landmarks, warnings } = placement
  const placed = { person, body, parts, legs, covered, fields: measureLegFields(parts.lower, legs, body) }
  return { ...placed, kind: 'lower', view, garment, placement, worn: findWornLower(placed), landmarks, warnings }
}
