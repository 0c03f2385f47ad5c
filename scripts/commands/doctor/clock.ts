import { type Finding, ok, problem } from './finding.ts'

const MAX_DRIFT_MS = 5000

/**
 * Compares the clock of a service with the local clock. `before` and `after` enclose the time at which the service read its clock, all in
 * ms since 1970.
 */
export function compareClocks(
  check: string,
  { theirs, before, after }: { theirs: number; before: number; after: number },
): Finding {
  const drift = theirs < before ? theirs - before : Math.max(0, theirs - after)
  const found = `${drift < 0 ? 'behind' : 'ahead'} by ${(Math.abs(drift) / 1000).toFixed(1)} s`
  if (Math.abs(drift) <= MAX_DRIFT_MS) return ok(check, drift === 0 ? 'the same time' : found)
  return problem(
    check,
    found,
    'Synchronise both clocks over NTP: timedatectl set-ntp true. Deadlines, leases and signed links depend on them.',
  )
}
