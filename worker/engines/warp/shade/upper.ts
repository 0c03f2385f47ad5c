import { createPlane, type Plane, subset } from '../../../vision/raster/plane.ts'
import type { FittingRegions } from '../fit/upper/fitting.ts'
import type { UpperLayers } from '../warp/layers.ts'
import { lightOnCloth } from './cloth-light.ts'
import { keptStrength, shadePiece } from './lit-piece.ts'
import { SLEEVE_ROUND, TORSO_ROUND } from './tuning.ts'

/** Factors on the garment's colours at every pixel of the analysed bitmap. */
export interface Light {
  readonly torso: Plane
  readonly sleeves: Plane
}

/**
 * The light on the worn garment: its folds and the scene's large shadows, unless its own pattern hides them, and the
 * roundness of the body.
 */
export function measureLight({ person, body, parts, regions }: FittingRegions): Light {
  const sleeves = lightOnCloth(parts.lab, {
    cloth: subset(parts.top, (i) => person.mask.data[i] > 0.6),
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
