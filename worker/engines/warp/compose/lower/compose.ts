import { copyRgb } from '../../../../vision/composite/blend.ts'
import { keepComponents } from '../../../../vision/raster/components.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import { createFieldSampler, type FieldSampler } from '../../../../vision/raster/field-sampler.ts'
import { below, countSet, intersect, subset, union, without, withValue } from '../../../../vision/raster/mask.ts'
import { dilate, open } from '../../../../vision/raster/morphology.ts'
import { type Bitmap, channelOf, createPlane, type Mask, type Plane } from '../../../../vision/raster/plane.ts'
import { difference } from '../../../../vision/raster/reduce.ts'
import type { Layer } from '../../../../vision/raster/remap.ts'
import { shiftDown } from '../../../../vision/raster/shift.ts'
import { clamp } from '../../../../vision/raster/statistics.ts'
import type { LowerFitting } from '../../fit/lower/fitting.ts'
import type { LowerRemoval } from '../../remove/removal.ts'
import { bringHandsToFront, edgeSoftness } from '../front.ts'
import {
  BARE_FOREARMS,
  HANGING_TOP,
  HEM_SHADE,
  MIN_CHANGE,
  MIN_SHOWN,
  OLD_WAIST,
  ON_PERSON,
  SURE_PERSON,
  TOP_HEM,
  TOP_SHADE,
  WIDE_HEM_SHADE,
} from '../tuning.ts'

/**
 * Composites all layers, back to front: the scene without the worn garment, shadows on the legs, the new garment, the shadow
 * of the top on it, and the top with arms, hands and hair. `photo` and `pieces` have the same size; `cover` is the new
 * garment in the size of the analysed bitmap. Returns the result and its blend factor (exactly 0 for unchanged pixels).
 */
export function composeLower(
  fitting: LowerFitting,
  { photo, pieces, cover, removal }: { photo: Bitmap; pieces: readonly Layer[]; cover: Plane; removal: LowerRemoval },
): { image: Bitmap; change: Plane } {
  const front = inFront(fitting, removal)
  const fields = [
    ...[0, 1, 2].map((channel) => channelOf(removal.layer, channel)),
    channelOf(removal.layer, 3, 1 / 255),
    front,
    shadowBelow(front, fitting),
    hemShadow(fitting, { cover, removal }),
  ]
  const sampler = createFieldSampler(fields, { size: photo, touched: [fields[3], fields[HEM_SHADOW], cover] })
  const image = copyRgb(photo)
  const change = createPlane(photo)
  for (let y = 0; y < photo.height; y++) composeRow(y, { sampler, pieces, image, change })
  return { image, change }
}

const FRONT = 4
const TOP_SHADOW = 5
const HEM_SHADOW = 6

// The worn top and everything above its hem, and the arms, hands and hair in front of the hips.
function inFront({ person, body, parts, placement }: LowerFitting, { worn }: LowerRemoval): Plane {
  const { top, skin, hair, lower, along } = parts
  const { topHem } = placement.worn
  // Bare forearms have no sleeves: pixels labelled top there belong to the worn trousers.
  const onArms = (mask: Mask) => countSet(intersect(mask, worn.arms))
  const isBare = onArms(skin) > BARE_FOREARMS * onArms(top)
  const seen = withValue(top, person.mask, { over: SURE_PERSON })
  const onBody = withValue(seen, along, { under: topHem + TOP_HEM.below })
  const tops = isBare ? onBody : union(onBody, intersect(seen, worn.arms))
  const hanging = keepComponents(
    open(tops, HANGING_TOP.width * body.unit),
    ({ area }) => area > HANGING_TOP.area * body.unit ** 2,
  )
  const waist = withValue(lower, along, { over: placement.waist - TOP_HEM.waist, under: topHem + TOP_HEM.waist })
  const oldWaist = dilate(
    subset(waist, (i) => difference(parts.lab, worn.cloth, i) < OLD_WAIST.difference),
    OLD_WAIST.around * body.unit,
  )
  const aboveHem = without(below(along, topHem - TOP_HEM.above), oldWaist)
  const shown = union(hanging, hair, worn.sleeves, intersect(skin, worn.arms), aboveHem)
  const own = keepComponents(shown, ({ area }) => area > MIN_SHOWN.front * body.unit ** 2)
  const front = featherMask(own, edgeSoftness(body.unit))
  const hands = intersect(own, skin, worn.arms)
  for (let i = 0; i < front.data.length; i++) if (hands.data[i]) front.data[i] = 1
  bringHandsToFront(front, person)
  return front
}

// Darkens the region below an object that hangs over the garment.
function shadowBelow(plane: Plane, { body }: LowerFitting): Plane {
  const moved = shiftDown(plane, Math.max(1, Math.round(TOP_SHADE.down * body.unit)))
  const soft = featherMask(moved, TOP_SHADE.soft * body.unit)
  for (let i = 0; i < soft.data.length; i++) soft.data[i] = TOP_SHADE.strength * clamp(soft.data[i] - plane.data[i])
  return soft
}

function hemShadow(
  { person, body }: LowerFitting,
  { cover, removal: { background, worn } }: { cover: Plane; removal: LowerRemoval },
): Plane {
  const near = featherMask(
    shiftDown(cover, Math.max(1, Math.round(HEM_SHADE.down * body.unit))),
    HEM_SHADE.soft * body.unit,
  )
  const wide = featherMask(
    shiftDown(cover, Math.max(1, Math.round(WIDE_HEM_SHADE.down * body.unit))),
    WIDE_HEM_SHADE.soft * body.unit,
  )
  for (let i = 0; i < near.data.length; i++) {
    if (near.data[i] === 0 && wide.data[i] === 0) continue
    const onPerson =
      background.data[i] || worn.arms.data[i]
        ? 0
        : clamp(ON_PERSON.shadow[0] * person.mask.data[i] - ON_PERSON.shadow[1])
    const contact = HEM_SHADE.strength * clamp(near.data[i] - cover.data[i])
    near.data[i] = onPerson * Math.max(contact, WIDE_HEM_SHADE.strength * clamp(wide.data[i] - cover.data[i]))
  }
  return near
}

interface Target {
  readonly sampler: FieldSampler
  readonly pieces: readonly Layer[]
  readonly image: Bitmap
  readonly change: Plane
}

function composeRow(y: number, { sampler, pieces, image, change }: Target): void {
  const { width } = image
  const { from, to } = sampler.moveTo(y)
  const colour = new Float64Array(3)
  for (let x = from; x < to; x++) {
    const i = y * width + x
    const f = sampler.fieldsAt(x)
    const behind = 1 - f[FRONT]
    // Share of the scene that is still visible through all layers so far.
    let scene = 1 - f[HEM_SHADOW]
    for (let c = 0; c < 3; c++) colour[c] = scene * f[c]
    for (const { data } of pieces) {
      const k = i * 4
      const through = 1 - data[k + 3] / 255
      if (through === 1) continue
      scene *= through
      for (let c = 0; c < 3; c++) colour[c] = colour[c] * through + data[k + c] * (1 - f[TOP_SHADOW])
    }
    const kept = f[FRONT] + behind * scene * (1 - f[3])
    const share = 1 - kept
    if (share < MIN_CHANGE) continue
    change.data[i] = share > 1 - MIN_CHANGE ? 1 : share
    for (let c = 0; c < 3; c++) image.data[i * 3 + c] = Math.min(255, Math.round((behind * colour[c]) / share))
  }
}
