import type { ColourModel } from '../../raster/colour-model.ts'
import { samplesOf } from '../../raster/colour-model.ts'
import { connectedComponents } from '../../raster/components.ts'
import { type Colours, type Mask, maskWhere, type Plane, subset } from '../../raster/plane.ts'
import { fillCapsules } from '../../raster/polygon.ts'
import { between } from '../../raster/vector.ts'
import { bothSides } from './axes.ts'
import type { BodyFrame } from './body.ts'
import { medianColour } from './part-colours.ts'

interface Input {
  readonly lab: Colours
  readonly mask: Plane
  readonly skin: Mask
  readonly body: BodyFrame
  /** What top and lower garment look like. */
  readonly clothes: ColourModel
}

// A hand is taken for seen when so much of a body unit's square is skin already.
const LEAST_SEEN = 0.008
// How much of a difference in lightness counts: for skin, whose fingers shade each other, and for cloth.
const SKIN_LIGHTNESS = 0.15
const CLOTH_LIGHTNESS = 0.35
// Paler than this, skin cannot be told from cloth by its hue.
const LEAST_CHROMA = 4

/**
 * Pixels of hands that lie in their own shade and were taken for something else: they have the hue of the hand's sure skin at less
 * light, and hang together with it.
 */
export function findShadedHands({ lab, mask, skin, body, clothes }: Input): Mask {
  const found = bothSides((side) => {
    const { wrist, knuckles } = body.joints
    const radius = body.armRadius[side]
    const chain = [between(wrist[side], knuckles[side], 0.1), knuckles[side], between(wrist[side], knuckles[side], 2)]
    const hand = subset(fillCapsules(skin, chain, [radius, 1.25 * radius, 1.1 * radius]), (i) => mask.data[i] > 0.5)
    const seen = subset(hand, (i) => skin.data[i] === 1)
    const samples = samplesOf(lab, seen)
    if (samples.length / 3 < Math.max(12, LEAST_SEEN * body.unit ** 2)) return null
    const isSkin = shadedSkinTest(lab, { skin: medianColour(samples), clothes })
    return connectedTo(
      subset(hand, (i) => skin.data[i] === 1 || isSkin(i)),
      seen,
    )
  })
  return maskWhere(skin, (i) => found.some((hand) => hand?.data[i] === 1))
}

// Less light scales L + 16, a and b alike: CIE Lab is a cube root of light.
function shadedSkinTest(
  lab: Colours,
  { skin: [l0, a0, b0], clothes }: { skin: readonly [number, number, number]; clothes: ColourModel },
): (index: number) => boolean {
  return (i) => {
    const [l, a, b] = [lab.data[3 * i], lab.data[3 * i + 1], lab.data[3 * i + 2]]
    const light = (l + 16) / (l0 + 16)
    if (light > 1.25 || light * Math.hypot(a0, b0) < LEAST_CHROMA) return false
    const toSkin = Math.hypot(a - a0 * light, b - b0 * light, SKIN_LIGHTNESS * (l - l0))
    const toCloth = Math.min(
      ...clothes.map(({ mean: [lc, ac, bc] }) => {
        const share = (l + 16) / (lc + 16)
        return Math.hypot(a - ac * share, b - bc * share, CLOTH_LIGHTNESS * (l - lc))
      }),
    )
    return toSkin < 0.7 * toCloth
  }
}

function connectedTo(mask: Mask, seed: Mask): Mask {
  const { labels } = connectedComponents(mask)
  const kept = new Set<number>()
  for (let i = 0; i < labels.length; i++) if (seed.data[i] && labels[i]) kept.add(labels[i])
  return subset(mask, (i) => kept.has(labels[i]))
}
