import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Part } from './part.ts'
import { inspectProcess, killGroup, type Stoppable, stopProcesses } from './processes.ts'
import type { Reaper } from './reaper.ts'

/** Keeps parts running and ends them in order. */
export interface Supervisor {
  /** Starts the part and keeps it running from then on. */
  start(part: Part): Promise<void>
  /** The pid of the part's latest process. */
  pid(name: string): number
  /** Rejects when a part has ended three times before `steady` was called: it cannot start here. */
  readonly broken: Promise<never>
  /** The start is over: from now on a part that ends is started again, after longer and longer pauses. */
  steady(): void
  /** Ends all parts, those of the highest stage first. */
  stop(): Promise<void>
}

const START_ATTEMPTS = 3
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 30_000
// A part that ran this long is healthy: its next crash counts as the first.
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
    // In one breath: a process that is not yet in the reaper's list would outlive a killed supervisor.
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
      const ending = child === undefined ? 'could not be started' : await untilEnd(part, child)
      if (stopping.signal.aborted) return
      crashes = Date.now() - launchedAt > HEALTHY_MS ? 1 : crashes + 1
      if (!steady && crashes === START_ATTEMPTS) {
        return breakdown.reject(new Error(`${part.name} ${ending}\n${await logTail(logPath(part))}`))
      }
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (crashes - 1), MAX_PAUSE_MS)
      say(`${part.name} ${ending}; starting it again in ${pause / 1000} s (see ${logPath(part)})`)
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
    return child.signalCode === null ? `ended with code ${child.exitCode}` : `was ended by ${child.signalCode}`
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
  // A process group of its own: the order of ending is decided here, not by Ctrl-C in the terminal.
  const child = spawn(command, args, { cwd, env, uid, gid, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  return child
}

async function logTail(path: string): Promise<string> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.slice(-15).join('\n')
}
