import { MAX_FALLBACK_ENGINES } from '../../api/accounts/accounts.store.ts'
import { createPublishedEngines } from '../../api/generations/engines/published-engines.store.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { BUILT_IN_ENGINES } from '../../api/shared/engines/engine-catalogue.ts'
import { ENGINE_NAME_RULE, isEngineName } from '../../api/shared/engines/engine-names.ts'
import { splitList } from '../../api/shared/process/config.ts'
import { UsageError } from './options.ts'
import { warn } from './output.ts'

/** The value of `--default-engine`; null for `none`, which removes the setting. */
export function readDefaultEngine(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text === 'none') return null
  if (!isEngineName(text)) throw new UsageError(`--default-engine must be the name of an engine: ${ENGINE_NAME_RULE}`)
  return text
}

/** The value of `--fallback-engines`; null for `none`, which removes the setting. */
export function readFallbackEngines(text: string | undefined): string[] | null | undefined {
  if (text === undefined) return undefined
  if (text === 'none') return null
  const names = [...new Set(splitList(text))]
  if (names.length === 0 || names.length > MAX_FALLBACK_ENGINES || !names.every(isEngineName))
    throw new UsageError(
      `--fallback-engines must be 1 to ${MAX_FALLBACK_ENGINES} names of engines, separated by commas: ${ENGINE_NAME_RULE}`,
    )
  return names
}

/** Warns about names without an Engine resource: only the API knows the engines that workers register. */
export async function warnAboutEngines(database: Database, names: readonly (string | null | undefined)[]) {
  const others = names.flatMap((name) => (name && !BUILT_IN_ENGINES.includes(name) ? [name] : []))
  if (others.length === 0) return
  const published = new Set((await createPublishedEngines(database).find()).map(({ name }) => name))
  for (const name of others.filter((other) => !published.has(other)))
    warn(
      `no Engine resource is named ${name}: the setting has no effect until a worker or an Engine resource has this name`,
    )
}
