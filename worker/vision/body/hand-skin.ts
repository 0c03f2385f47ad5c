import { apartInLight, type Lab, leastInLight } from '../raster/colour.ts'
import { type ColourModel, samplesOf } from '../raster/colour-model.ts'
import { componentsTouching } from '../raster/components.ts'
import { cropColours, cropMask, cropPlane, type Window, windowAround } from '../raster/crop.ts'
import { intersect, invert, subset, threshold, union, without, withValue } from '../raster/mask.ts'
import { close, dilate, erode, open } from '../raster/morphology.ts'
import { type Colours, createMask, type Mask, type Plane, type Point, type Size } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { between, norm } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides, type Side } from './keypoints.ts'
import { medianColour } from './part-colours.ts'

interface Input {
  readonly lab: Colours
  /** `lab` before the blur. */
  readonly sharp: Colours
  readonly mask: Plane
  readonly skin: Mask
  readonly body: BodyFrame
  /** Colours of top and lower garment. */
  readonly clothes: ColourModel
}

// Min area of skin, in squared body units, from which a hand counts as visible.
const MIN_SEEN = 0.008
// Weight of a difference in lightness: for skin, because fingers shade each other, and for cloth.
const SKIN_LIGHTNESS = 0.15
const CLOTH_LIGHTNESS = 0.35
// Below this chroma skin has no reliable hue.
const MIN_CHROMA = 4
// Max distance of a pixel from skin as a share of its distance from cloth. Larger where a hand encloses the pixel.
const LIKENESS = 0.7
const ISLAND_LIKENESS = 1.6

/**
 * Pixels of hands in their own shade or on their edge that were labelled as something else: connected to the hand's known skin, of the
 * same hue, and darker.
 */
export function findShadedHands(input: Input): Mask {
  const { skin, body } = input
  const found = createMask(skin)
  const window = windowOfHands(body, skin)
  if (window.width < 2 || window.height < 2) return found
  const shaded = shadedWithin({
    ...input,
    lab: cropColours(input.lab, window),
    sharp: cropColours(input.sharp, window),
    mask: cropPlane(input.mask, window),
    skin: cropMask(skin, window),
    body: { ...body, joints: { ...body.joints, ...jointsIn(body, window) } },
  })
  for (let row = 0; row < window.height; row++) {
    const from = row * window.width
    found.data.set(shaded.data.subarray(from, from + window.width), (window.y + row) * found.width + window.x)
  }
  return found
}

// Bounds of both hands with a margin, to skip the rest of the bitmap.
function windowOfHands({ joints, armRadius, unit }: BodyFrame, size: Size): Window {
  const ends = bothSides((side) => [joints.wrist[side], between(joints.wrist[side], joints.knuckles[side], 2)]).flat()
  return windowAround(ends, 1.45 * Math.max(...armRadius) + 0.2 * unit, size)
}

function jointsIn({ joints }: BodyFrame, window: Window): Pick<BodyFrame['joints'], 'wrist' | 'knuckles'> {
  const inside = ({ x, y }: Point) => ({ x: x - window.x, y: y - window.y })
  return {
    wrist: bothSides((side) => inside(joints.wrist[side])),
    knuckles: bothSides((side) => inside(joints.knuckles[side])),
  }
}

function shadedWithin({ lab, sharp, mask, skin, body, clothes }: Input): Mask {
  const hands = bothSides((side) => withValue(handRegion(skin, body, side), mask, { over: 0.5 }))
  const either = union(hands[0], hands[1])
  const [left, right] = bothSides((side) => {
    const hand = hands[side]
    const seen = intersect(hand, skin)
    const samples = samplesOf(lab, seen)
    if (samples.length / 3 < Math.max(12, MIN_SEEN * body.unit ** 2)) return createMask(skin)
    const isSkin = shadedSkinTest(lab, { skin: medianColour(samples), clothes, max: LIKENESS })
    return componentsTouching(union(seen, subset(without(hand, skin), isSkin)), seen)
  })
  const shaded = union(left, right)
  const known = union(skin, shaded)
  const islands = findIslands({ mask, skin: known, hands: either, reach: 0.02 * body.unit })
  const tests = hands.map((hand) => testsOf(lab, { own: intersect(hand, known), clothes }))
  const isIsland = (i: number) => hands.some((hand, side) => hand.data[i] === 1 && tests[side]?.island(i))
  let whole = union(shaded, subset(islands, isIsland))
  for (const [side, hand] of hands.entries()) {
    const own = intersect(hand, union(known, whole))
    const enclosed = without(intersect(hand, close(own, ENCLOSED * body.unit)), own)
    whole = union(
      whole,
      subset(enclosed, (i) => tests[side]?.enclosed(i) === true),
    )
  }
  const edges = findHandEdges(sharp, {
    skin: union(skin, whole),
    hands: either,
    reach: Math.max(1.5, 0.017 * body.unit),
  })
  return union(whole, edges)
}

// Half the width of a region that a hand encloses, in body units.
const ENCLOSED = 0.035

interface HandTests {
  readonly island: (index: number) => boolean
  readonly enclosed: (index: number) => boolean
}

