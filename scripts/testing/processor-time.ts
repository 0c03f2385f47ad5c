import { readFileSync } from 'node:fs'

/** CPU seconds of this process, and of its exited children; 0 without /proc. */
export function readProcessorTime(): { own: number; children: number } {
  let stat: string
  try {
    stat = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return { own: 0, children: 0 }
  }
  // proc_pid_stat(5), fields 14 to 17, in ticks of 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map((ticks) => Number(ticks) / 100)
  return { own: user + system, children: childUser + childSystem }
}
