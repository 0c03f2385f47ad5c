import { reasonOf } from '../failure.ts'

/** Result of one examination. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'problem' | 'skipped'
  readonly found: string
  /** The fix of a problem, in one line. */
  readonly cure?: string
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found })
export const skipped = (check: string, found: string): Finding => ({ check, state: 'skipped', found })
export const problem = (check: string, found: string, cure: string): Finding => ({
  check,
  state: 'problem',
  found,
  cure,
})

/** Runs an examination; converts an error to a problem with the given cure. */
export async function examine(
  check: string,
  cure: string,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  return look().catch((error: unknown) => {
    const reason = error instanceof Error ? reasonOf(error) : String(error)
    return [problem(check, reason.replaceAll(/\s*\n\s*/g, ' '), cure)]
  })
}
