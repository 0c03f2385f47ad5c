import { createCosts } from '../raster/colour-model.ts'
import { boundsOf } from '../raster/crop.ts'
import { createGuidedFilter, gaussianBlur } from '../raster/filter.ts'
import { union } from '../raster/mask.ts'
import { type Colours, createMask, createPlane, type Mask, type Plane, type Point, type Size } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { reduceColoursByFactor } from '../raster/reduce.ts'
import { dot, subtract } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides } from './keypoints.ts'
import type { PartColours } from './part-colours.ts'
import { WAIST_EXPECTED } from './tuning.ts'

/** Labels of the parts; 0 is outside the person. */
export const SKIN = 1
export const TOP = 2
export const LOWER = 3
export const HAIR = 4

/** A photo of a person. */
interface Photo {
  /** sRGB in 0 to 255. */
  readonly rgb: Colours
  /** Slightly blurred, in CIE Lab. */
  readonly lab: Colours
  /** Body coordinates F and X of every pixel. */
  readonly along: Plane
  readonly across: Plane
}

/**
 * The most likely of the labels SKIN, TOP and LOWER for every pixel of the person, and the pixels where hair is more likely. Separates
 * equal colours by position costs, and aligns the labels with image edges by a guided filter.
 */
export function labelByColour(
  { rgb, lab, along, across }: Photo,
  { mask, body, colours }: { mask: Plane; body: BodyFrame; colours: PartColours },
): { labels: Mask; hairy: Mask } {
  const window = windowOf(mask, Math.ceil(0.06 * body.unit))
  // For a large person every second pixel is enough for the colours. The guide restores the edges.
  const factor = body.unit > 130 ? 2 : 1
  const radius = Math.max(2, Math.round((0.025 * body.unit) / factor))
  const refine = createGuidedFilter(greyGuide(rgb, window), { radius, epsilon: 1e-3, factor })
  const raised = raisedArms(mask, body)
  const coarse = estimateProbabilities({ lab, along, across, raised, colours, window, factor })
  const [skin, top, hair] = [refine(coarse.skin), refine(coarse.top), refine(coarse.hair)]
  const labels = createMask(mask)
  const hairy = createMask(mask)
  for (let y = 0, from = 0; y < window.height; y++) {
    let i = (y + window.top) * mask.width + window.left
    for (let x = 0; x < window.width; x++, i++, from++) {
      if (mask.data[i] <= 0.5) continue
      const s = skin.data[from]
      const t = top.data[from]
      const maxProbability = Math.max(s, t, 1 - s - t)
      labels.data[i] = s === maxProbability ? SKIN : t === maxProbability ? TOP : LOWER
      hairy.data[i] = hair.data[from] > (1 - hair.data[from]) * maxProbability ? 1 : 0
    }
  }
  return { labels, hairy }
}

function raisedArms(size: Size, { joints, armRadius, shoulders, down, trunk }: BodyFrame): Mask {
  const levelOf = (point: Point) => dot(subtract(point, shoulders), down) / trunk
  const [left, right] = bothSides((side) => {
    const chain = [joints.shoulder[side], joints.elbow[side], joints.wrist[side], joints.knuckles[side]]
    if (Math.min(...chain.map(levelOf)) > -0.15) return createMask(size)
    return fillCapsules(
      size,
      chain,
      chain.map(() => 1.4 * armRadius[side]),
    )
  })
  return union(left, right)
}

interface Window extends Size {
  left: number
  top: number
}

// Bounds of the mask with a margin: only these pixels can get a label. Even corners, so that the window can be halved.
function windowOf(mask: Plane, margin: number): Window {
  const { x, y, width, height } = boundsOf(mask, 0.5) ?? { x: 0, y: 0, width: 1, height: 1 }
  const left = Math.max(0, x - margin) & ~1
  const top = Math.max(0, y - margin) & ~1
  const right = Math.min(mask.width, x + width + margin)
  const bottom = Math.min(mask.height, y + height + margin)
  return { left, top, width: right - left, height: bottom - top }
}

