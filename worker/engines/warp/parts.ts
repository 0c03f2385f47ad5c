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
  const refine = createGuidedFilter(greyGuide(rgb, window), {
    radius: Math.max(2, Math.round(0.025 * body.unit)),
    epsilon: 1e-3,
  })
  const probabilities = estimateProbabilities({ lab, along, across, colours, window })
  const labels = labelPixels(mapValues(probabilities, refine), { mask: person.mask, window, crown: colours.crown })
  const skin = maskOf(labels, 1)
  return {
    skin,
    top: maskOf(labels, 2),
    lower: maskOf(labels, 3),
    hair: maskOf(labels, 4),
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

// Of the three parts but hair, how likely is skin and how likely top; and how likely is hair against all of them.
interface Probabilities<T = Plane> {
  skin: T
  top: T
  hair: T
}

function estimateProbabilities({ lab, along, across, colours, window }: Evidence): Probabilities {
  const costs = createCosts([colours.skin, colours.top, colours.lower, colours.hair])
  const result = { skin: createPlane(window), top: createPlane(window), hair: createPlane(window) }
  const cost = new Float64Array(4)
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
      const least = Math.min(cost[0], cost[1], cost[2])
      const skin = likelihood(cost[0] - least)
      const top = likelihood(cost[1] - least)
      const sum = skin + top + likelihood(cost[2] - least)
      const hair = likelihood(cost[3] - least)
      result.skin.data[to] = skin / sum
      result.top.data[to] = top / sum
      result.hair.data[to] = hair / (hair + sum)
    }
  }
  return result
}

// 6 is by how much a cost must be worse to count 1 / e.
function likelihood(cost: number): number {
  return Math.exp(-Math.min(Math.max(cost, -40), 40) / 6)
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

// The likeliest part of every pixel of the person: 1 skin, 2 top, 3 lower, 4 hair; 0 outside of the person.
function labelPixels(
  { skin, top, hair }: Probabilities,
  { mask, window, crown }: { mask: Plane; window: Window; crown: Mask },
): Mask {
  const labels = createMask(mask)
  const hairy = createMask(mask)
  for (let y = 0, from = 0; y < window.height; y++) {
    let i = (y + window.top) * mask.width + window.left
    for (let x = 0; x < window.width; x++, i++, from++) {
      if (mask.data[i] <= 0.5) continue
      const s = skin.data[from]
      const t = top.data[from]
      const most = Math.max(s, t, 1 - s - t)
      labels.data[i] = s === most ? 1 : t === most ? 2 : 3
      hairy.data[i] = hair.data[from] > (1 - hair.data[from]) * most ? 1 : 0
    }
  }
  labelHair(labels, hairy, crown)
  return labels
}

// Hair hangs together with the crown of the head; what looks like it elsewhere is whatever else is likeliest there.
function labelHair(labels: Mask, hairy: Mask, crown: Mask): void {
  const { labels: tufts } = connectedComponents(hairy)
  const grown = new Set<number>()
  for (let i = 0; i < tufts.length; i++) if (tufts[i] && crown.data[i]) grown.add(tufts[i])
  for (let i = 0; i < tufts.length; i++) if (tufts[i] && grown.has(tufts[i])) labels.data[i] = 4
}

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
