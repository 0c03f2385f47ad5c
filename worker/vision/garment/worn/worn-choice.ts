import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { LABELS, type Label } from '../../person/parse.ts'
import { medianColour, samplesOf } from '../../raster/colour-model.ts'
import { countSet, withLabel } from '../../raster/mask.ts'
import { dilate } from '../../raster/morphology.ts'
import type { Colours, Mask } from '../../raster/plane.ts'
import { norm } from '../../raster/vector.ts'
import type { Category } from '../garment.ts'

/** The garment that is cut off its wearer. */
export interface Choice {
  readonly category: Category
  readonly labels: readonly Label[]
  /** The garment in the opening of an open jacket; null if there is none. */
  readonly inside: Label | null
}

/** What pixels of the wearer show; 0 for everything else, which shows where the garment ends. */
export const GARMENT = 1
/** Hair, bare arms and things that the person carries: they can hide the garment. A top hides a waist. */
export const HIDING = 2
export const INSIDE = 3

export const CLOTHES: readonly Label[] = ['top', 'outer', 'bottom', 'skirt', 'dress']
const HIDING_LABELS: readonly Label[] = ['hair', 'arms', 'accessory']
const UPPER: readonly Label[] = ['top', 'outer']
// Areas of labels over that of the garment: less is noise of the parser; from LAYERED on, outerwear covers a top.
const NOISE = 0.12
const LAYERED = 0.3
// Max distance of the median colours of two labels of one garment, in CIE Lab with half of the lightness, which folds change most.
const ALIKE = 8
// Min share of the photo that a garment covers.
const MIN_AREA = 0.004

/** The garment of the category on a wearer; without a category, the outermost one on the upper body. `labels` has indices of LABELS. */
export function chooseGarment({ labels, lab }: { labels: Mask; lab: Colours }, category: Category | null): Choice {
  const seen = CLOTHES.map((label) => {
    const mask = maskOf(labels, label)
    return { label, area: countSet(mask), colour: medianColour(samplesOf(lab, mask)) }
  }).sort((a, b) => b.area - a.area)
  const areaOf = (wanted: Label) => seen.find(({ label }) => label === wanted)?.area ?? 0
  // The parser confuses tops and outerwear, and dresses and their halves: the largest piece, with those of its colour.
  const choose = (...wanted: Label[]): Label[] => {
    const [largest, ...others] = seen.filter(({ label }) => wanted.includes(label))
    if (largest.area < MIN_AREA * labels.data.length)
      throw rejected(
        'The person in the product photo wears no garment of the category. Send a photo of the garment alone.',
      )
    const isPart = ({ area, colour: [l, a, b] }: (typeof seen)[number]) => {
      const [light, green, blue] = largest.colour
      return area > NOISE * largest.area && norm((l - light) / 2, a - green, b - blue) < ALIKE
    }
    return [largest.label, ...others.filter(isPart).map(({ label }) => label)]
  }
  if (category === 'bottoms') return { category, labels: choose('bottom', 'skirt'), inside: null }
  const upper = choose('top', 'outer', 'dress')
  if (category === 'one-pieces' || (category === null && upper[0] === 'dress')) {
    const dress = choose('dress', 'top', 'bottom', 'skirt')
    const isCovered = (['top', 'outer'] as const).some(
      (label) => !dress.includes(label) && areaOf(label) > NOISE * areaOf(dress[0]),
    )
    if (isCovered) throw rejected(COVERED)
    return { category: 'one-pieces', labels: dress, inside: null }
  }
  const isOneGarment = upper.includes('outer') && upper.length > 1
  const isLayered = !isOneGarment && areaOf('outer') > LAYERED * areaOf('top')
  if (category === 'tops' && isLayered && areaOf('top') > NOISE * areaOf('outer')) throw rejected(COVERED)
  if (category !== 'outerwear' && !isLayered) return { category: 'tops', labels: upper, inside: null }
  const outer = upper.includes('outer') ? upper : choose('outer')
  const hasInside = !outer.includes('top') && areaOf('top') > NOISE * areaOf('outer')
  return { category: 'outerwear', labels: outer, inside: hasInside ? 'top' : null }
}

// Max length of single hairs beside the hair, in body units.
const STRANDS = 0.05

/** GARMENT, HIDING or INSIDE for every pixel. Single hairs hide the garment, too. */
export function kindsOf(labels: Mask, { choice, unit }: { choice: Choice; unit: number }): Mask {
  const kinds = LABELS.map((label) => {
    if (choice.labels.includes(label)) return GARMENT
    const hides = HIDING_LABELS.includes(label) || (choice.category === 'bottoms' && UPPER.includes(label))
    return label === choice.inside ? INSIDE : hides ? HIDING : 0
  })
  const strands = dilate(maskOf(labels, 'hair'), STRANDS * unit)
  const data = labels.data.map((label, i) => (kinds[label] === GARMENT && strands.data[i] ? HIDING : kinds[label]))
  return { ...labels, data }
}

function maskOf(labels: Mask, label: Label): Mask {
  return withLabel(labels, labels.data, LABELS.indexOf(label))
}

export const HIDDEN =
  'Hair, arms or a bag hide too much of the garment in the product photo. Send a photo of the garment alone.'
export const COVERED = 'Another garment covers the garment in the product photo. Send a photo of the garment alone.'

export function rejected(message: string): DrapeError {
  return new DrapeError('RESULT_REJECTED', message, { image: 'product' })
}
