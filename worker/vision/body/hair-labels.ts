import { componentsTouching, connectedComponents } from '../raster/components.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { below, intersect, invert, maskWhere, union, withLabel, without, withValue } from '../raster/mask.ts'
import { close, dilate, erode, open } from '../raster/morphology.ts'
import { type Colours, createMask, createPlane, type Mask, type Plane } from '../raster/plane.ts'
import { norm } from '../raster/vector.ts'
import type { PartColours } from './part-colours.ts'
import { HAIR, SKIN, TOP } from './part-labels.ts'

/**
 * Hair is connected to the crown of the head. Unconnected pixels with the colour of hair keep their next most likely label. On the chest
 * they are top: a tie, a dark seam.
 */
export function labelTufts(labels: Mask, hairy: Mask, { crown, chest }: PartColours): void {
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

/**
 * Separates hair from a top of the same colour: above the shoulders, pixels that hang down from beside the face are hair; below the
 * shoulders they are top. If nothing hangs down there, pixels above that line are a collar or the shoulders of a dark jacket.
 */
export function separateHairFromTop(labels: Mask, place: Place): void {
  const { data } = labels
  const { along } = place
  const found = findHangingHair(labels, place)
  // A thin line of pixels that happens to connect hair and collar is neither.
  const sure = union(open(found, place.strand), below(along, place.mouth))
  const hanging = intersect(found, sure)
  const rest = without(union(withLabel(labels, data, TOP), withLabel(labels, data, HAIR)), hanging)
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
  const [top, hair] = [TOP, HAIR].map((label) => withLabel(labels, data, label))
  const dark = union(top, hair)
  const strands = findStrands(sharp, {
    dark,
    hair: withValue(hair, along, { over: mouth, under: COLLAR }),
    cloth: withValue(withValue(top, along, { over: CHEST[0], under: CHEST[1] }), across, { over: -0.35, under: 0.35 }),
    either: without(withValue(dark, along, { under: CHEST[1] }), below(along, COLLAR)),
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

/** Hair that hangs over cloth of the same colour. All masks have the same size. */
interface HangingHair {
  /** Pixels that are hair or top. */
  readonly dark: Mask
  /** Pixels that are certainly hair: from beside the mouth down to the collar. */
  readonly hair: Mask
  /** Pixels that are certainly cloth of the top. */
  readonly cloth: Mask
  /** Pixels below the collar that can be hair or cloth. */
  readonly either: Mask
  /** The body unit in px. */
  readonly unit: number
}

/**
 * Strands of hair that continue over a top of the same colour. Hair consists of fine lines, so its lightness varies more across its
 * fall than along it. Cloth has no such lines. Pixels that resemble the known hair and are connected to it are hair. If hair and cloth
 * cannot be distinguished, only a short section below the known hair is hair.
 */
export function findStrands(lab: Colours, { dark, hair, cloth, either, unit }: HangingHair): Mask {
  const features = featuresOf(lab, { dark, unit })
  const [ofHair, ofCloth] = [describe(features, hair), describe(features, cloth)]
  if (!ofHair || !ofCloth) return tailsOf(hair, either, unit)
  const deviation = ofHair.deviation.map((own, f) => norm(own, ofCloth.deviation[f]) / Math.SQRT2)
  const away = (i: number, mean: readonly number[]) =>
    features.reduce((sum, { data }, f) => sum + ((data[i] - mean[f]) / deviation[f]) ** 2, 0)
  const likeness = (i: number) => away(i, ofCloth.mean) - away(i, ofHair.mean)
  if (!isSeparable(likeness, hair, cloth)) return tailsOf(hair, either, unit)
  const score = createPlane(lab)
  for (let i = 0; i < score.data.length; i++)
    if (either.data[i]) score.data[i] = Math.min(Math.max(likeness(i), -MAX_LIKENESS), MAX_LIKENESS)
  const smooth = gaussianBlur(score, SMOOTH * unit)
  const strand = Math.max(3, STRAND * unit)
  const alike = open(withValue(either, smooth, { over: 0 }), strand)
  const grown = close(componentsTouching(alike, dilate(hair, 2 + strand)), strand)
  const falling = fallingFrom(hair, grown)
  // The texture filter reaches beyond the strands: the outermost pixels that resemble hair are cloth.
  const inner = erode(union(falling, invert(either)), TRIM * unit)
  return intersect(inner, either)
}

// Hair falls: of the connected pixels only those below the known hair are hair, spreading by 1 pixel per side every 2 rows.
function fallingFrom(hair: Mask, grown: Mask): Mask {
  const { width, data } = grown
  const out = createMask(grown)
  const isHair = (i: number) => hair.data[i] === 1 || out.data[i] === 1
  for (let i = width + 1; i < data.length - 1; i++) {
    if (!data[i]) continue
    const above = i - width
    const reach = Math.floor(i / width) % 2
    if (isHair(above) || isHair(above - reach) || isHair(above + reach)) out.data[i] = 1
  }
  return out
}

// In body units.
const SMOOTH = 0.02
const STRAND = 0.025
const TEXTURE = 0.012
const EDGE = 0.03
const TRIM = 0.018
const TAIL = 0.22
const MAX_LIKENESS = 12
// A larger step in lightness is the edge of another object.
const MAX_STEP = 8

// Contrast across and along the fall of hair, then lightness and hue. Excludes edges of other objects.
function featuresOf(lab: Colours, { dark, unit }: Pick<HangingHair, 'dark' | 'unit'>): readonly Plane[] {
  const { width } = lab
  const inside = erode(dark, EDGE * unit)
  const meanInside = (value: (i: number) => number, sigma: number) => {
    const [sum, weight] = [createPlane(lab), createPlane(lab)]
    for (let i = 0; i < sum.data.length; i++) {
      if (!inside.data[i]) continue
      sum.data[i] = value(i)
      weight.data[i] = 1
    }
    const [means, weights] = [gaussianBlur(sum, sigma * unit), gaussianBlur(weight, sigma * unit)]
    for (let i = 0; i < means.data.length; i++) means.data[i] /= Math.max(1e-3, weights.data[i])
    return means
  }
  const step = (a: number, b: number) => Math.min(Math.abs(lab.data[3 * a] - lab.data[3 * b]), MAX_STEP) ** 2
  const energies = [1, width].map((next) => {
    const energy = meanInside((i) => (inside.data[i + next] ? step(i, i + next) : 0), TEXTURE)
    return { ...energy, data: energy.data.map((value) => 8 * Math.log(value + 0.05)) }
  })
  const colours = [0, 1, 2].map((channel) => meanInside((i) => lab.data[3 * i + channel], TEXTURE))
  return [...energies, ...colours]
}

// Below these deviations a difference is noise: two of texture, then of Lab.
const MIN_DEVIATIONS = [4, 4, 3, 1.5, 1.5]
const MIN_SAMPLES = 60

interface Appearance {
  readonly mean: readonly number[]
  readonly deviation: readonly number[]
}

function describe(features: readonly Plane[], mask: Mask): Appearance | null {
  const indices: number[] = []
  for (let i = 0; i < mask.data.length; i++) if (mask.data[i]) indices.push(i)
  if (indices.length < MIN_SAMPLES) return null
  const mean = features.map(({ data }) => indices.reduce((sum, i) => sum + data[i], 0) / indices.length)
  const deviation = features.map(({ data }, f) => {
    const variance = indices.reduce((sum, i) => sum + (data[i] - mean[f]) ** 2, 0) / indices.length
    return Math.max(MIN_DEVIATIONS[f], Math.sqrt(variance))
  })
  return { mean, deviation }
}

// Min share of the known pixels that the classifier must label correctly.
const MIN_HAIR_ACCURACY = 0.8
const MIN_CLOTH_ACCURACY = 0.9

function isSeparable(likeness: (i: number) => number, hair: Mask, cloth: Mask): boolean {
  const share = (mask: Mask, test: (i: number) => boolean) => {
    let [right, all] = [0, 0]
    for (let i = 0; i < mask.data.length; i += 3) {
      if (!mask.data[i]) continue
      all++
      if (test(i)) right++
    }
    return right / Math.max(1, all)
  }
  return (
    share(hair, (i) => likeness(i) > 0) > MIN_HAIR_ACCURACY && share(cloth, (i) => likeness(i) < 0) > MIN_CLOTH_ACCURACY
  )
}

// Extends the known hair straight down for a short distance.
function tailsOf(hair: Mask, either: Mask, unit: number): Mask {
  const { width } = hair
  const left = new Float64Array(width)
  return maskWhere(hair, (i) => {
    const x = i % width
    if (hair.data[i]) left[x] = TAIL * unit
    else if (either.data[i] && left[x] > 0) left[x]--
    else left[x] = 0
    return !hair.data[i] && left[x] > 0
  })
}
