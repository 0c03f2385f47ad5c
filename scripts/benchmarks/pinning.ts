import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The processors that this process may use; empty where the system does not say. */
const processors = listProcessors()

/** A command on a processor of its own, so that both sides of a benchmark have the same. As it is where that cannot be had. */
export function pinned(command: string, args: readonly string[]): { command: string; args: readonly string[] } {
  if (processors.length < 2) return { command, args }
  return { command: 'taskset', args: ['-c', String(processors[0]), command, ...args] }
}

/** The command wherever the system puts it. */
export function asIs(command: string, args: readonly string[]): { command: string; args: readonly string[] } {
  return { command, args }
}

/** Keeps this process, and what it starts from now on, off the processor that `pinned` gives away. */
export function leaveProcessor(): void {
  if (processors.length < 2) return
  execFileSync('taskset', ['-a', '-cp', processors.slice(1).join(','), String(process.pid)], { stdio: 'ignore' })
}

function listProcessors(): number[] {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return list.split(',').flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, i) => first + i)
    })
  } catch {
    return []
  }
}
