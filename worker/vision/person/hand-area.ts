import { cropBitmap } from '../../../api/shared/image/image.ts'
import { apartInLight, type Lab, rgbToLab } from '../raster/colour.ts'
import { applyEnlarged, guideByColour } from '../raster/colour-guide.ts'
import {
  countOf,
  createCosts,
  filterSamples,
  learnColours,
  medianColour,
  type Samples,
  samplesOf,
} from '../raster/colour-model.ts'
import { componentsTouching } from '../raster/components.ts'
import { windowAround } from '../raster/crop.ts'
import { distanceTo } from '../raster/distance.ts'
import { below, invert, subset, threshold, union, without, withValue } from '../raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../raster/plane.ts'
import { fillBeyond, fillCapsules, fillPolygon } from '../raster/polygon.ts'
import { levelFor, type Pyramid } from '../raster/pyramid.ts'
import { sampleBilinear } from '../raster/sample.ts'
import { distance, move, norm, perpendicular, subtract, unit } from '../raster/vector.ts'
import { type HandPoints, INDEX_BASE, MIDDLE_BASE, PINKY_BASE, RING_BASE, WRIST } from './hand.ts'
import type { Hand } from './person.ts'

/** Palm length in px at which a hand is drawn with enough precision; larger hands are downscaled. */
const PALM_SIZE = 64
// The other lengths are palm lengths, from the wrist to the knuckles. Margin around the points, max distance of a hand's pixel
// from the bones' outline, and min distance of a pixel that is certainly outside.
const ROOM = 0.7
const OUTSIDE = 0.16
const CORE = -0.03
// A hand starts here, or at the end of its sleeve, without the dark line below a cuff.
const BEGINS = 0.1
const CUFF_LINE = { until: 0.9, width: 0.1 } as const
// Distance from the outline's edge that equals one unit of evidence, and max evidence of a colour.
const FUZZY = 0.045
const MAX_COLOUR_EVIDENCE = 6
// Max distance of a hand from the colour of the face at any illumination, weight of lightness in it, and min share of a hand's pixels.
const SKIN = { apart: 11, lightness: 0.15, share: 0.1 } as const

/**
 * Segments a hand: pixels near its bones that resemble the hand and not its surroundings. Where both look the same, as for a hand on the
 * other arm, the bones' outline decides. Fingers in a pocket are not visible: with the colour of the person's `skin` (CIE Lab), cloth
 * before them is not part of the hand.
 */
export function segmentHand(pyramid: Pyramid, points: HandPoints, skin: Lab | null): Hand {
  const level = levelFor(palmOf(points), PALM_SIZE)
  const scale = 2 ** level
  const bitmap = pyramid.level(level)
  const small = points.map(({ x, y }) => ({ x: (x + 0.5) / scale - 0.5, y: (y + 0.5) / scale - 0.5 }))
  const palm = palmOf(small)
  const window = windowAround(small, ROOM * palm, bitmap)
  const inside = small.map(({ x, y }) => ({ x: x - window.x, y: y - window.y }))
  const share =
    window.width > 2 && window.height > 2
      ? shareWithin(cropBitmap(bitmap, window), inside, { palm, skin })
      : createPlane({ width: 1, height: 1 })
  const inBitmap = (x: number, y: number) => ({ x: (x + 0.5) * scale - 0.5, y: (y + 0.5) * scale - 0.5 })
  return {
    points,
    share,
    first: inBitmap(window.x, window.y),
    last: inBitmap(window.x + share.width - 1, window.y + share.height - 1),
  }
}

/** Share of each pixel of a bitmap of this size that hands cover, 0 to 1. */
export function drawHands(size: Size, hands: readonly Hand[]): Plane {
  const share = createPlane(size)
  for (const hand of hands) addHand(share, hand)
  return share
}

/** Merges a hand's coverage into `into`, by the maximum. */
export function addHand(into: Plane, { share, first, last }: Hand): void {
  const stepX = (last.x - first.x) / Math.max(1, share.width - 1)
  const stepY = (last.y - first.y) / Math.max(1, share.height - 1)
  const from = { x: Math.max(0, Math.ceil(first.x - stepX)), y: Math.max(0, Math.ceil(first.y - stepY)) }
  const to = { x: Math.min(into.width - 1, last.x + stepX), y: Math.min(into.height - 1, last.y + stepY) }
  for (let y = from.y; y <= to.y; y++) {
    for (let x = from.x; x <= to.x; x++) {
      const i = y * into.width + x
      const value = sampleBilinear(share, (x - first.x) / stepX, (y - first.y) / stepY)
      if (value > into.data[i]) into.data[i] = value
    }
  }
}

/** The longest distance from the wrist to a knuckle, or an estimate from the width of the knuckles for a hand that points to the camera. */
function palmOf(points: HandPoints): number {
  const ways = [INDEX_BASE, MIDDLE_BASE, RING_BASE, PINKY_BASE].map((i) => distance(points[WRIST], points[i]))
  return Math.max(1, ...ways, 1.3 * distance(points[INDEX_BASE], points[PINKY_BASE]))
}

