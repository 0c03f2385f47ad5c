import { dashboard } from './dashboard/feature.ts'
import type { Extension, Feature } from './feature.ts'
import { guide } from './guide/feature.ts'
import { outfits } from './outfits/feature.ts'
import { playground } from './playground/feature.ts'
import { InvalidConfiguration, splitList } from './shared/process/config.ts'
import { storefront } from './storefront/feature.ts'
import { widget } from './storefront/widget/feature.ts'
import { testMode } from './test-mode/feature.ts'
import { trust } from './trust/feature.ts'

/** All extensions, in the order in which they start. */
export const FEATURES: readonly Feature[] = [testMode, outfits, storefront, trust, widget, playground, guide, dashboard]

/**
 * The features in a comma-separated list of names; `all` and `none` are lists too.
 * @throws InvalidConfiguration for an unknown name
 */
export function chooseFeatures(list: string): readonly Feature[] {
  if (list === 'all') return FEATURES
  const names = list === 'none' ? [] : splitList(list)
  const unknown = names.filter((name) => !FEATURES.some((feature) => feature.name === name))
  if (unknown.length > 0) {
    const known = FEATURES.map(({ name }) => name).join(', ')
    throw new InvalidConfiguration([`FEATURES names ${unknown.join(', ')}, but must be all, none or names of ${known}`])
  }
  return FEATURES.filter(({ name }) => names.includes(name))
}

/** The only answer of an extension to a question of the core; undefined if no started extension answers it. */
export function answerOf<K extends keyof Extension>(extensions: readonly Extension[], question: K): Extension[K] {
  return extensions.find((extension) => extension[question] !== undefined)?.[question]
}
