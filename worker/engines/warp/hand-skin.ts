import type { ColourModel } from '../../raster/colour-model.ts'
import { samplesOf } from '../../raster/colour-model.ts'
import { connectedComponents } from '../../raster/components.ts'
import { dilate, open } from '../../raster/morphology.ts'
import { type Colours, type Mask, maskWhere, type Plane, type Size, subset } from '../../raster/plane.ts'
import { fillCapsules } from '../../raster/polygon.ts'
import { between } from '../../raster/vector.ts'
import { bothSides, type Side } from './axes.ts'
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
// How far from skin a pixel may be, as a share of how far it is from cloth; more where it lies enclosed by a hand.
const LIKENESS = 0.7
const ISLAND_LIKENESS = 1.6

/**
 * Pixels of hands that lie in their own shade and were taken for something else: they have the hue of the hand's sure skin at less
 * light, and hang together with it.
 */
export function findShadedHands({ lab, mask, skin, body, clothes }: Input): Mask {
  const hands = bothSides((side) => subset(handRegion(skin, body, side), (i) => mask.data[i] > 0.5))
  const found = bothSides((side) => {
    const hand = hands[side]
    const seen = subset(hand, (i) => skin.data[i] === 1)
    const samples = samplesOf(lab, seen)
    if (samples.length / 3 < Math.max(12, LEAST_SEEN * body.unit ** 2)) return null
    const isSkin = shadedSkinTest(lab, { skin: medianColour(samples), clothes, most: LIKENESS })
    return connectedTo(
      subset(hand, (i) => skin.data[i] === 1 || isSkin(i)),
      seen,
    )
  })
  const shaded = maskWhere(skin, (i) => found.some((hand) => hand?.data[i] === 1))
  const known = maskWhere(skin, (i) => skin.data[i] + shaded.data[i] > 0)
  const islands = findIslands({ mask, skin: known, hands, reach: 0.02 * body.unit })
  const alike = hands.map((hand) => {
    const samples = samplesOf(
      lab,
      subset(hand, (i) => known.data[i] === 1),
    )
    if (samples.length === 0) return () => false
    return shadedSkinTest(lab, { skin: medianColour(samples), clothes, most: ISLAND_LIKENESS })
  })
  return maskWhere(skin, (i) => {
    if (shaded.data[i]) return true
    return islands.data[i] === 1 && hands.some((hand, side) => hand.data[i] === 1 && alike[side](i))
  })
}

function handRegion(size: Size, body: BodyFrame, side: Side): Mask {
  const { wrist, knuckles } = body.joints
  const radius = body.armRadius[side]
  const chain = [between(wrist[side], knuckles[side], 0.1), knuckles[side], between(wrist[side], knuckles[side], 2)]
  return fillCapsules(size, chain, [radius, 1.25 * radius, 1.1 * radius])
}

// What passes for cloth within a hand and hangs together with other cloth by a thread at most.
function findIslands({
  mask,
  skin,
  hands,
  reach,
}: {
  mask: Plane
  skin: Mask
  hands: readonly Mask[]
  reach: number
}): Mask {
  const rest = maskWhere(skin, (i) => mask.data[i] > 0.5 && !skin.data[i])
  const { labels, components } = connectedComponents(open(rest, reach))
  const leaving = new Uint8Array(components.length + 1)
  for (let i = 0; i < labels.length; i++) if (!hands.some((hand) => hand.data[i])) leaving[labels[i]] = 1
  const cloth = dilate(
    subset(rest, (i) => labels[i] > 0 && leaving[labels[i]] === 1),
    1.5 * reach,
  )
  return subset(rest, (i) => !cloth.data[i] && hands.some((hand) => hand.data[i] === 1))
}

// Less light scales L + 16, a and b alike: CIE Lab is a cube root of light.
function shadedSkinTest(
  lab: Colours,
  {
    skin: [l0, a0, b0],
    clothes,
    most,
  }: { skin: readonly [number, number, number]; clothes: ColourModel; most: number },
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
    return toSkin < most * toCloth
  }
}

function connectedTo(mask: Mask, seed: Mask): Mask {
  const { labels } = connectedComponents(mask)
  const kept = new Set<number>()
  for (let i = 0; i < labels.length; i++) if (seed.data[i] && labels[i]) kept.add(labels[i])
  return subset(mask, (i) => kept.has(labels[i]))
}
