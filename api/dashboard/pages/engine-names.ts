import type { EngineDirectory } from '../../generations/engines/directory.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { BUILT_IN_ENGINES } from '../../shared/engines/engine-catalogue.ts'
import { isEngineName } from '../../shared/engines/engine-names.ts'

export type Engines = Pick<EngineDirectory, 'list' | 'find'>

/** An engine to choose, as an option of a form. */
export type EngineChoice = readonly [name: string, label: string]

/**
 * Engines to choose from: built-in ones, those known to the installation, and those already set. Labels warn about engines that no
 * worker runs.
 */
export async function findEngineChoices(
  engines: Engines,
  set: readonly (string | null | undefined)[] = [],
): Promise<EngineChoice[]> {
  const known = new Map((await engines.list()).map(({ name, state }) => [name, state]))
  const names = [...new Set([...BUILT_IN_ENGINES, ...known.keys(), ...set.flatMap((name) => name ?? [])])]
  return names.map((name) => [name, `${name}${WARNINGS[known.get(name) ?? 'unavailable']}`])
}

const WARNINGS = {
  ready: '',
  scaling_from_zero: ': a worker starts on demand',
  unavailable: ': no worker runs it',
} as const

/** Throws `VALIDATION_FAILED` for a name that is neither built in, nor known to the installation, nor already set. */
export async function assertEngine(
  engines: Engines,
  name: string | null | undefined,
  { path, before = [] }: { path: string; before?: readonly (string | null | undefined)[] },
): Promise<void> {
  if (!name || BUILT_IN_ENGINES.includes(name) || before.includes(name)) return
  if (isEngineName(name) && (await engines.find(name)) !== null) return
  const message = `must be one of ${(await findEngineChoices(engines)).map(([name]) => name).join(', ')}`
  throw new DrapeError('VALIDATION_FAILED', `${path} ${message}.`, { details: [{ path, message }] })
}
