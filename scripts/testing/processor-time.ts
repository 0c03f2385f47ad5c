import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Control groups (v1) of test runs: they also count processes that outlive their parent or are killed without a wait. */
const GROUPS = '/sys/fs/cgroup/cpuacct/drape-tests'

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

/** Moves this process into a control group of its name. Without root or the controller, does nothing. */
export function joinProcessorGroup(name: string): void {
  try {
    mkdirSync(join(GROUPS, name), { recursive: true })
    writeFileSync(join(GROUPS, name, 'cgroup.procs'), String(process.pid))
  } catch {
    // The profile then counts only the programs that a test waited for.
  }
}

/** CPU seconds of all processes that were started in the group or in groups below it; null without such a group. */
export function readGroupTime(name: string): number | null {
  try {
    return Number(readFileSync(join(GROUPS, name, 'cpuacct.usage'), 'utf8')) / 1e9
  } catch {
    return null
  }
}
