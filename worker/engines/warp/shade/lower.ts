import { FAR } from '../../../vision/body/bone-field.ts'
import type { LowerGarment } from '../../../vision/garment/garment.ts'
import { erode } from '../../../vision/raster/morphology.ts'
import type { Plane } from '../../../vision/raster/plane.ts'
import { interpolate } from '../../../vision/raster/polyline.ts'
import type { FittedLegs } from '../fit/lower/fitting.ts'
import { lightOnCloth } from './cloth-light.ts'
import { LEG_FREE, LEG_ROUND } from './tuning.ts'

/** The light on hips and legs: the visible light on the worn garment, and the roundness of each leg or of the skirt. */
export function measureLowerLight(input: FittedLegs, kind: LowerGarment['kind']): Plane {
  const { body, parts, legs, worn } = input
  const light = lightOnCloth(parts.lab, { cloth: erode(worn.mask, 1), unit: body.unit })
  if (kind === 'skirt') return light
  const [left, right] = input.fields
  for (let i = 0; i < light.data.length; i++) {
    const side = left.distance.data[i] <= right.distance.data[i] ? 0 : 1
    const { distance, along } = input.fields[side]
    if (distance.data[i] >= FAR) continue
    const leg = legs[side]
    const way = along.data[i]
    // Above the crotch both legs share one piece of cloth.
    const free = Math.min(1, Math.max(0, (way / leg.length - LEG_FREE.from) / LEG_FREE.over))
    const radius = (interpolate(leg.along, leg.outer, way) + interpolate(leg.along, leg.inner, way)) / 2
    light.data[i] *=
      1 - LEG_ROUND.depth * free * Math.min(1, distance.data[i] / (LEG_ROUND.radius * radius)) ** LEG_ROUND.power
  }
  return light
}
