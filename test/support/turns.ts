import { inspectProcess } from '../../scripts/stack/processes.ts'

/** Grants a turn to one worker at a time. A worker that begins its next file, or has ended, has given its turn back. */
export function createTurns(): (worker: { pid: number; isWanted: boolean }) => boolean {
  let holder: number | undefined
  return ({ pid, isWanted }) => {
    if (holder === pid || (holder !== undefined && inspectProcess(holder) === undefined)) holder = undefined
    if (!isWanted) return true
    if (holder !== undefined) return false
    holder = pid
    return true
  }
}
