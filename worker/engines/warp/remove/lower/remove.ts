import { unusable } from '../../../../vision/body/body-frame.ts'
import { FAR } from '../../../../vision/body/bone-field.ts'
import { bareLegRadius } from '../../../../vision/body/leg-profile.ts'
import { labToRgb, tintApart } from '../../../../vision/raster/colour.ts'
import { continueTexture } from '../../../../vision/raster/continue-texture.ts'
import { featherMask } from '../../../../vision/raster/feather.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import {
  below,
  countSet,
  intersect,
  invert,
  subset,
  threshold,
  union,
  without,
  withValue,
} from '../../../../vision/raster/mask.ts'
import { dilate, erode } from '../../../../vision/raster/morphology.ts'
import {
  type Colours,
  createMask,
  createPlane,
  type Mask,
  mapChannels,
  type Plane,
} from '../../../../vision/raster/plane.ts'
import { enlargeByFactor, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import type { FittedLegs, WornLower } from '../../fit/lower/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import { type LowerRemoval, nearPerson } from '../removal.ts'
import { BARE_LEG, LEG_RIM, LEG_ROUND, LEG_TONE, MAX_WITHOUT_SKIN, MIN_FILLED, WARNED } from '../tuning.ts'

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
  if (area(seen) < MIN_FILLED.legs) return { layer, background: createMask(cover), worn, warnings: [] }
  const legs = bareLegs(input)
  const skin = withValue(seen, legs, { over: 0 })
  const tones = inventLegs(input, worn)
  if (!tones && area(skin) > MAX_WITHOUT_SKIN)
    throw unusable('No skin is visible that could be continued where the worn garment was')
  const background = backgroundBeside(input, { seen, legs, open, arms: worn.arms })
  // Background also continues under the soft edges of the legs.
  const behind = featherMask(tones ? union(background, skin) : background, 0.7)
  const unknown = nearPerson(input.person.mask, input.body.unit)
  paintLayer(layer, continueTexture(photo, { unknown, wanted: invert(below(behind, 1e-3)) }), behind)
  if (tones) paintLayer(layer, labToRgb(tones), legShare(input, { seen, legs, open }))
  const bare = withValue(background, input.person.mask, { over: 0.5 })
  return {
    layer,
    background,
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

// The worn garment outside the legs, with its rim, where cloth and background mix.
function backgroundBeside(
  { person, body, parts }: FittedLegs,
  { seen, legs, open, arms }: { seen: Mask; legs: Plane; open: (i: number) => boolean; arms: Mask },
): Mask {
  const rim = dilate(seen, Math.max(2, LEG_RIM.rim * body.unit))
  const rest = without(threshold(person.mask, 0.5), seen, without(parts.skin, arms))
  const bare = without(parts.skin, arms, threshold(legs, 0))
  const other = without(union(below(person.mask, 0.6), invert(union(rest, arms))), parts.skin)
  return subset(withValue(intersect(rim, union(seen, bare, other)), legs, { under: 1 }), open)
}

function areaOf(unit: number): (mask: Mask) => number {
  return (mask) => countSet(mask) / (unit * unit)
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

/**
 * Bare legs as CIE Lab of the analysed bitmap: the tone of bare parts of the legs, else of arms and face, darker towards the
 * edges. Null if the photo shows no skin.
 */
function inventLegs(input: FittedLegs, worn: WornLower): Colours | null {
  const { body, parts } = input
  const factor = Math.max(1, Math.round(body.unit / 64))
  const known = knownSkin(input, worn)
  if (!known) return null
  const reduced = reduceMasked(parts.lab, known, factor)
  const filled = fillSmoothly(reduced.colours, reduced.weight)
  const tones = mapChannels(filled, (plane) => enlargeByFactor(plane, factor, parts.skin))
  roundLegs(tones, input)
  return tones
}

// Skin of the legs if there is enough of it, else of the arms, else all visible skin.
function knownSkin({ person, body, parts, fields }: FittedLegs, { arms }: WornLower): Mask | null {
  const { skin, along, skinColour, lab } = parts
  if (!skinColour) return null
  const clean = erode(
    subset(withValue(skin, person.mask, { over: 0.9 }), (i) => {
      if (Math.abs(lab.data[i * 3] - skinColour[0]) >= LEG_TONE.fromSkin) return false
      return tintApart(lab, i, skinColour) < LEG_TONE.tint
    }),
    1.5,
  )
  const near = union(below(fields[0].distance, FAR), below(fields[1].distance, FAR))
  const onLegs = withValue(without(intersect(clean, near), arms), along, { over: 1.2 })
  const minSamples = LEG_TONE.area * body.unit ** 2
  if (countSet(onLegs) > minSamples) return middleTones(onLegs, lab)
  const onArms = intersect(clean, arms)
  if (countSet(onArms) > minSamples) return middleTones(onArms, lab)
  return countSet(clean) > 30 ? middleTones(clean, lab) : null
}

function middleTones(skin: Mask, lab: Colours): Mask {
  const median = medianOf(lab, skin, 0)
  return subset(skin, (i) => Math.abs(lab.data[i * 3] - median) < LEG_TONE.fromMedian)
}

function roundLegs(tones: Colours, { body, legs, fields }: FittedLegs): void {
  for (let i = 0; i < fields[0].distance.data.length; i++) {
    let rim = 2
    let knee = 0
    for (const [side, { distance, along }] of fields.entries()) {
      if (distance.data[i] >= FAR) continue
      const share = along.data[i] / legs[side].length
      const own = distance.data[i] / bareLegRadius(body, share)
      if (own >= rim) continue
      rim = own
      knee = Math.exp(-(((along.data[i] - legs[side].thigh) / (LEG_ROUND.kneeLength * body.unit)) ** 2))
    }
    if (rim > 1.2) continue
    tones.data[i * 3] +=
      LEG_ROUND.middle - LEG_ROUND.edge * Math.min(1.1, rim) ** LEG_ROUND.power - LEG_ROUND.knee * knee * (1 - rim)
    tones.data[i * 3 + 1] += LEG_ROUND.kneeRed * knee
  }
}
