import type { Label, PersonLabels } from '../person/parse.ts'
import {
  type ColourModel,
  countOf,
  createCosts,
  learnColours,
  medianColour,
  samplesOf,
} from '../raster/colour-model.ts'
import { keepComponents } from '../raster/components.ts'
import { boundsOf, cropColours, cropMask, cropPlane, type Window } from '../raster/crop.ts'
import { createGuidedFilter, gaussianBlur } from '../raster/filter.ts'
import { subset, threshold, withLabel, without } from '../raster/mask.ts'
import { type Colours, createMask, createPlane, type Mask, type Plane, type Size } from '../raster/plane.ts'
import { reduceByFactor, reduceColoursByFactor } from '../raster/reduce.ts'
import { warpAffinePlane } from '../raster/sample.ts'
import { norm } from '../raster/vector.ts'

/** Labels of the parts; 0 is outside the person, and what the person carries or has on the feet. */
export const SKIN = 1
export const TOP = 2
export const LOWER = 3
export const HAIR = 4
export const DRESS = 5

const PARTS: readonly (readonly Label[])[] = [
  ['accessory', 'shoes'],
  ['face', 'neck', 'arms', 'legs'],
  ['top', 'outer'],
  ['bottom', 'skirt'],
  ['hair'],
  ['dress'],
]

/** A photo of a person. */
export interface Photo {
  /** sRGB in 0 to 255. */
  readonly rgb: Colours
  /** Slightly blurred, in CIE Lab. */
  readonly lab: Colours
}

// Estimates are made for every FACTOR × FACTOR px; the guided filter restores the edges.
const FACTOR = 2

/** Which labels a pixel can show. */
interface Groups {
  readonly groups: readonly (readonly Label[])[]
  /** Indices of the groups that are clothes. */
  readonly clothes: readonly number[]
  /** Whether the groups have no colours in common but by mistakes of the parser. */
  readonly distinct: boolean
}

/**
 * The most likely part for every pixel of the person. The parser's labels are coarse: colours of the pixels that it is sure of, and a
 * guided filter, move their edges to those of the photo. `unit` is the body unit in px. Other `groups` than the parts give their indices.
 */
export function labelParts(
  { rgb, lab }: Photo,
  { mask, parsed, unit }: { mask: Plane; parsed: PersonLabels; unit: number },
  { groups, clothes, distinct }: Groups = { groups: PARTS, clothes: CLOTHES, distinct: false },
): Mask {
  const window = windowOf(mask, Math.ceil(0.06 * unit))
  const small = reduceColoursByFactor(cropColours(lab, window), FACTOR)
  const seen = partShares(parsed, groups, { window, size: small })
  const sure = seen.map((share) => threshold(share, SURE))
  const skin = groups.findIndex((labels) => labels.includes('face') && labels.includes('neck'))
  if (skin >= 0) {
    const [neck] = partShares(parsed, [['neck']], { window, size: small })
    sure[skin] = withoutCloth(sure[skin], threshold(neck, 0.5), small)
  }
  const likely = weighColours(seen, small, { sure, mask: reduceByFactor(cropPlane(mask, window), FACTOR), distinct })
  const radius = Math.max(2, Math.round((0.025 * unit) / FACTOR))
  const guide = gaussianBlur(greyOf(cropColours(rgb, window)), 0.8)
  const fine = likely.map(createGuidedFilter(guide, { radius, epsilon: 1e-3, factor: FACTOR }))
  const labels = createMask(mask)
  const inside = cropMask(threshold(mask, 0.5), window)
  const assign = (pixels: Mask, except = -1) => {
    for (let i = 0; i < pixels.data.length; i++)
      if (pixels.data[i]) labels.data[fromWindow(i, window, mask)] = mostLikely(fine, i, except)
  }
  assign(inside)
  for (const part of clothes) {
    const worn = cropMask(withLabel(labels, labels.data, part), window)
    assign(
      keepComponents(worn, ({ area }, all) => area < CRUMB * Math.max(...all.map((piece) => piece.area))),
      part,
    )
  }
  return labels
}

// A garment has no piece with a smaller share of the area of its largest piece: it is a shadow, or a crease.
const CRUMB = 0.03
const CLOTHES = [TOP, LOWER, DRESS]

function mostLikely(shares: readonly Plane[], i: number, except: number): number {
  let best = except === 0 ? 1 : 0
  for (let part = best + 1; part < shares.length; part++)
    if (part !== except && shares[part].data[i] > shares[best].data[i]) best = part
  return best
}

function fromWindow(i: number, { x, y, width }: Window, size: Size): number {
  return (Math.floor(i / width) + y) * size.width + (i % width) + x
}

