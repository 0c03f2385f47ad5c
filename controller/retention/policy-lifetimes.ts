import { IMAGE_DAYS, INLINE_PRODUCT_DAYS, ONE_SHOT_PRODUCT_DAYS } from '../../api/shared/retention/lifetimes.ts'
import type { RetentionPolicy } from './resource.ts'

const DAY_SECONDS = 86_400
const UNITS = [
  ['d', DAY_SECONDS],
  ['h', 3600],
  ['m', 60],
] as const

/** The base lifetimes of the images that a policy deletes, ttlSeconds included, for example "images 1d/3d/7d, products 7d/15d". */
export function lifetimesOf({ selector: { kinds }, ttlSeconds }: RetentionPolicy['spec']): string {
  const of = (days: readonly number[]) => {
    const seconds = days.map((each) => Math.min(each * DAY_SECONDS, ttlSeconds ?? Number.POSITIVE_INFINITY))
    return [...new Set(seconds)].map(presentSeconds).join('/')
  }
  const images = kinds.filter((kind) => kind !== 'product')
  const parts = [
    ...(images.length > 0 ? [`${images.length > 1 ? 'images' : `${images[0]} images`} ${of(IMAGE_DAYS)}`] : []),
    ...(kinds.includes('product') ? [`products ${of([ONE_SHOT_PRODUCT_DAYS, INLINE_PRODUCT_DAYS])}`] : []),
  ]
  return parts.join(', ')
}

function presentSeconds(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds % each === 0) ?? ['s', 1]
  return `${seconds / size}${unit}`
}