interface Evidence {
  lab: Colours
  along: Plane
  across: Plane
  /** Region where sleeves can be higher than the collar. */
  raised: Mask
  colours: PartColours
  window: Window
  factor: number
}

// Probability of skin and of top among the three labels without hair; and probability of hair against all other labels.
interface Probabilities {
  skin: Plane
  top: Plane
  hair: Plane
}

// One estimate for every `factor` × `factor` px of the window.
function estimateProbabilities({ lab, along, across, raised, colours, window, factor }: Evidence): Probabilities {
  const costs = createCosts([colours.skin, colours.top, colours.lower, colours.hair])
  const { width, data } = factor === 1 ? lab : reduceColoursByFactor(lab, factor)
  const size = { width: Math.ceil(window.width / factor), height: Math.ceil(window.height / factor) }
  const result = { skin: createPlane(size), top: createPlane(size), hair: createPlane(size) }
  const cost = new Float64Array(4)
  const colour = { l: 0, a: 0, b: 0 }
  for (let y = 0, to = 0; y < size.height; y++) {
    let i = (y * factor + window.top) * lab.width + window.left
    let k = 3 * ((y + window.top / factor) * width + window.left / factor)
    for (let x = 0; x < size.width; x++, i += factor, k += 3, to++) {
      colour.l = data[k]
      colour.a = data[k + 1]
      colour.b = data[k + 2]
      costs(colour, cost)
      const f = along.data[i]
      if (f > 0.35 && f < 0.7 && colours.chest.data[i]) cost[0] += BARE_CHEST_COST
      // A sleeve in front of the hips is not trousers.
      const waist = colours.forearms.data[i] ? null : colours.waistline
      addPositionCosts(cost, raised.data[i] ? Math.max(f, 0) : f, { x: Math.abs(across.data[i]), waist })
      const minCost = Math.min(cost[0], cost[1], cost[2])
      const skin = likelihood(cost[0] - minCost)
      const top = likelihood(cost[1] - minCost)
      const sum = skin + top + likelihood(cost[2] - minCost)
      const hair = likelihood(cost[3] - minCost)
      result.skin.data[to] = skin / sum
      result.top.data[to] = top / sum
      result.hair.data[to] = hair / (hair + sum)
    }
  }
  return result
}

// A cost that is higher by 6 has a weight of 1 / e.
function likelihood(cost: number): number {
  return Math.exp(-Math.min(Math.max(cost, -40), 40) / 6)
}

// Cost per 5 % of the torso beyond the waistline.
const BEYOND_WAIST_COST = 4

// The middle of a torso is rarely bare.
const BARE_CHEST_COST = 12

// Position costs: tops end at neck and thighs, trousers end at the waist, hair does not grow on the belly or beside the shoulders. A stripe
// of the lower garment in a colour of the top belongs to the garment around it.
function addPositionCosts(cost: Float64Array, f: number, { x, waist }: { x: number; waist: number | null }): void {
  cost[1] += 30 * limit((-0.3 - f) / 0.06) + 25 * limit((f - 1.15) / 0.2)
  cost[2] += 60 * limit((Math.min(waist ?? WAIST_EXPECTED, WAIST_EXPECTED) - f) / 0.15)
  if (waist !== null) cost[f > waist ? 1 : 2] += BEYOND_WAIST_COST * limit(Math.abs(f - waist) / 0.05 - 0.5)
  cost[3] += 40 * limit((f - 0.35) / 0.15) + (f > -0.05 && x > 0.55 ? 20 : 0)
}

function limit(value: number): number {
  return Math.min(Math.max(value, 0), 3)
}

function greyGuide({ width, data }: Colours, window: Window): Plane {
  const grey = createPlane(window)
  for (let y = 0, to = 0; y < window.height; y++) {
    let at = 3 * ((y + window.top) * width + window.left)
    for (let x = 0; x < window.width; x++, at += 3, to++) grey.data[to] = (data[at] + data[at + 1] + data[at + 2]) / 765
  }
  return gaussianBlur(grey, 0.8)
}
