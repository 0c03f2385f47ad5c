import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'

/** The environment of a program whose clock is wrong by this many seconds; null where libfaketime is missing. */
export function wrongClock(seconds: number): Record<string, string> | null {
  const library = REQUIREMENTS.faketime.find()
  if (library === undefined) return null
  return {
    LD_PRELOAD: library,
    FAKETIME: `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s`,
    // Timers use the monotonic clock, which is correct even with a wrong wall clock.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}
