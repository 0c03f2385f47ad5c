import { copyRgb } from '../../../../vision/composite/blend.ts'
import { createFieldSampler, type FieldSampler } from '../../../../vision/raster/field-sampler.ts'
import { type Bitmap, createPlane, type Plane } from '../../../../vision/raster/plane.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import type { UpperRemoval } from '../../remove/removal.ts'
import type { FlatGarment, UpperLayers } from '../../warp/layers.ts'
import { BACK_LIGHT, MIN_CHANGE } from '../tuning.ts'
import {
  ARM,
  BACK,
  CUFF_SHADOW,
  FACE,
  findOcclusionOrder,
  HANDS,
  HIDDEN_SLEEVE,
  REMOVAL,
  SHADOW,
} from './occlusion-order.ts'

/**
 * Composites all layers, back to front: the scene without the worn garment, the inside of the back, contact shadows, torso,
 * bare arms, sleeves, hands, hair and face. `photo` has the size of the layers; `garment` is the garment in the size of
 * the analysed bitmap. Returns the result and its blend factor (exactly 0 for unchanged pixels): photo · (1 − change) +
 * image · change.
 */
export function composeUpper(
  fitting: FittingRegions,
  {
    photo,
    layers,
    garment,
    removal,
  }: { photo: Bitmap; layers: UpperLayers; garment: FlatGarment; removal: UpperRemoval },
): { image: Bitmap; change: Plane } {
  const fields = findOcclusionOrder(fitting, { garment, removal })
  const touched = [fields[REMOVAL + 3], fields[SHADOW], garment.cover]
  const sampler = createFieldSampler(fields, { size: photo, touched })
  const image = copyRgb(photo)
  const change = createPlane(photo)
  for (let y = 0; y < photo.height; y++) composeRow(y, { sampler, layers, image, change })
  return { image, change }
}

interface Target {
  readonly sampler: FieldSampler
  readonly layers: UpperLayers
  readonly image: Bitmap
  readonly change: Plane
}

// Every layer is a weighted sum of the same few bitmaps: the scene without the worn garment ("bare"), the inside of the back, the
// torso and the sleeves. Therefore only the weights pass through the layers, and the colours are summed once.
function composeRow(y: number, { sampler, layers, image, change }: Target): void {
  const { torso, back, sleeves } = layers
  const { width } = image
  const weights = new Float64Array(sleeves.length)
  const { from, to } = sampler.moveTo(y)
  for (let x = from; x < to; x++) {
    const i = y * width + x
    const k = i * 4
    const f = sampler.fieldsAt(x)
    const torsoCover = torso.data[k + 3] / 255
    const backCover = (back.data[k + 3] / 255) * f[BACK]
    const open = (1 - f[SHADOW]) * (1 - torsoCover)
    let others = 1 - f[ARM]
    let bare = (1 - backCover) * open * others + (1 - f[CUFF_SHADOW]) * f[ARM]
    for (let s = 0; s < sleeves.length; s++) {
      // These fields exist only if an arm is behind the body.
      const before = 1 - (f[HIDDEN_SLEEVE + s] ?? 0) * torsoCover
      const hidden = 1 - (before * sleeves[s].layer.data[k + 3]) / 255
      bare *= hidden
      others *= hidden
      for (let below = 0; below < s; below++) weights[below] *= hidden
      weights[s] = before
    }
    const behind = (1 - f[HANDS]) * (1 - f[FACE])
    bare = bare * behind + 1 - behind
    others *= behind
    const share = 1 - bare * (1 - f[REMOVAL + 3])
    if (share < MIN_CHANGE) continue
    change.data[i] = share > 1 - MIN_CHANGE ? 1 : share
    const inside = BACK_LIGHT * f[BACK] * open * others
    for (let c = 0; c < 3; c++) {
      let colour = bare * f[REMOVAL + c] + inside * back.data[k + c] + others * torso.data[k + c]
      for (let s = 0; s < sleeves.length; s++) colour += weights[s] * behind * sleeves[s].layer.data[k + c]
      image.data[i * 3 + c] = Math.min(255, Math.round(colour / share))
    }
  }
}
