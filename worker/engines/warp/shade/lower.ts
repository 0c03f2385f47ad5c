import { FAR } from '../../../body/bone-field.ts'
import type { LowerGarment } from '../../../garment/garment.ts'
import { erode } from '../../../raster/morphology.ts'
import type { Plane } from '../../../raster/plane.ts'
import { interpolate } from '../../../raster/polyline.ts'
import type { LegsInput, WornLower } from '../remove/lower/worn-mask.ts'
import { lightOnCloth } from './shade.ts'

/** The light on hips and legs: what the worn garment shows of it, and the roundness of each leg or of the whole skirt. */
export function measureLowerLight(
  input: LegsInput,
  { worn, kind }: { worn: WornLower; kind: LowerGarment['kind'] },
): Plane {
  const { body, parts, legs } = input
  const light = lightOnCloth(parts.lab, { cloth: erode(worn.mask, 1), unit: body.unit })
  if (kind === 'skirt') return light
  const [left, right] = input.fields
  for (let i = 0; i < light.data.length; i++) {
    const side = left.distance.data[i] <= right.distance.data[i] ? 0 : 1
    const { distance, along } = input.fields[side]
    if (distance.data[i] >= FAR) continue
    const leg = legs[side]
    const way = along.data[i]
    // Above the crotch the two legs' cloth is one.
    const free = Math.min(1, Math.max(0, (way / leg.length - 0.16) / 0.14))
    const radius = (interpolate(leg.along, leg.outer, way) + interpolate(leg.along, leg.inner, way)) / 2
    light.data[i] *= 1 - 0.2 * free * Math.min(1, distance.data[i] / (1.08 * radius)) ** 4
  }
  return light
}
