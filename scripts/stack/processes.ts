import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process, distinguishable from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  /** Opaque; differs between two processes with the same pid. */
  readonly startedAt: string
}

/** The leader of a process group, and how to stop it. */
export interface Stoppable extends ProcessIdentity {
  readonly name: string
  readonly signal: NodeJS.Signals
  /** Time between the signal and SIGKILL. */
  readonly graceSeconds: number
  /** Processes of a higher stage exit before those of a lower stage get their signal. */
  readonly stage: number
}

interface Inspection {
  readonly startedAt: string
  readonly command: string
}

/**
 * Start time and command line of a process; undefined if it does not exist or is a zombie. Synchronous, so that a process
 * can be registered in the same tick in which it was started.
 */
export function inspectProcess(pid: number): Inspection | undefined {
  try {
    return process.platform === 'linux' ? readProc(pid) : askPs(pid)
  } catch {
    return undefined
  }
}

function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return inspectProcess(pid)?.startedAt === startedAt
}

/** Stops the processes stage by stage, each with its process group. Resolves when all have exited. */
export async function stopProcesses(processes: readonly Stoppable[]): Promise<void> {
  const stages = [...new Set(processes.map(({ stage }) => stage))].sort((a, b) => b - a)
  for (const stage of stages) await Promise.all(processes.filter((each) => each.stage === stage).map(stopProcess))
}

async function stopProcess(target: Stoppable): Promise<void> {
  // The pid may belong to another process now.
  if (!isRunning(target)) return
  signal(target.pid, target.signal)
  const deadline = Date.now() + target.graceSeconds * 1000
  while (Date.now() < deadline && isRunning(target)) await sleep(50)
  killGroup(target.pid)
  while (isRunning(target)) await sleep(50)
}

/** Kills the remaining processes of the group. */
export function killGroup(pid: number): void {
  signal(-pid, 'SIGKILL')
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The group has exited.
  }
}

// proc_pid_stat(5): after the command in parentheses come the state (field 3) and the start time in ticks since boot (22).
function readProc(pid: number): Inspection | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  return { startedAt: fields[19], command }
}

function askPs(pid: number): Inspection | undefined {
  const arguments_ = ['-o', 'stat=,lstart=,command=', '-p', String(pid)]
  const line = execFileSync('ps', arguments_, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } })
  const [, state, startedAt, command] = /^\s*(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/m.exec(line) ?? []
  return state === undefined || state.startsWith('Z') ? undefined : { startedAt, command }
}
