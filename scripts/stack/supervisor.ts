import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from './part.ts'
import { inspectProcess, killGroup, type Stoppable, stopProcesses } from './processes.ts'
import type { Reaper } from './reaper.ts'

/** Keeps parts running and stops them in order. */
export interface Supervisor {
  /** Starts the part and keeps it running. */
  start(part: Part): Promise<void>
  /** The pid of the part's current process. */
  pid(name: string): number
  /** Rejects if a part has exited three times before `steady` was called: it cannot start here. */
  readonly broken: Promise<never>
  /** Ends the start phase: from now on a part that exits is restarted with exponential backoff. */
  steady(): void
  /** Stops all parts, highest stage first. */
  stop(): Promise<void>
}

const START_ATTEMPTS = 3
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000
// A part that has run this long is healthy: its next crash counts as the first.
const HEALTHY_MS = 60_000

export function createSupervisor(options: {
  reaper: Reaper
  /** Each part writes to `<name>.log` in this folder. */
  logFolder: string
  /** Reports progress to the user. */
  say: (text: string) => void
}): Supervisor {
  const { reaper, logFolder, say } = options
  const running = new Map<string, Stoppable>()
  const rounds: Promise<void>[] = []
  const stopping = new AbortController()
  const breakdown = Promise.withResolvers<never>()
  breakdown.promise.catch(() => {})
  let steady = false

  async function launch(part: Part, logFlags: 'w' | 'a'): Promise<ChildProcess> {
    await part.prepare?.()
    stopping.signal.throwIfAborted()
    const child = spawnPart(part, openSync(logPath(part), logFlags))
    // In the same tick: a process that is not yet in the reaper's list would outlive a killed supervisor.
    if (child.pid !== undefined) register(part, child.pid)
    await once(child, 'spawn')
    return child
  }

  function register({ name, signal, graceSeconds, stage }: Part, pid: number): void {
    const startedAt = inspectProcess(pid)?.startedAt ?? ''
    const entry = { name, pid, startedAt, signal, graceSeconds, stage }
    running.set(name, entry)
    reaper.add(entry)
  }

  async function keepRunning(part: Part, first: ChildProcess): Promise<void> {
    let crashes = 0
    for (let child: ChildProcess | undefined = first; ; child = await launch(part, 'a').catch(() => undefined)) {
      const launchedAt = Date.now()
      const ending = child === undefined ? 'failed to start' : await untilEnd(part, child)
      if (stopping.signal.aborted) return
      crashes = Date.now() - launchedAt > HEALTHY_MS ? 1 : crashes + 1
      if (!steady && crashes === START_ATTEMPTS) {
        return breakdown.reject(new Error(`${part.name} ${ending}\n${await logTail(logPath(part))}`))
      }
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (crashes - 1), MAX_PAUSE_MS)
      say(`${part.name} ${ending}; restarting in ${pause / 1000} s (see ${logPath(part)})`)
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function untilEnd(part: Part, child: ChildProcess): Promise<string> {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    const entry = running.get(part.name)
    if (entry !== undefined) {
      killGroup(entry.pid)
      reaper.drop(entry.pid)
      running.delete(part.name)
    }
    return child.signalCode === null ? `exited with code ${child.exitCode}` : `was terminated by ${child.signalCode}`
  }

  function logPath({ name }: Part): string {
    return join(logFolder, `${name}.log`)
  }

  return {
    start: async (part) => {
      rounds.push(keepRunning(part, await launch(part, 'w')))
    },
    pid: (name) => running.get(name)?.pid ?? 0,
    broken: breakdown.promise,
    steady: () => {
      steady = true
    },
    stop: async () => {
      stopping.abort()
      await stopProcesses([...running.values()])
      await Promise.all(rounds)
    },
  }
}

function spawnPart(part: Part, log: number): ChildProcess {
  const { command, args, cwd, env, uid, gid } = part
  // A separate process group: the supervisor decides the shutdown order, not Ctrl-C in the terminal.
  const child = spawn(command, args, { cwd, env, uid, gid, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  return child
}

async function logTail(path: string): Promise<string> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.slice(-15).join('\n')
}
