import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { TestProgram } from '../../support/process.ts'

/** The current inference processes of a worker. */
export function inferenceOf(worker: TestProgram): number[] {
  const all = process.platform === 'linux' ? readProc() : askPs()
  return all
    .filter(({ parent, command }) => parent === worker.pid && command.includes('inference/process'))
    .map(({ pid }) => pid)
}

interface Running {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

// proc_pid_stat(5): after the command in parentheses come the state and the parent.
function readProc(): Running[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return [{ pid: Number(name), parent: Number(parent), command }]
    } catch {
      return []
    }
  })
}

function askPs(): Running[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return { pid: Number(pid), parent: Number(parent), command: command ?? '' }
  })
}

/** Ends a process if it still runs. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself.
  }
}
