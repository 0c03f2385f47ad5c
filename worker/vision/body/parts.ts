import { drawHands } from '../person/hand-area.ts'
import type { Person } from '../person/person.ts'
import { rgbToLab } from '../raster/colour.ts'
import { createCosts, samplesOf } from '../raster/colour-model.ts'
import { connectedComponents } from '../raster/components.ts'
import { createGuidedFilter, gaussianBlur, gaussianBlurColours } from '../raster/filter.ts'
import { open } from '../raster/morphology.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  countSet,
  createMask,
  createPlane,
  type Mask,
  maskWhere,
  type Plane,
  type Point,
  type Size,
  union,
} from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { reduceColoursByFactor } from '../raster/reduce.ts'
import { between, dot, subtract } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { findStrands } from './hair-strands.ts'
import { findShadedHands } from './hand-skin.ts'
import { bothSides } from './keypoints.ts'
import { learnPartColours, medianColour, type PartColours } from './part-colours.ts'
import { WAIST_EXPECTED } from './tuning.ts'

/** Segmentation of the person by colour and position. All masks have the size of the analysed bitmap. */
export interface Parts {
  readonly skin: Mask
  readonly top: Mask
  readonly lower: Mask
  readonly hair: Mask
  /** Body coordinates F and X of every pixel (see BodyFrame). */
  readonly along: Plane
  readonly across: Plane
  /** The slightly blurred bitmap in CIE Lab. */
  readonly lab: Colours
  /** Median Lab of visible skin; null if no skin is visible. */
  readonly skinColour: readonly [number, number, number] | null
  readonly hasFace: boolean
  /** Body coordinate F at which the lower garment begins in the middle, or null if it cannot be separated from the top. */
  readonly waistline: number | null
}

/**
 * Labels every pixel of the person as skin, top, lower garment or hair. Learns the colours of each label where that
 * label is expected, separates equal colours by position costs, and aligns the labels with image edges by a guided
 * filter.
 */
export function findParts(bitmap: Bitmap, person: Person, body: BodyFrame): Parts {
  const rgb = bitmapToColours(bitmap)
  const sharp = rgbToLab(rgb)
  const lab = gaussianBlurColours(sharp, Math.max(0.7, 0.006 * body.unit))
  const { along, across } = bodyCoordinates(bitmap, body)
  const colours = learnPartColours(lab, { person, body, along, across })
  const window = windowAround(person.mask, Math.ceil(0.06 * body.unit))
  // For a large person every second pixel is enough for the colours. The guide restores the edges.
  const factor = body.unit > 130 ? 2 : 1
  const radius = Math.max(2, Math.round((0.025 * body.unit) / factor))
  const refine = createGuidedFilter(greyGuide(rgb, window), { radius, epsilon: 1e-3, factor })
  const raised = raisedArms(bitmap, body)
  const probabilities = estimateProbabilities({ lab, along, across, raised, colours, window, factor })
  const labels = labelPixels(mapValues(probabilities, refine), {
    mask: person.mask,
    along,
    across,
    window,
    colours,
    mouth: mouthLevel(person, body),
    strand: 0.02 * body.unit,
    sharp,
  })
  const clothes = [...colours.top, ...colours.lower]
  const hands = findShadedHands({ lab, sharp, mask: person.mask, skin: maskOf(labels, SKIN), body, clothes })
  const seen = drawHands(bitmap, person.hands)
  for (let i = 0; i < hands.data.length; i++) if (hands.data[i] || seen.data[i] > 0.5) labels.data[i] = SKIN
  const skin = maskOf(labels, SKIN)
  return {
    skin,
    top: maskOf(labels, TOP),
    lower: maskOf(labels, LOWER),
    hair: maskOf(labels, HAIR),
    along,
    across,
    lab,
    skinColour: skinColourOf(lab, skin, colours),
    hasFace: colours.hasFace,
    waistline: colours.waistline,
  }
}

function bodyCoordinates(size: Size, body: BodyFrame): { along: Plane; across: Plane } {
  const along = createPlane(size)
  const across = createPlane(size)
  const { shoulders, down, right, trunk, unit } = body
  for (let y = 0, i = 0; y < size.height; y++) {
    const dy = y - shoulders.y
    for (let x = 0; x < size.width; x++, i++) {
      const dx = x - shoulders.x
      along.data[i] = (dx * down.x + dy * down.y) / trunk
      across.data[i] = (dx * right.x + dy * right.y) / unit
    }
  }
  return { along, across }
}

function mouthLevel({ landmarks }: Person, { shoulders, down, trunk }: BodyFrame): number {
  return dot(subtract(between(landmarks.mouthLeft, landmarks.mouthRight, 0.5), shoulders), down) / trunk
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

// Bounds of the mask with a margin: only these pixels can get a label.
function windowAround({ width, height, data }: Plane, margin: number): Window {
  let [left, top, right, bottom] = [width, height, 0, 0]
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (data[i] <= 0.5) continue
      if (x < left) left = x
      if (x >= right) right = x + 1
      if (y < top) top = y
      if (y >= bottom) bottom = y + 1
    }
  }
  // Even corners, so that the window can be halved.
  left = Math.max(0, left - margin) & ~1
  top = Math.max(0, top - margin) & ~1
  const outer = { right: Math.min(width, right + margin), bottom: Math.min(height, bottom + margin) }
  return { left, top, width: Math.max(1, outer.right - left), height: Math.max(1, outer.bottom - top) }
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

function mapValues({ skin, top, hair }: Probabilities, map: (plane: Plane) => Plane): Probabilities {
  return { skin: map(skin), top: map(top), hair: map(hair) }
}

// Label values; 0 is outside the person.
const SKIN = 1
const TOP = 2
const LOWER = 3
const HAIR = 4

