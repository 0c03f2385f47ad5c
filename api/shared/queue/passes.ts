import type { Log } from '../telemetry/log.ts'

/** Runs one pass of repeated work. Resolves to null on failure. */
export type Pass = <T>(name: string, work: () => Promise<T>) => Promise<T | null>

/** Logs failures of passes as `… pass failed`. Of consecutive failures of a pass, only the first is a warning. */
export function createPasses(owner: string, log: Log): Pass {
  const failing = new Set<string>()
  return async (name, work) => {
    try {
      const result = await work()
      failing.delete(name)
      return result
    } catch (error) {
      log[failing.has(name) ? 'debug' : 'warn']({ err: error, pass: name }, `${owner} pass failed`)
      failing.add(name)
      return null
    }
  }
}
