import { Type } from '../contract/schema.ts'
import { InvalidConfiguration, splitList } from '../process/config.ts'

/** An engine has the name of its Engine resource. */
const PATTERN = '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$'
const WELL_FORMED = new RegExp(PATTERN)

/** Naming rule for error messages. */
export const ENGINE_NAME_RULE = 'lower-case letters, digits and hyphens, at most 48'

export function engineName(options: { readonly default?: string } = {}) {
  return Type.String({ pattern: PATTERN, ...options })
}

export function isEngineName(text: string): boolean {
  return WELL_FORMED.test(text)
}

/** Parses the variable ENGINES. Throws an Error that lists the invalid names. */
export function readEngines(text: string): string[] {
  const names = splitList(text)
  const wrong = names.filter((name) => !isEngineName(name))
  if (wrong.length === 0) return names
  const quoted = wrong.map((name) => `"${name}"`).join(', ')
  throw new InvalidConfiguration([`ENGINES: ${quoted} must be names of engines (${ENGINE_NAME_RULE})`])
}
