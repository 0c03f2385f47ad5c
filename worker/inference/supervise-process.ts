import type { ChildProcess } from 'node:child_process'
import type { Log } from '../../api/shared/telemetry/log.ts'
import { forkInference, type InferenceProcess, type InferenceProgram } from './fork.ts'
import type { FromProcess, ToProcess } from './protocol.ts'

export interface SupervisedProcess {
  send(message: ToProcess): void
  /** Kills the process with SIGKILL; another one is started after the backoff. */
  kill(): void
  isRunning(): boolean
  /** When the current process was started. */
  startedAt(): InferenceProcess['startedAt']
  /** The process has opened its models; if it survives `PROBATION_MS`, it may work again despite earlier failures. */
  noteReady(): void
  /** Resets the count of failures. */
  noteWorkDone(): void
  /** Whether the process has ended too often without finishing any work. */
  isFailing(): boolean
  stop(): Promise<void>
}

export interface SupervisedProcessOptions extends InferenceProgram {
  /** The first process, where it has been started already. */
  readonly first?: InferenceProcess
  /** A process that is not ready after this many seconds is killed. Time in which the process waits for files does not count. */
  readonly startSeconds: number
  readonly log: Log
  readonly onMessage: (message: FromProcess) => void
  /** Called before a process that exceeded `startSeconds` is killed. */
  readonly onStartTimeout: () => void
  /** Called when a process has ended, before another one is started. */
  readonly onExit: () => void
  readonly onRestart: () => void
}

/** A process that fails this many times in a row without finishing any work makes its worker unready. */
const FAILURES_TOLERATED = 3
const PROBATION_MS = 5000
const FIRST_BACKOFF_MS = 200
const LAST_BACKOFF_MS = 10_000
const STOP_GRACE_MS = 2000

/** Runs one inference process; when it ends, starts another one after an exponential backoff. */
export function superviseProcess(options: SupervisedProcessOptions): SupervisedProcess {
  const { first, startSeconds, log, onMessage, onStartTimeout, onExit, onRestart } = options
  let child: ChildProcess | null = null
  let startedAt: InferenceProcess['startedAt'] = { clock: 0, date: 0 }
  let failures = 0
  let stopped = false
  let restart: NodeJS.Timeout | undefined
  let probation: NodeJS.Timeout | undefined

  function start(next: InferenceProcess): void {
    const { child: started } = next
    startedAt = next.startedAt
    child = started
    started.on('message', onMessage)
    const onTimeout = () => {
      log.error({ startSeconds }, 'inference process did not become ready in time')
      onStartTimeout()
      started.kill('SIGKILL')
    }
    let limit = setTimeout(onTimeout, startSeconds * 1000)
    started.on('message', (message: FromProcess) => {
      clearTimeout(limit)
      const isOpening = message.type === 'waiting' && message.engines.length === 0
      // A message can arrive after the end of its process.
      if (isOpening && child === started) limit = setTimeout(onTimeout, startSeconds * 1000)
    })
    started.on('error', (error) => {
      log.error({ err: error }, 'inference process failed to start')
      if (started.pid === undefined) handleExit({ code: null, signal: null })
    })
    const { exitCode: code, signalCode: signal } = started
    if (code !== null || signal !== null) handleExit({ code, signal })
    else started.on('exit', (code, signal) => handleExit({ code, signal }))
    started.once('exit', () => clearTimeout(limit))
  }

  function handleExit(how: { code: number | null; signal: NodeJS.Signals | null }): void {
    child = null
    clearTimeout(probation)
    onExit()
    if (stopped) return
    failures++
    const pause = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1))
    log.error({ ...how, failures, pause }, 'inference process ended')
    onRestart()
    restart = setTimeout(() => start(forkInference(options)), pause)
  }

  start(first ?? forkInference(options))

  return {
    send: (message) => void child?.send(message),
    kill: () => void child?.kill('SIGKILL'),
    isRunning: () => child !== null,
    startedAt: () => startedAt,
    noteReady: () => {
      probation = setTimeout(() => {
        failures = Math.min(failures, FAILURES_TOLERATED - 1)
      }, PROBATION_MS)
    },
    noteWorkDone: () => {
      failures = 0
    },
    isFailing: () => failures >= FAILURES_TOLERATED,
    stop: async () => {
      stopped = true
      clearTimeout(restart)
      clearTimeout(probation)
      if (child !== null) await end(child)
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS)
  await exited
  clearTimeout(force)
}
