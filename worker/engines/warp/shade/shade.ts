import { FAR } from '../../../vision/body/bone-field.ts'
import type { LowerGarment } from '../../../vision/garment/garment.ts'
import { withValue } from '../../../vision/raster/mask.ts'
import { erode } from '../../../vision/raster/morphology.ts'
import { createPlane, type Plane } from '../../../vision/raster/plane.ts'
import { interpolate } from '../../../vision/raster/polyline.ts'
import type { Shaded, Warped } from '../dressing.ts'
import type { FittedLegs } from '../fit/lower/fitting.ts'
import type { FittingRegions } from '../fit/upper/fitting.ts'
import { flattenLayers } from '../warp/flat-garment.ts'
import type { UpperLayers } from '../warp/layers.ts'
import { lightOnCloth } from './cloth-light.ts'
import { keptStrength, shadePiece } from './lit-piece.ts'
import { LEG_FREE, LEG_ROUND, SLEEVE_ROUND, TORSO_ROUND } from './tuning.ts'

/**
 * Applies the light of the scene to the garment's layers, in place, and flattens them.
 *
 * Sharpens the soft edge of a top together with its light; uses the original edge of trousers or a skirt.
 */
export function shadeGarment(warped: Warped): Shaded {
  const { analysed } = warped.view
  if (warped.kind === 'upper') {
    shadeUpper(warped.layers, measureLight(warped))
    return { ...warped, flat: flattenLayers(warped.layers, analysed) }
  }
  const [first, ...others] = warped.layers.pieces
  const flat = flattenLayers({ torso: first, sleeves: others.map((layer) => ({ layer })) }, analysed)
  const light = measureLowerLight(warped, warped.garment.kind)
  for (const piece of warped.layers.pieces) shadePiece(piece, light)
  return { ...warped, flat }
}

/** Factors on the garment's colours at every pixel of the analysed bitmap. */
interface Light {
  readonly torso: Plane
  readonly sleeves: Plane
}

/**
 * The light on the worn garment: its folds and the scene's large shadows, unless its own pattern hides them, and the
 * roundness of the body.
 */
export function measureLight({ person, body, parts, regions }: FittingRegions): Light {
  const sleeves = lightOnCloth(parts.lab, {
    cloth: withValue(parts.top, person.mask, { over: 0.6 }),
    unit: body.unit,
  })
  const torso = createPlane(sleeves)
  for (let i = 0; i < torso.data.length; i++)
    torso.data[i] =
      sleeves.data[i] *
      (1 - TORSO_ROUND.depth * Math.min(TORSO_ROUND.reach, regions.sideways.data[i]) ** TORSO_ROUND.power)
  return { torso, sleeves }
}

/**
 * Applies the light to the garment's layers. Preserves the product's colour: if the torso would differ by more than 4.5
 * (mean ΔE, CIE 1976), all shading is weakened in proportion. Shades in place, because the layers are large.
 */
export function shadeUpper(layers: UpperLayers, light: Light): void {
  const strength = keptStrength(layers.torso, light.torso)
  shadePiece(layers.torso, light.torso, { strength })
  for (const { layer, across } of layers.sleeves)
    shadePiece(layer, light.sleeves, {
      strength,
      factorAt: (i) => 1 - SLEEVE_ROUND.depth * Math.abs(across[i] / 127) ** SLEEVE_ROUND.power,
    })
}

/** The light on hips and legs: the visible light on the worn garment, and the roundness of each leg or of the skirt. */
function measureLowerLight(input: FittedLegs, kind: LowerGarment['kind']): Plane {
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
