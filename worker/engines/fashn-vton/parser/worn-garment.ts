import type { Person } from '../../../vision/person/person.ts'
import { type Component, keepComponents } from '../../../vision/raster/components.ts'
import { countSet } from '../../../vision/raster/mask.ts'
import type { Mask } from '../../../vision/raster/plane.ts'
import type { ProductCategory, TrainedCategory } from '../category.ts'
import { anyOf, COVERED, type Label, type Labels } from './labels.ts'

export interface WornGarment {
  /** Pixels of the garment. */
  readonly mask: Mask
  /** The person who wears the garment; null if the pose model finds no person. */
  readonly wearer: Person | null
}

/** Labels that are not a garment alone: a belt on a dress is not a pair of trousers. */
const ACCESSORIES: readonly Label[] = ['belt', 'scarf']
/** Min share of all labelled pixels: less is parser noise. */
const MIN_SHARE = 0.01
/** Min share of all clothes from which the photo shows one garment. */
const SURE_SHARE = 0.8
const OWN_LABELS: Readonly<Record<TrainedCategory, readonly Label[]>> = {
  tops: ['top'],
  bottoms: ['skirt', 'pants'],
  'one-pieces': ['dress'],
}

/**
 * The garment of the category on the wearer, without the clothes of bystanders; null if the photo shows no such garment. The labels
 * of each category are those of FASHN VTON v1.5.
 */
export function findWornGarment(labels: Labels, category: TrainedCategory, wearer: Person | null): WornGarment | null {
  const isOfWearer = ({ left, top, right, bottom }: Component) => {
    if (!wearer) return true
    const { x, y, width, height } = wearer.box
    return left < x + width && right > x && top < y + height && bottom > y
  }
  const { clothes } = COVERED[category]
  const garment = keepComponents(
    anyOf(
      labels,
      clothes.filter((label) => !ACCESSORIES.includes(label)),
    ),
    isOfWearer,
  )
  if (countSet(garment) === 0 || countSet(garment) < MIN_SHARE * countLabelled(labels)) return null
  return { mask: keepComponents(anyOf(labels, clothes), isOfWearer), wearer }
}

/** The category of the garment with the largest area in the photo. Unknown: tops with the warning CATEGORY_ASSUMED. */
export function categoryOfWorn(labels: Labels): ProductCategory {
  const areas = (Object.keys(OWN_LABELS) as TrainedCategory[]).map((category) => ({
    category,
    area: countSet(anyOf(labels, OWN_LABELS[category])),
  }))
  const total = areas.reduce((sum, { area }) => sum + area, 0)
  const { category, area } = areas.reduce((largest, each) => (each.area > largest.area ? each : largest))
  if (total === 0 || area < SURE_SHARE * total) return { category: 'tops', warnings: ['CATEGORY_ASSUMED'] }
  const confidence = Math.round((100 * area) / total) / 100
  return { category, detected: { type: 'on_model', view: null, category, confidence }, warnings: [] }
}

function countLabelled({ data }: Labels): number {
  return data.reduce((count, label) => count + (label === 0 ? 0 : 1), 0)
}