// Only pixels of the mask get a label.
function windowOf(mask: Plane, margin: number): Window {
  const box = boundsOf(mask, 0.5) ?? { x: 0, y: 0, width: 1, height: 1 }
  const [x, y] = [Math.max(0, box.x - margin), Math.max(0, box.y - margin)]
  const [right, bottom] = [box.x + box.width + margin, box.y + box.height + margin]
  return { x, y, width: Math.min(mask.width, right) - x, height: Math.min(mask.height, bottom) - y }
}

// The parser's share of each group in the window, in every FACTOR × FACTOR px.
function partShares(
  { box, shares }: PersonLabels,
  groups: Groups['groups'],
  { window, size }: { window: Window; size: Size },
): Plane[] {
  const { width, height } = shares.dress
  const place = (from: number, start: number, scale: number) => (from + FACTOR / 2 - start) * scale - 0.5
  const [x, y] = [width / box.width, height / box.height]
  const map = [FACTOR * x, 0, place(window.x, box.x, x), 0, FACTOR * y, place(window.y, box.y, y)] as const
  return groups.map((labels) => warpAffinePlane(sumOf(labels.map((label) => shares[label])), map, size))
}

function sumOf(planes: readonly Plane[]): Plane {
  const sum = createPlane(planes[0])
  for (const { data } of planes) for (let i = 0; i < data.length; i++) sum.data[i] += data[i]
  return sum
}

// A part's colours are learnt where its share is above SURE. No share counts less than LEAST, so that colours can outweigh the parser.
const SURE = 0.7
const LEAST = 0.002
// A colour with a cost above it is just unlike the part; a cost that is higher by SOFTNESS makes it 1 / e as likely.
const MAX_COST = 30
const SOFTNESS = 6
const COLOURS = 4

// Max difference in tint of a neck from the rest of the skin.
const MAX_TINT = 14

// The parser takes light cloth below a neck for skin, even if it is sure: the colours of skin are those of face and limbs.
function withoutCloth(skin: Mask, neck: Mask, lab: Colours): Mask {
  const samples = samplesOf(lab, without(skin, neck))
  if (countOf(samples) < MIN_SAMPLES) return skin
  const [, a, b] = medianColour(samples)
  return subset(skin, (i) => !neck.data[i] || norm(lab.data[3 * i + 1] - a, lab.data[3 * i + 2] - b) < MAX_TINT)
}

const MIN_SAMPLES = 60

/** Probability of each part by its share and by its colours, learnt from the pixels that are `sure`. `lab` is CIE Lab. */
function weighColours(
  shares: readonly Plane[],
  lab: Colours,
  { sure, mask, distinct }: { sure: readonly Mask[]; mask: Plane; distinct: boolean },
): Plane[] {
  const learnt = sure.map((pixels) => learnColours(samplesOf(lab, pixels, mask), COLOURS))
  const costs = createCosts(distinct ? learnt.map((model) => withoutForeign(model, learnt)) : learnt)
  const likely = shares.map((share) => createPlane(share))
  const cost = new Float64Array(shares.length)
  const colour = { l: 0, a: 0, b: 0 }
  for (let i = 0; i < mask.data.length; i++) {
    colour.l = lab.data[3 * i]
    colour.a = lab.data[3 * i + 1]
    colour.b = lab.data[3 * i + 2]
    costs(colour, cost)
    let sum = 0
    for (let part = 0; part < cost.length; part++) {
      cost[part] = Math.exp(-Math.min(cost[part], MAX_COST) / SOFTNESS) * Math.max(shares[part].data[i], LEAST)
      sum += cost[part]
    }
    for (let part = 0; part < cost.length; part++) likely[part].data[i] = cost[part] / sum
  }
  return likely
}

// Max distance of two colours that count as the same, in deviations.
const SAME = 3

/** The model without colours that are more common in another group. */
function withoutForeign(model: ColourModel, all: readonly ColourModel[]): ColourModel {
  const kept = model.filter(
    ({ mean: [l, a, b], share }) =>
      !all.some((other) =>
        other.some(
          ({ mean, deviation, ...own }) =>
            own.share > share &&
            other !== model &&
            norm((mean[0] - l) / deviation[0], (mean[1] - a) / deviation[1], (mean[2] - b) / deviation[2]) < SAME,
        ),
      ),
  )
  return kept.length > 0 ? kept : model
}

function greyOf(rgb: Colours): Plane {
  const grey = createPlane(rgb)
  for (let i = 0; i < grey.data.length; i++)
    grey.data[i] = (rgb.data[3 * i] + rgb.data[3 * i + 1] + rgb.data[3 * i + 2]) / 765
  return grey
}
