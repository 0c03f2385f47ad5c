import type { EngineDirectory } from '../generations/engines/directory.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { BUILT_IN_ENGINES } from '../shared/engines/engine-catalogue.ts'
import { isEngineName } from '../shared/engines/engine-names.ts'

export type Engines = Pick<EngineDirectory, 'list' | 'find'>

/** Engine names to choose from: built-in ones, those known to the installation, and those already set. */
export async function findEngineNames(engines: Engines, set: readonly (string | null | undefined)[] = []) {
  const known = (await engines.list()).map(({ name }) => name)
  return [...new Set([...BUILT_IN_ENGINES, ...known, ...set.flatMap((name) => name ?? [])])]
}

/** Throws `VALIDATION_FAILED` for a name that is neither built in, nor known to the installation, nor already set. */
export async function assertEngine(
  engines: Engines,
  name: string | null | undefined,
  { path, before = [] }: { path: string; before?: readonly (string | null | undefined)[] },
): Promise<void> {
  if (!name || BUILT_IN_ENGINES.includes(name) || before.includes(name)) return
  if (isEngineName(name) && (await engines.find(name)) !== null) return
  const message = `must be one of ${(await findEngineNames(engines)).join(', ')}`
  throw new DrapeError('VALIDATION_FAILED', `${path} ${message}.`, { details: [{ path, message }] })
}
