import { FAR } from '../../../../vision/body/bone-field.ts'
import { bareLegRadius } from '../../../../vision/body/leg-profile.ts'
import { tintApart } from '../../../../vision/raster/colour.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import { erode } from '../../../../vision/raster/morphology.ts'
import { type Colours, channelOf, countSet, type Mask, subset } from '../../../../vision/raster/plane.ts'
import { enlargeByFactor, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { weightedBlur } from '../../../../vision/raster/weighted.ts'
import type { FittedLegs, WornLower } from '../../fit/lower/fitting.ts'
import { LEG_ROUND, LEG_TONE, WORN_LIGHT } from '../tuning.ts'

/**
 * Bare legs as CIE Lab of the analysed bitmap: the tone of bare parts of the legs, else of arms and face, darker towards the
 * edges and where the worn garment was in shade. Null if the photo shows no skin.
 */
export function inventLegs(input: FittedLegs, worn: WornLower): Colours | null {
  const { body, parts } = input
  const factor = Math.max(1, Math.round(body.unit / 64))
  const known = knownSkin(input, worn)
  if (!known) return null
  const reduced = reduceMasked(parts.lab, known, factor)
  const filled = fillSmoothly(reduced.colours, reduced.weight)
  const tones: Colours = { ...parts.lab, data: new Float32Array(parts.lab.data.length) }
  for (let c = 0; c < 3; c++) {
    const plane = enlargeByFactor(channelOf(filled, c), factor, parts.skin)
    for (let i = 0; i < plane.data.length; i++) tones.data[i * 3 + c] = plane.data[i]
  }
  roundLegs(tones, input)
  shadeLikeWorn(tones, input, { worn, factor })
  return tones
}

// Skin of the legs if there is enough of it, else of the arms, else all visible skin.
function knownSkin({ person, body, parts, fields }: FittedLegs, { arms }: WornLower): Mask | null {
  const { skin, along, skinColour, lab } = parts
  if (!skinColour) return null
  const clean = erode(
    subset(skin, (i) => {
      if (person.mask.data[i] <= 0.9 || Math.abs(lab.data[i * 3] - skinColour[0]) >= LEG_TONE.fromSkin) return false
      return tintApart(lab, i, skinColour) < LEG_TONE.tint
    }),
    1.5,
  )
  const onLegs = subset(
    clean,
    (i) => along.data[i] > 1.2 && !arms.data[i] && fields.some((f) => f.distance.data[i] < FAR),
  )
  const minSamples = LEG_TONE.area * body.unit ** 2
  if (countSet(onLegs) > minSamples) return middleTones(onLegs, lab)
  const onArms = subset(clean, (i) => arms.data[i] === 1)
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

function shadeLikeWorn(
  tones: Colours,
  { body, parts }: FittedLegs,
  { worn, factor }: { worn: WornLower; factor: number },
): void {
  const { colours, weight } = reduceMasked(parts.lab, worn.mask, factor)
  const lightness = channelOf(colours, 0)
  const near = weightedBlur(lightness, weight, (WORN_LIGHT.near * body.unit) / factor)
  const wide = weightedBlur(lightness, weight, (WORN_LIGHT.wide * body.unit) / factor)
  for (let i = 0; i < near.values.data.length; i++) near.values.data[i] -= wide.values.data[i]
  const relief = enlargeByFactor(near.values, factor, parts.skin)
  for (let i = 0; i < relief.data.length; i++)
    tones.data[i * 3] += Math.min(WORN_LIGHT.lighter, Math.max(-WORN_LIGHT.darker, WORN_LIGHT.share * relief.data[i]))
}
