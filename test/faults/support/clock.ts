import { globSync } from 'node:fs'

const PLACES = [
  '/usr/lib/*/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
  '/usr/local/lib/faketime/libfaketime.so.1',
]

/** The environment of a program whose clock is wrong by so many seconds; null where libfaketime is not installed. */
export function wrongClock(seconds: number): Record<string, string> | null {
  const [library] = PLACES.flatMap((place) => globSync(place))
  if (library === undefined) return null
  return {
    LD_PRELOAD: library,
    FAKETIME: `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s`,
    // Timers measure time that passes, which is right also on such a machine.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}