function shareWithin(bitmap: Bitmap, points: HandPoints, { palm, skin }: { palm: number; skin: Lab | null }): Plane {
  const rgb = bitmapToColours(bitmap)
  const lab = rgbToLab(rgb)
  const outline = outlineOf(bitmap, points, palm)
  const [outside, inside] = [distanceTo(outline).data, distanceTo(invert(outline)).data]
  const away = createPlane(bitmap)
  for (let i = 0; i < away.data.length; i++) away.data[i] = (outside[i] - inside[i]) / palm
  const arm = armSide(bitmap, points, palm)
  const core = without(below(away, CORE), arm)
  const beside = without(threshold(away, OUTSIDE), arm)
  const evidence = colourEvidence(lab, { core, beside, skin })
  const likely = createPlane(bitmap)
  for (let i = 0; i < likely.data.length; i++) {
    if (away.data[i] > OUTSIDE || arm.data[i]) continue
    likely.data[i] = 1 / (1 + Math.exp(away.data[i] / FUZZY - evidence(i)))
  }
  const guided = guideByColour(rgb, likely, { radius: Math.max(1, Math.round(0.05 * palm)), epsilon: 1e-3 })
  const drawn = createPlane(bitmap)
  applyEnlarged(guided, bitmap, { x: 0, y: 0, scale: 1, into: drawn })
  const hand = componentsTouching(threshold(drawn, 0.2), withValue(core, drawn, { over: 0.5 }))
  for (let i = 0; i < drawn.data.length; i++) {
    const sure = Math.min(1, Math.max(0, (drawn.data[i] - 0.2) / 0.6))
    drawn.data[i] = hand.data[i] && !arm.data[i] ? sure : 0
  }
  return withoutCuffLine(drawn, points, palm)
}

// The region before the line at which a hand starts. A spread thumb extends back over that line.
function armSide(size: Size, points: HandPoints, palm: number, until = BEGINS): Mask {
  const up = unit(subtract(points[MIDDLE_BASE], points[WRIST]))
  const thumb = fillCapsules(
    size,
    points.slice(1, 5),
    [1, 1, 1, 1].map(() => OUTSIDE * palm),
  )
  return without(fillBeyond(size, move(points[WRIST], up, until * palm), { x: -up.x, y: -up.y }), thumb)
}

// A cuff's shadow is in the hand's colours: the hand moves back from its sleeve.
function withoutCuffLine(share: Plane, points: HandPoints, palm: number): Plane {
  const up = unit(subtract(points[MIDDLE_BASE], points[WRIST]))
  const [x, y] = [CUFF_LINE.width * palm * up.x, CUFF_LINE.width * palm * up.y]
  const palmSide = armSide(share, points, palm, CUFF_LINE.until)
  const data = share.data.map((value, i) =>
    value > 0 && palmSide.data[i]
      ? Math.min(value, sampleBilinear(share, (i % share.width) - x, Math.floor(i / share.width) - y))
      : value,
  )
  return { ...share, data }
}

// Radii at the base and the tip of each finger, starting with the thumb, in palm lengths.
const FINGERS = [
  [0.15, 0.1],
  [0.105, 0.085],
  [0.105, 0.085],
  [0.1, 0.08],
  [0.095, 0.07],
] as const
const WRIST_RADIUS = 0.28

function outlineOf(size: Size, points: HandPoints, palm: number): Mask {
  const across = perpendicular(unit(subtract(points[MIDDLE_BASE], points[WRIST])))
  const corners = [-WRIST_RADIUS, WRIST_RADIUS].map((radius) => move(points[WRIST], across, radius * palm))
  // The thumb's side of the wrist first, so that the outline of the palm does not cross itself.
  const [near, far] = corners.toSorted((a, b) => distance(a, points[1]) - distance(b, points[1]))
  const bases = [1, 2, INDEX_BASE, MIDDLE_BASE, RING_BASE, PINKY_BASE].map((i) => points[i])
  const fingers = FINGERS.map(([base, tip], finger) => {
    const chain = points.slice(4 * finger + 1, 4 * finger + 5)
    const radii = chain.map((_, i) => palm * (base + ((tip - base) * i) / 3))
    return fillCapsules(size, chain, radii)
  })
  const rim = 0.1 * palm
  const edge = fillCapsules(size, [far, points[PINKY_BASE]], [rim / 2, rim])
  const knuckles = fillCapsules(size, bases.slice(2), [rim, rim, rim, rim])
  return union(fillPolygon(size, [near, ...bases, far]), ...fingers, edge, knuckles)
}

// Evidence that a pixel resembles the hand more than its surroundings; 0 if undecidable.
function colourEvidence(
  lab: Colours,
  { core, beside, skin }: { core: Mask; beside: Mask; skin: Lab | null },
): (i: number) => number {
  const own = visibleSamples(lab, core, skin)
  const [l0, a0, b0] = medianColour(own)
  // Cloth between the fingers has another hue.
  const alike = filterSamples(own, (l, a, b) => norm(0.35 * (l - l0), a - a0, b - b0) < 14)
  const models = [learnColours(alike, 3), learnColours(samplesOf(lab, beside), 4)]
  if (models.some((model) => model.length === 0)) return () => 0
  const costs = createCosts(models)
  const cost = new Float64Array(2)
  return (i) => {
    costs({ l: lab.data[3 * i], a: lab.data[3 * i + 1], b: lab.data[3 * i + 2] }, cost)
    return Math.min(Math.max((cost[1] - cost[0]) / 4, -MAX_COLOUR_EVIDENCE), MAX_COLOUR_EVIDENCE)
  }
}

// Samples of a hand without those of cloth before it. Without any skin it is in a glove, or completely hidden.
function visibleSamples(lab: Colours, core: Mask, skin: Lab | null): Samples {
  const all = samplesOf(lab, core)
  if (skin === null) return all
  const isSkin = subset(core, (i) => apartInLight(lab, i, { colour: skin, lightness: SKIN.lightness }) < SKIN.apart)
  const bare = samplesOf(lab, isSkin)
  return countOf(bare) > SKIN.share * countOf(all) ? bare : all
}