// Assigns the most likely label to every pixel of the person.
function labelPixels(
  { skin, top, hair }: Probabilities,
  { mask, window, colours, ...place }: Place & { mask: Plane; window: Window; colours: PartColours },
): Mask {
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
  labelHair(labels, hairy, colours)
  if (colours.hairLikeTop) separateHairFromTop(labels, place)
  return labels
}

// Hair is connected to the crown of the head. Unconnected pixels with the colour of hair get their next most likely label. On
// the chest they are top: a tie, a dark seam.
function labelHair(labels: Mask, hairy: Mask, { crown, chest }: PartColours): void {
  const { labels: tufts } = connectedComponents(hairy)
  const grown = new Set<number>()
  const worn = new Set<number>()
  for (let i = 0; i < tufts.length; i++) {
    if (!tufts[i]) continue
    if (crown.data[i]) grown.add(tufts[i])
    if (chest.data[i]) worn.add(tufts[i])
  }
  for (let i = 0; i < tufts.length; i++) {
    if (!tufts[i]) continue
    if (grown.has(tufts[i])) labels.data[i] = HAIR
    else if (labels.data[i] === SKIN && worn.has(tufts[i])) labels.data[i] = TOP
  }
}

// Separates hair from a top of the same colour: above the shoulders, pixels that hang down from beside the face are hair;
// below the shoulders they are top. If nothing hangs down there, pixels above that line are a collar or the shoulders of a
// dark jacket.
function separateHairFromTop(labels: Mask, place: Place): void {
  const { data } = labels
  const { along } = place
  const hanging = findHangingHair(labels, place)
  // A thin line of pixels that happens to connect hair and collar is neither.
  const thick = open(hanging, place.strand)
  for (let i = 0; i < data.length; i++) if (along.data[i] >= place.mouth) hanging.data[i] &= thick.data[i]
  const rest = maskWhere(labels, (i) => (data[i] === TOP || data[i] === HAIR) && hanging.data[i] === 0)
  const { labels: pieces } = connectedComponents(rest)
  const worn = new Set<number>()
  for (let i = 0; i < data.length; i++) if (rest.data[i] && along.data[i] >= COLLAR) worn.add(pieces[i])
  for (let i = 0; i < data.length; i++) {
    if (hanging.data[i] || (rest.data[i] && !worn.has(pieces[i]))) data[i] = HAIR
    else if (rest.data[i]) data[i] = TOP
  }
  continueHairBelowCollar(labels, place)
}

// Below the collar fine lines distinguish hair from cloth. Hair that ends above the collar does not continue below it.
function continueHairBelowCollar(labels: Mask, { along, across, mouth, strand, sharp }: Place): void {
  const { data } = labels
  const strands = findStrands(sharp, {
    dark: maskWhere(labels, (i) => data[i] === TOP || data[i] === HAIR),
    hair: maskWhere(labels, (i) => data[i] === HAIR && along.data[i] > mouth && along.data[i] < COLLAR),
    cloth: maskWhere(
      labels,
      (i) => data[i] === TOP && along.data[i] > CHEST[0] && along.data[i] < CHEST[1] && Math.abs(across.data[i]) < 0.35,
    ),
    either: maskWhere(
      labels,
      (i) => (data[i] === TOP || data[i] === HAIR) && along.data[i] >= COLLAR && along.data[i] < CHEST[1],
    ),
    unit: strand / 0.02,
  })
  for (let i = 0; i < data.length; i++) if (strands.data[i]) data[i] = HAIR
}

interface Place {
  readonly along: Plane
  readonly across: Plane
  /** Body coordinate F of the mouth. */
  readonly mouth: number
  /** Min half width of hair, in px. */
  readonly strand: number
  /** The unblurred bitmap in CIE Lab. */
  readonly sharp: Colours
}

// Pixels below hair are hair, and so is the narrower region between that hair and the neck: under the jaw hair comes forward.
function findHangingHair({ width, height, data }: Mask, { along, across, mouth }: Place): Mask {
  const hanging = createMask({ width, height })
  const isDark = (i: number) => (data[i] === TOP || data[i] === HAIR) && along.data[i] < COLLAR
  const isBelow = (i: number, reach: 0 | 1) =>
    i >= width + reach &&
    hanging.data[i - width - reach] + hanging.data[i - width] + hanging.data[i - width + reach] > 0
  for (let y = 0; y < height; y++) {
    const end = (y + 1) * width
    for (let i = y * width; i < end; i++) {
      const from = i
      let [first, last, count] = [end, from, 0]
      for (; i < end && isDark(i); i++) {
        if (along.data[i] >= mouth && !isBelow(i, y % SPREAD === 0 ? 1 : 0)) continue
        hanging.data[i] = 1
        first = Math.min(first, i)
        last = i
        count++
      }
      if (count <= MAX_HANGS * (i - from)) continue
      if (across.data[from] < 0) hanging.data.fill(1, last, i)
      else hanging.data.fill(1, from, first)
    }
  }
  return hanging
}

const MAX_HANGS = 0.5

// Number of rows over which hanging hair spreads by one pixel to each side.
const SPREAD = 3

const COLLAR = -0.13
// Part of a top that hair rarely covers.
const CHEST = [0.45, 0.9] as const

function maskOf(labels: Mask, part: number): Mask {
  const mask = createMask(labels)
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = labels.data[i] === part ? 1 : 0
  return mask
}

function skinColourOf(
  lab: Colours,
  skin: Mask,
  { skin: model }: PartColours,
): readonly [number, number, number] | null {
  if (model.length === 0) return null
  if (countSet(skin) > 50) return medianColour(samplesOf(lab, skin))
  const { mean } = model[0]
  return [mean[0], mean[1], mean[2]]
}
