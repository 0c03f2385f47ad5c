import { gaussianBlur, weightedBlur } from '../../../vision/raster/filter.ts'
import { threshold, without } from '../../../vision/raster/mask.ts'
import { erode } from '../../../vision/raster/morphology.ts'
import {
  type Colours,
  channelOf,
  createPlane,
  type Mask,
  maskToPlane,
  type Plane,
} from '../../../vision/raster/plane.ts'
import { enlargeByFactor, reduceMasked } from '../../../vision/raster/reduce.ts'
import { clamp, medianOf } from '../../../vision/raster/statistics.ts'
import { norm } from '../../../vision/raster/vector.ts'
import { BELIEF, DARK_OFFSET, FOLD_DEPTH, LIGHT_LIMITS, LIGHT_SIGMA, PRINT, SCENE_DEPTH } from './tuning.ts'

/** The light on a worn piece of cloth, as a factor on colours; 1 outside the cloth. `lab` is the bitmap in CIE Lab. */
export function lightOnCloth(lab: Colours, { cloth: worn, unit }: { cloth: Mask; unit: number }): Plane {
  const lightness = channelOf(lab, 0)
  const cloth = plainCloth({ lightness, lab, worn, unit })
  const factor = Math.max(1, Math.round(unit / 64))
  const cells = reduceMasked(lab, cloth.mask, factor)
  const coarse = (sigma: number) => {
    const { values } = weightedBlur(channelOf(cells.colours, 0), cells.weight, (sigma * unit) / factor)
    return enlargeByFactor(values, factor, lightness)
  }
  const weight = maskToPlane(cloth.mask)
  const near = weightedBlur(lightness, weight, LIGHT_SIGMA.fold * unit).values
  const wide = coarse(LIGHT_SIGMA.level)
  const scene = coarse(LIGHT_SIGMA.scene)
  const depth = foldDepth(near, wide, { cloth: cloth.mask, median: cloth.median })
  const sceneDepth = depth > SCENE_DEPTH.folds ? SCENE_DEPTH.folded : SCENE_DEPTH.plain
  const sure = gaussianBlur(weight, BELIEF.sigma * unit)
  const light = createPlane(lightness, 1)
  for (let i = 0; i < light.data.length; i++) {
    const belief = clamp(BELIEF.slope * sure.data[i] - BELIEF.offset, 0, 1)
    if (belief === 0) continue
    const fold = clamp((near.data[i] + DARK_OFFSET) / (wide.data[i] + DARK_OFFSET), ...LIGHT_LIMITS.fold) ** depth
    const large =
      clamp((wide.data[i] + DARK_OFFSET) / (scene.data[i] + DARK_OFFSET), ...LIGHT_LIMITS.scene) ** sceneDepth
    light.data[i] = (1 + belief * (fold - 1)) * (1 + belief * (large - 1))
  }
  return light
}

interface Cloth {
  readonly mask: Mask
  /** Median L of the worn garment. */
  readonly median: number
}

// Only pixels of the garment's main colour show the light: a print would be copied to the new garment.
function plainCloth({
  lightness,
  lab,
  worn,
  unit,
}: {
  lightness: Plane
  lab: Colours
  worn: Mask
  unit: number
}): Cloth {
  const [l, a, b] = [0, 1, 2].map((channel) => medianOf(lab, worn, channel))
  const local = gaussianBlur(lightness, PRINT.localSigma * unit)
  const odd = createPlane(worn)
  for (let i = 0, k = 0; i < odd.data.length; i++, k += 3) {
    const strange =
      norm(lab.data[k + 1] - a, lab.data[k + 2] - b) > PRINT.tint ||
      Math.abs(lab.data[k] - local.data[i]) > PRINT.local ||
      Math.abs(lab.data[k] - l) > PRINT.lightness
    odd.data[i] = strange ? 1 : 0
  }
  const near = gaussianBlur(odd, PRINT.sigma * unit)
  return {
    mask: erode(without(worn, threshold(near, PRINT.share)), 1),
    median: l,
  }
}

// Share of the folds that is transferred: strong variation is pattern, not relief, and black cloth hides its folds.
function foldDepth(near: Plane, wide: Plane, { cloth, median }: { cloth: Mask; median: number }): number {
  let count = 0
  let sum = 0
  let squares = 0
  for (let i = 0; i < cloth.data.length; i++) {
    if (!cloth.data[i]) continue
    const relief = near.data[i] - wide.data[i]
    count++
    sum += relief
    squares += relief * relief
  }
  if (count === 0) return 0
  const deviation = Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2))
  const plain = clamp(FOLD_DEPTH.deviation[0] - deviation / FOLD_DEPTH.deviation[1], 0, 1)
  return FOLD_DEPTH.max * plain * clamp((median - FOLD_DEPTH.black[0]) / FOLD_DEPTH.black[1], 0, 1)
}
