import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resident bytes of a process and of those that it started. */
export function residentBytes(pid: number): number {
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  return childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), own)
}

/** Those that its first thread started; what a program of Node starts comes from there. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** By how many bytes a process grows, at most, during the work. */
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
    // Else the failure of the work would hide behind that of reading a process that has ended.
    isOver = true
    await watching
  }
  return peak - before
}
