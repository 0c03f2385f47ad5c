import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** CPUs available to this process; empty if unknown. */
const processors = listProcessors()

/** Pins a command to a dedicated CPU, the same for both sides of a benchmark. Returns the command unchanged if that is not possible. */
export function pinned(command: string, args: readonly string[]): { command: string; args: readonly string[] } {
  if (processors.length < 2) return { command, args }
  return { command: 'taskset', args: ['-c', String(processors[0]), command, ...args] }
}

/** The command without pinning. */
export function asIs(command: string, args: readonly string[]): { command: string; args: readonly string[] } {
  return { command, args }
}

/** Moves this process, and its future children, off the CPU that `pinned` uses. */
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
