import type { Models } from '../../inference/models.ts'
import { measureKeypoints } from '../../vision/body/keypoints.ts'
import { DRESS, LOWER, labelParts, TOP } from '../../vision/body/part-labels.ts'
import { parsePerson } from '../../vision/person/parse.ts'
import type { Person } from '../../vision/person/person.ts'
import type { Bytes } from '../../vision/raster/bytes.ts'
import { rgbToLab } from '../../vision/raster/colour.ts'
import { countSet, maskWhere, withLabel } from '../../vision/raster/mask.ts'
import { bitmapToColours, type Mask } from '../../vision/raster/plane.ts'
import { createPyramid } from '../../vision/raster/pyramid.ts'
import type { ProductCategory, TrainedCategory } from './category.ts'

/** Min share of the wearer that a garment covers: less is noise of the parser. */
const MIN_SHARE = 0.01
/** Min share of all clothes from which the photo shows one garment. */
const SURE_SHARE = 0.8
const OWN_PARTS: Readonly<Record<TrainedCategory, number>> = { tops: TOP, bottoms: LOWER, 'one-pieces': DRESS }
// The model was trained with masks that hide these for each category.
const COVERED: Readonly<Record<TrainedCategory, readonly number[]>> = {
  tops: [TOP, DRESS],
  bottoms: [LOWER],
  'one-pieces': [TOP, LOWER, DRESS],
}

/** The part that each pixel of the wearer shows, as `labelParts`; 0 for bystanders. */
export async function labelWearer(photo: Bytes, wearer: Person, models: Models): Promise<Mask> {
  const bitmap = { ...photo, channels: 3 as const }
  const parsed = await parsePerson(createPyramid(bitmap), wearer, models.session('parser'))
  const rgb = bitmapToColours(bitmap)
  return labelParts({ rgb, lab: rgbToLab(rgb) }, { mask: wearer.mask, parsed, unit: measureKeypoints(wearer).unit })
}

/** The pixels of the garment of the category; null if the wearer has no such garment. */
export function findWornGarment(labels: Mask, category: TrainedCategory): Mask | null {
  const garment = maskWhere(labels, (i) => COVERED[category].includes(labels.data[i]))
  return countSet(garment) > MIN_SHARE * countSet(labels) ? garment : null
}

/** The category of the garment with the largest area on the wearer. Unknown: tops with the warning CATEGORY_ASSUMED. */
export function categoryOfWorn(labels: Mask): ProductCategory {
  const areas = (Object.keys(OWN_PARTS) as TrainedCategory[]).map((category) => ({
    category,
    area: countSet(withLabel(labels, labels.data, OWN_PARTS[category])),
  }))
  const total = areas.reduce((sum, { area }) => sum + area, 0)
  const { category, area } = areas.reduce((largest, each) => (each.area > largest.area ? each : largest))
  if (total === 0 || area < SURE_SHARE * total) return { category: 'tops', warnings: ['CATEGORY_ASSUMED'] }
  const confidence = Math.round((100 * area) / total) / 100
  return { category, detected: { type: 'on_model', view: null, category, confidence }, warnings: [] }
}
