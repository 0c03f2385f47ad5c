import { createPublishedEngines } from '../../api/generations/engines/published-engines.store.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { BUILT_IN_ENGINES } from '../../api/shared/engines/engine-catalogue.ts'
import { warn } from './output.ts'

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
