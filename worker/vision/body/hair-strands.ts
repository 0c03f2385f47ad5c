import { componentsTouching } from '../raster/components.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { close, dilate, erode, open } from '../raster/morphology.ts'
import { type Colours, createMask, createPlane, type Mask, maskWhere, type Plane, subset } from '../raster/plane.ts'
import { norm } from '../raster/vector.ts'

/** Hair that hangs over cloth of the same colour. All masks have the same size. */
export interface HangingHair {
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
  const alike = open(
    subset(either, (i) => smooth.data[i] > 0),
    strand,
  )
  const grown = close(componentsTouching(alike, dilate(hair, 2 + strand)), strand)
  const falling = fallingFrom(hair, grown)
  // The texture filter reaches beyond the strands: the outermost pixels that resemble hair are cloth.
  const inner = erode(
    maskWhere(falling, (i) => falling.data[i] === 1 || !either.data[i]),
    TRIM * unit,
  )
  return subset(inner, (i) => either.data[i] === 1)
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