function testsOf(lab: Colours, { own, clothes }: { own: Mask; clothes: ColourModel }): HandTests | null {
  const samples = samplesOf(lab, own)
  if (samples.length === 0) return null
  const skin = medianColour(samples)
  return {
    island: shadedSkinTest(lab, { skin, clothes, max: ISLAND_LIKENESS }),
    enclosed: enclosedTest(lab, { skin, clothes }),
  }
}

function handRegion(size: Size, body: BodyFrame, side: Side): Mask {
  const { wrist, knuckles } = body.joints
  const radius = body.armRadius[side]
  const chain = [between(wrist[side], knuckles[side], 0.1), knuckles[side], between(wrist[side], knuckles[side], 2)]
  return fillCapsules(size, chain, [1.15 * radius, 1.45 * radius, 1.25 * radius])
}

// Regions within a hand that are labelled cloth and are connected to other cloth by at most a thin line.
function findIslands({ mask, skin, hands, reach }: { mask: Plane; skin: Mask; hands: Mask; reach: number }): Mask {
  const rest = without(threshold(mask, 0.5), skin)
  const cloth = dilate(componentsTouching(open(rest, reach), invert(hands)), 1.5 * reach)
  return without(intersect(rest, hands), cloth)
}

function shadedSkinTest(
  lab: Colours,
  {
    skin,
    clothes,
    max,
  }: {
    skin: readonly [number, number, number]
    clothes: ColourModel
    max: number
  },
): (index: number) => boolean {
  const [l0, a0, b0] = skin
  return (i) => {
    const light = (lab.data[3 * i] + 16) / (l0 + 16)
    if (light > 1.25 || light * norm(a0, b0) < MIN_CHROMA) return false
    const toSkin = apartInLight(lab, i, { colour: skin, lightness: SKIN_LIGHTNESS })
    return toSkin < max * leastInLight(lab, i, clothes, CLOTH_LIGHTNESS)
  }
}

// Light reflected between fingers makes shaded skin more colourful: only the hue is that of skin.
function enclosedTest(
  lab: Colours,
  { skin: [l0, a0, b0], clothes }: { skin: readonly [number, number, number]; clothes: ColourModel },
): (index: number) => boolean {
  const chroma = Math.max(1, norm(a0, b0))
  return (i) => {
    const l = lab.data[3 * i]
    const a = lab.data[3 * i + 1]
    const b = lab.data[3 * i + 2]
    if (l > l0 || chroma < MIN_CHROMA) return false
    const toSkin = norm((a * b0 - b * a0) / chroma, SKIN_LIGHTNESS * (l - l0))
    return a * a0 + b * b0 > 0 && toSkin < LIKENESS * leastInLight(lab, i, clothes, CLOTH_LIGHTNESS)
  }
}

// Below this difference (ΔE) between hand and cloth a pixel between them cannot be assigned.
const MIN_APART = 12
// Weight of a difference in lightness at an edge.
const LIGHTNESS = 0.2

/**
 * Pixels along the edge of hands that the smoothed labels assigned to the adjacent cloth. In the unblurred `lab` these pixels
 * resemble the hand within `reach` px more than the cloth there. `hands` is the region of the hands, `skin` the pixels labelled skin.
 */
function findHandEdges(lab: Colours, { skin, hands, reach }: { skin: Mask; hands: Mask; reach: number }): Mask {
  const own = intersect(hands, skin)
  const near = dilate(own, reach)
  const sure = erode(own, 1)
  const cloth = without(hands, near)
  const window = Math.ceil(2 * reach) + 2
  return subset(without(intersect(near, hands), own), (i) => {
    const inside = meanAround(lab, i, { of: sure, window })
    const beside = meanAround(lab, i, { of: cloth, window })
    return inside !== null && beside !== null && isNearer(lab, i, { inside, beside })
  })
}

function meanAround(lab: Colours, i: number, { of, window }: { of: Mask; window: number }): Lab | null {
  const { width, height } = of
  const [x, y] = [i % width, Math.floor(i / width)]
  let [count, l, a, b] = [0, 0, 0, 0]
  for (let v = Math.max(0, y - window); v <= Math.min(height - 1, y + window); v++) {
    for (let u = Math.max(0, x - window); u <= Math.min(width - 1, x + window); u++) {
      const k = v * width + u
      if (!of.data[k]) continue
      count++
      l += lab.data[3 * k]
      a += lab.data[3 * k + 1]
      b += lab.data[3 * k + 2]
    }
  }
  return count > 0 ? [l / count, a / count, b / count] : null
}

// True for a pixel in the light or the shade of the hand: past the midpoint between cloth and hand, or of the hand's hue.
function isNearer(lab: Colours, i: number, { inside, beside }: { inside: Lab; beside: Lab }): boolean {
  const step = inside.map((value, c) => value - beside[c])
  const length = norm(step[0], step[1], step[2])
  if (length < MIN_APART) return false
  const along = step.reduce((sum, part, c) => sum + part * (lab.data[3 * i + c] - beside[c]), 0)
  if (along > 0.5 * length * length) return true
  const toHand = apartInLight(lab, i, { colour: inside, lightness: LIGHTNESS })
  return toHand < LIKENESS * apartInLight(lab, i, { colour: beside, lightness: LIGHTNESS })
}
