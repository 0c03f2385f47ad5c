import { maskWhere } from '../../../vision/raster/mask.ts'
import type { Mask } from '../../../vision/raster/plane.ts'
import type { TrainedCategory } from '../category.ts'

/** The classes of a parser of clothed people, in the order of the class ids. */
export const LABELS = [
  ...([
    'background',
    'face',
    'hair',
    'top',
    'dress',
    'skirt',
    'pants',
    'belt',
    'bag',
    'hat',
    'scarf',
    'glasses',
  ] as const),
  ...(['arms', 'hands', 'legs', 'feet', 'torso', 'jewelry'] as const),
] as const
export type Label = (typeof LABELS)[number]

/** The class id of each pixel, height × width. */
export interface Labels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

const UPPER: readonly Label[] = ['top', 'dress', 'scarf']
const LOWER: readonly Label[] = ['skirt', 'pants', 'belt']

/** What a garment of each category covers: the clothing labels, and the halves of the body. */
export const COVERED: Readonly<Record<TrainedCategory, { clothes: readonly Label[]; upper: boolean; lower: boolean }>> =
  {
    tops: { clothes: UPPER, upper: true, lower: false },
    bottoms: { clothes: LOWER, upper: false, lower: true },
    'one-pieces': { clothes: [...UPPER, ...LOWER], upper: true, lower: true },
  }

export function anyOf(labels: Labels, names: readonly Label[]): Mask {
  const numbers = new Set(names.map((name) => LABELS.indexOf(name)))
  return maskWhere(labels, (i) => numbers.has(labels.data[i]))
}
