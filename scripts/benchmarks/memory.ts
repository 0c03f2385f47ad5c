import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resident bytes of a process and of its children. */
export function residentBytes(pid: number): number {
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  return childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), own)
}

/** Children of the process's first thread; Node starts child processes there. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Max growth of a process in bytes during the work. */
export async function measureGrowth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = residentBytes(pid)
  let peak = before
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, residentBytes(pid))
      await sleep(5)
    }
  })()
  try {
    await work()
  } finally {
    // Otherwise an error of reading an exited process would hide the error of the work.
    isOver = true
    await watching
  }
  return peak - before
}
