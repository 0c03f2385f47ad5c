import type { Log } from '../shared/log.ts'

/** Runs a piece of work that repeats, and resolves to null when it fails. */
export type Pass = <T>(name: string, work: () => Promise<T>) => Promise<T | null>

/** Logs failures of passes with the message `… pass failed`. Of successive failures of a pass, only the first is a warning. */
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
