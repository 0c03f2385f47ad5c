import { DrapeError } from '../../../../../api/shared/contract/errors.ts'
import { bareLegRadius } from '../../../../vision/body/leg-profile.ts'
import { labToRgb } from '../../../../vision/raster/colour.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import { dilate, open as openMask } from '../../../../vision/raster/morphology.ts'
import {
  type Colours,
  createMask,
  createPlane,
  type Mask,
  maskWhere,
  type Plane,
  subset,
} from '../../../../vision/raster/plane.ts'
import type { FittedLegs } from '../../fit/lower/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import type { LowerRemoval } from '../removal.ts'
import { BACKGROUND_MARGIN, BARE_LEG, LEG_RIM, MAX_WITHOUT_SKIN, MIN_FILLED, WARNED } from '../tuning.ts'
import { fillAcross } from './background.ts'
import { inventLegs } from './invented-skin.ts'

/**
 * Removes the worn trousers or skirt where `cover` (0 to 1, the new garment) does not hide it and `allowed` permits it: legs
 * become bare, the region beside them becomes background. `photo` is the analysed bitmap in sRGB, 0 to 255.
 *
 * Throws `DrapeError` RESULT_REJECTED if much of the legs would have to be invented and no skin is visible.
 */
export function removeLower(
  input: FittedLegs,
  { photo, cover, allowed }: { photo: Colours; cover: Plane; allowed: (index: number) => boolean },
): LowerRemoval {
  const { worn } = input
  const open = (i: number) => cover.data[i] < SOLID && allowed(i)
  const seen = subset(worn.mask, open)
  const layer: Colours = { ...photo, channels: 4, data: new Float32Array(cover.data.length * 4) }
  const area = areaOf(input.body.unit)
  if (area(seen) < MIN_FILLED.legs)
    return { layer, background: createMask(cover), skin: createMask(cover), worn, warnings: [] }
  const legs = bareLegs(input)
  const skin = subset(seen, (i) => legs.data[i] > 0)
  const tones = inventLegs(input, worn)
  if (!tones && area(skin) > MAX_WITHOUT_SKIN)
    throw new DrapeError('RESULT_REJECTED', 'No skin is visible that could be continued where the worn garment was')
  const background = backgroundBeside(input, { seen, legs, open, arms: worn.arms })
  // Background also continues under the soft edges of the legs.
  const behind = featherMask(
    maskWhere(cover, (i) => background.data[i] === 1 || (tones !== null && skin.data[i] === 1)),
    0.7,
  )
  const across = { hidden: input.person.mask, wanted: behind, margin: BACKGROUND_MARGIN.rows * input.body.unit }
  paintLayer(layer, fillAcross(photo, across), behind)
  if (tones) paintLayer(layer, labToRgb(tones), legShare(input, { seen, legs, open }))
  const bare = subset(background, (i) => input.person.mask.data[i] > 0.5)
  return {
    layer,
    background,
    skin: tones ? skin : createMask(cover),
    worn,
    warnings: warningsOf({ skin: area(skin), background: area(bare), hasSkin: tones !== null }),
  }
}

function warningsOf({ skin, background, hasSkin }: { skin: number; background: number; hasSkin: boolean }): string[] {
  const found: [string, boolean][] = [
    ['LARGE_SKIN_INVENTED', hasSkin && skin > WARNED.skin],
    ['LARGE_BACKGROUND_INVENTED', background > WARNED.besideLegs],
    ['OLD_GARMENT_REMAINS', !hasSkin && skin > WARNED.remains],
  ]
  return found.filter(([, holds]) => holds).map(([code]) => code)
}

// The worn garment outside the legs, with its rim, where cloth and background mix. The rim can have any label, but is thinner than regions
// that stay.
function backgroundBeside(
  { person, body, parts }: FittedLegs,
  { seen, legs, open, arms }: { seen: Mask; legs: Plane; open: (i: number) => boolean; arms: Mask },
): Mask {
  const rim = dilate(seen, Math.max(2, LEG_RIM.rim * body.unit))
  const rest = maskWhere(
    seen,
    (i) => person.mask.data[i] > 0.5 && !seen.data[i] && !(parts.skin.data[i] && !arms.data[i]),
  )
  const staying = openMask(rest, Math.max(1.5, LEG_RIM.thin * body.unit))
  return subset(rim, (i) => {
    if (!open(i) || legs.data[i] >= 1) return false
    if (seen.data[i]) return true
    if (parts.skin.data[i]) return legs.data[i] === 0 && !arms.data[i]
    return person.mask.data[i] < 0.6 || (!staying.data[i] && !arms.data[i])
  })
}

function areaOf(unit: number): (mask: Mask) => number {
  return ({ data }) => {
    let count = 0
    for (let i = 0; i < data.length; i++) count += data[i]
    return count / (unit * unit)
  }
}

// Bare legs with a soft edge; never wider than the clothes that hide them.
function bareLegs({ body, legs, fields, covered }: FittedLegs): Plane {
  const cover = createPlane(fields[0].distance)
  for (const [side, { distance, along }] of fields.entries()) {
    const { length } = legs[side]
    const end = length + BARE_LEG.below * body.unit
    // Right beside the garment a bare leg would look like a slit.
    const start = covered[side] - BARE_LEG.above * body.unit
    const radii = Float32Array.from({ length: Math.ceil(length) + 2 }, (_, way) =>
      Math.min(bareLegRadius(body, way / length), BARE_LEG.radius * widest(legs[side], way)),
    )
    for (let i = 0; i < cover.data.length; i++) {
      if (distance.data[i] > length || along.data[i] < start || along.data[i] > end) continue
      const share = radii[Math.min(radii.length - 1, Math.round(along.data[i]))] - distance.data[i] + 0.5
      if (share > cover.data[i]) cover.data[i] = Math.min(1, share)
    }
  }
  return cover
}

function widest({ along, outer, inner }: FittedLegs['legs'][0], way: number): number {
  const i = Math.min(along.length - 1, Math.round((way / along[along.length - 1]) * (along.length - 1)))
  return Math.max(outer[i], inner[i])
}

// Invented skin blends into real skin without a visible line.
function legShare(
  { parts, body }: FittedLegs,
  { seen, legs, open }: { seen: Mask; legs: Plane; open: (i: number) => boolean },
): Plane {
  const near = dilate(seen, Math.max(2, LEG_RIM.skin * body.unit))
  const soft = featherMask(
    subset(near, (i) => legs.data[i] > 0 && (seen.data[i] === 1 || parts.skin.data[i] === 1 || !open(i))),
    0.8,
  )
  for (let i = 0; i < soft.data.length; i++) soft.data[i] *= legs.data[i]
  return soft
}

function paintLayer(layer: Colours, colours: Colours, share: Plane): void {
  for (let i = 0; i < share.data.length; i++) {
    const alpha = share.data[i]
    if (alpha < 1e-3) continue
    for (let c = 0; c < 3; c++)
      layer.data[i * 4 + c] = layer.data[i * 4 + c] * (1 - alpha) + colours.data[i * 3 + c] * alpha
    layer.data[i * 4 + 3] = layer.data[i * 4 + 3] * (1 - alpha) + 255 * alpha
  }
}
