import type { Person } from '../../person/person.ts'
import { rgbToLab } from '../../raster/colour.ts'
import { connectedComponents } from '../../raster/components.ts'
import { createGuidedFilter, gaussianBlur, gaussianBlurColours } from '../../raster/filter.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  countSet,
  createMask,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../../raster/plane.ts'
import type { BodyFrame } from './body.ts'
import { createCosts, samplesOf } from './colour-model.ts'
import { learnPartColours, medianColour, type PartColours } from './part-colours.ts'

/** Which pixels of the person are what, from colour and place. All of the analysed picture's size. */
export interface Parts {
  readonly skin: Mask
  readonly top: Mask
  readonly lower: Mask
  readonly hair: Mask
  /** Body coordinates F and X of every pixel (see BodyFrame). */
  readonly along: Plane
  readonly across: Plane
  /** The slightly blurred picture in CIE Lab. */
  readonly lab: Colours
  /** Median Lab of visible skin, or null when none was found. */
  readonly skinColour: readonly [number, number, number] | null
  readonly hasFace: boolean
}

const PARTS = ['skin', 'top', 'lower', 'hair'] as const

/**
 * Labels every pixel of the person as skin, top, lower garment or hair: colours are learnt where each is to be expected,
 * costs of place keep them apart where colours agree, and a guided filter settles the labels along edges.
 */
export function findParts(picture: Bitmap, person: Person, body: BodyFrame): Parts {
  const rgb = bitmapToColours(picture)
  const lab = gaussianBlurColours(rgbToLab(rgb), Math.max(0.7, 0.006 * body.unit))
  const { along, across } = bodyCoordinates(picture, body)
  const colours = learnPartColours(lab, person, body)
  const window = windowAround(person.mask, Math.ceil(0.06 * body.unit))
  const probabilities = estimateProbabilities({ lab, along, across, colours, window })
  const refine = createGuidedFilter(greyGuide(rgb, window), {
    radius: Math.max(2, Math.round(0.025 * body.unit)),
    epsilon: 1e-3,
  })
  const labels = labelPixels(probabilities.map(refine), { mask: person.mask, window })
  const skin = maskOf(labels, 0)
  return {
    skin,
    top: maskOf(labels, 1),
    lower: maskOf(labels, 2),
    hair: touching(maskOf(labels, 3), colours.crown),
    along,
    across,
    lab,
    skinColour: skinColourOf(lab, skin, colours),
    hasFace: colours.hasFace,
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

interface Window extends Size {
  left: number
  top: number
}

// Bounds of the mask and a margin: the only pixels that can get a label.
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
  left = Math.max(0, left - margin)
  top = Math.max(0, top - margin)
  const outer = { right: Math.min(width, right + margin), bottom: Math.min(height, bottom + margin) }
  return { left, top, width: Math.max(1, outer.right - left), height: Math.max(1, outer.bottom - top) }
}

interface Evidence {
  lab: Colours
  along: Plane
  across: Plane
  colours: PartColours
  window: Window
}

// Probability of skin, top and lower; what is left to 1 is hair.
function estimateProbabilities({ lab, along, across, colours, window }: Evidence): Plane[] {
  const costs = createCosts(PARTS.map((part) => colours[part]))
  const planes = [createPlane(window), createPlane(window), createPlane(window)]
  const [skin, top, lower] = planes.map(({ data }) => data)
  const cost = new Float64Array(PARTS.length)
  const colour = { l: 0, a: 0, b: 0 }
  for (let y = 0, to = 0; y < window.height; y++) {
    let i = (y + window.top) * lab.width + window.left
    for (let x = 0; x < window.width; x++, i++, to++) {
      colour.l = lab.data[3 * i]
      colour.a = lab.data[3 * i + 1]
      colour.b = lab.data[3 * i + 2]
      costs(colour, cost)
      const f = along.data[i]
      if (f > 0.35 && f < 0.7 && colours.chest.data[i]) cost[0] += BARE_CHEST_COST
      addCostOfPlace(cost, f, Math.abs(across.data[i]))
      const sum = toLikelihoods(cost)
      skin[to] = cost[0] / sum
      top[to] = cost[1] / sum
      lower[to] = cost[2] / sum
    }
  }
  return planes
}

// The middle of a torso is seldom bare.
const BARE_CHEST_COST = 12

// Tops end at neck and thighs, trousers do not climb above the waist, hair does not grow on the belly nor beside the shoulders.
function addCostOfPlace(cost: Float64Array, f: number, x: number): void {
  cost[1] += 30 * limit((-0.3 - f) / 0.06) + 25 * limit((f - 1.15) / 0.2)
  cost[2] += 60 * limit((0.8 - f) / 0.15)
  cost[3] += 40 * limit((f - 0.35) / 0.15) + (f > -0.05 && x > 0.55 ? 20 : 0)
}

function limit(value: number): number {
  return Math.min(Math.max(value, 0), 3)
}

// Turns costs into likelihoods in place and returns their sum; 6 is how much worse a cost must be to count 1 / e.
function toLikelihoods(cost: Float64Array): number {
  let least = cost[0]
  for (let k = 1; k < cost.length; k++) if (cost[k] < least) least = cost[k]
  let sum = 0
  for (let k = 0; k < cost.length; k++) {
    cost[k] = Math.exp(-Math.min(cost[k] - least, 40) / 6)
    sum += cost[k]
  }
  return sum
}

function greyGuide({ width, data }: Colours, window: Window): Plane {
  const grey = createPlane(window)
  for (let y = 0, to = 0; y < window.height; y++) {
    let at = 3 * ((y + window.top) * width + window.left)
    for (let x = 0; x < window.width; x++, at += 3, to++) grey.data[to] = (data[at] + data[at + 1] + data[at + 2]) / 765
  }
  return gaussianBlur(grey, 0.8)
}

// The likeliest part of every pixel of the person, counted from 1; 0 outside of the person.
function labelPixels(probabilities: readonly Plane[], { mask, window }: { mask: Plane; window: Window }): Mask {
  const labels = createMask(mask)
  const [skin, top, lower] = probabilities.map(({ data }) => data)
  for (let y = 0, from = 0; y < window.height; y++) {
    let i = (y + window.top) * mask.width + window.left
    for (let x = 0; x < window.width; x++, i++, from++) {
      if (mask.data[i] <= 0.5) continue
      let best = 4
      let most = 1 - skin[from] - top[from] - lower[from]
      if (lower[from] >= most) [best, most] = [3, lower[from]]
      if (top[from] >= most) [best, most] = [2, top[from]]
      labels.data[i] = skin[from] >= most ? 1 : best
    }
  }
  return labels
}

function maskOf(labels: Mask, part: number): Mask {
  const mask = createMask(labels)
  for (let i = 0; i < mask.data.length; i++) mask.data[i] = labels.data[i] === part + 1 ? 1 : 0
  return mask
}

// Hair hangs together with the crown of the head; dark specks elsewhere are something else.
function touching(mask: Mask, region: Mask): Mask {
  const { labels } = connectedComponents(mask)
  const kept = new Set<number>()
  for (let i = 0; i < labels.length; i++) if (labels[i] && region.data[i]) kept.add(labels[i])
  const out = createMask(mask)
  for (let i = 0; i < labels.length; i++) out.data[i] = labels[i] && kept.has(labels[i]) ? 1 : 0
  return out
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
