import type { ChildProcess } from 'node:child_process'
import { DrapeError } from '../../api/shared/errors.ts'
import type { Log } from '../../api/shared/log.ts'
import type { ReportedFault } from '../device-health.ts'
import type { EngineManifest } from '../engines/engine.ts'
import { DeviceFault } from './device-fault.ts'
import { forkInference, type InferenceProcess } from './fork.ts'
import type { Failure, FromProcess, ToProcess, Work, WorkName } from './protocol.ts'

export interface InferenceHost {
  /**
   * Runs one piece of work in the inference process; one at a time. Throws what the work threw, the signal's reason when it
   * was aborted, and a retryable `GENERATION_FAILED` when the process ended or went silent in the middle; `DeviceFault` when the
   * device is at fault. `subject` names the job.
   */
  run<N extends WorkName>(
    work: N,
    request: Work[N]['request'],
    options: { signal: AbortSignal; onProgress: (share: number) => void; subject?: string },
  ): Promise<Work[N]['result']>
  isReady(): boolean
  isBusy(): boolean
  /** Has the process drop what was made of product photos with these SHA-256. */
  forget(garmentHashes: readonly string[]): void
  /** How many things the process keeps of products. */
  countKept(): number
  /** Why the process could not become ready the last time it tried; null when it could. */
  problem(): string | null
  stop(): Promise<void>
}

/** A process that fails this many times in a row without finishing any work makes its worker unready. */
const FAILURES_TOLERATED = 3
/** After that many failures a process that has lived for so long since is tried with work again. */
const PROBATION_MS = 5000
const FIRST_BACKOFF_MS = 200
const LAST_BACKOFF_MS = 10_000
/** How long aborted work may take to notice before the process is killed. */
const ABORT_GRACE_MS = 2000

interface Running {
  readonly id: number
  readonly subject: string | null
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onProgress: (share: number) => void
}

/**
 * Keeps one inference process alive. ONNX Runtime blocks the thread it runs on, so it lives apart from the process that holds
 * locks, probes and metrics. After a crash the process is started again, with a growing pause while it keeps failing.
 */
export function createInferenceHost({
  program,
  env,
  first,
  workSeconds,
  startSeconds = 180,
  hasDevice = false,
  log,
  onReady,
  onRestart,
  onDeviceFault = () => {},
}: {
  /** The module that the process runs. */
  program: URL
  env: Readonly<Record<string, string>>
  /** The first process, where it has been started already. */
  first?: InferenceProcess
  /** Work that takes longer is taken for hung and its process killed. */
  workSeconds: number
  /** A process that has not opened its models by then hangs. */
  startSeconds?: number
  /** Whether models run on an accelerator, which is then at fault when one hangs. */
  hasDevice?: boolean
  log: Log
  onReady: (start: { seconds: number; startedAt: number }, manifests: readonly EngineManifest[]) => void
  onRestart: () => void
  /** Called before the work is rejected and its process is started anew. */
  onDeviceFault?: (fault: ReportedFault) => void
}): InferenceHost {
  let child: ChildProcess | null = null
  let startedAt: InferenceProcess['startedAt'] = { clock: 0, date: 0 }
  let ready = false
  let problem: string | null = null
  let kept = 0
  let failures = 0
  let running: Running | null = null
  let nextId = 1
  let stopped = false
  let restart: NodeJS.Timeout | undefined
  let probation: NodeJS.Timeout | undefined

  function start(next = forkInference({ program, env })): void {
    const { child: started } = next
    startedAt = next.startedAt
    child = started
    started.on('message', (message: FromProcess) => receive(message))
    const limit = setTimeout(() => {
      log.error({ startSeconds }, 'inference process hangs at its start')
      problem = `The inference process was not ready after ${startSeconds} s.`
      if (hasDevice) reportFault('Hang', problem)
      started.kill('SIGKILL')
    }, startSeconds * 1000)
    started.once('message', () => clearTimeout(limit))
    started.on('error', (error) => {
      log.error({ err: error }, 'inference process could not be started')
      if (started.pid === undefined) lose({ code: null, signal: null })
    })
    const { exitCode: code, signalCode: signal } = started
    if (code !== null || signal !== null) lose({ code, signal })
    else started.on('exit', (code, signal) => lose({ code, signal }))
    started.once('exit', () => clearTimeout(limit))
  }

  function receive(message: FromProcess): void {
    if (message.type === 'unfit') {
      problem = message.problem
      log.error({ problem }, 'inference process cannot work')
      if (message.deviceFault !== null) reportFault(message.deviceFault, problem)
      return
    }
    if (message.type === 'ready') {
      ready = true
      problem = null
      log.info({ engines: message.engines }, 'inference process ready')
      probation = setTimeout(() => {
        failures = Math.min(failures, FAILURES_TOLERATED - 1)
      }, PROBATION_MS)
      const seconds = (performance.now() - startedAt.clock) / 1000
      onReady({ seconds, startedAt: startedAt.date }, message.manifests)
      return
    }
    if (message.type === 'kept') {
      kept = message.count
      return
    }
    if (!running || message.id !== running.id) return
    if (message.type === 'progress') {
      running.onProgress(message.share)
      return
    }
    const { resolve, reject } = running
    if (message.type === 'failed' && message.error.deviceFault !== null) {
      failOnDevice(message.error.deviceFault, message.error.message)
      return
    }
    running = null
    failures = 0
    if (message.type === 'done') resolve(message.result)
    else reject(errorOf(message.error))
  }

  function reportFault(reason: DeviceFault['reason'], problem: string): void {
    log.error({ reason, problem, subject: running?.subject }, 'the device failed')
    onDeviceFault({ reason, message: problem, subject: running?.subject ?? null, startedAt: startedAt.date })
  }

  /** A context of CUDA that has failed once fails for ever: only another process can get a new one. */
  function failOnDevice(reason: DeviceFault['reason'], message: string): void {
    ready = false
    problem = `The device failed: ${message}`
    reportFault(reason, message)
    running?.reject(new DeviceFault(reason, message))
    running = null
    child?.kill('SIGKILL')
  }

  function lose(how: { code: number | null; signal: NodeJS.Signals | null }): void {
    child = null
    ready = false
    kept = 0
    clearTimeout(probation)
    running?.reject(new DrapeError('GENERATION_FAILED', 'The inference process ended.', { retryable: true }))
    running = null
    if (stopped) return
    failures++
    const pause = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1))
    log.error({ ...how, failures, pause }, 'inference process ended')
    onRestart()
    restart = setTimeout(() => start(), pause)
  }

  function send(message: ToProcess): void {
    child?.send(message)
  }

  start(first)

  return {
    run: (work, request, { signal, onProgress, subject = null }) => {
      signal.throwIfAborted()
      if (!child || !ready) {
        return Promise.reject(
          new DrapeError('SERVICE_UNAVAILABLE', 'The inference process is not ready.', { retryable: true }),
        )
      }
      if (running) return Promise.reject(new Error('The inference process takes one piece of work at a time'))
      const id = nextId++
      const limit = setTimeout(() => {
        log.error({ work, workSeconds }, 'inference hangs')
        if (hasDevice) failOnDevice('Hang', `The ${work} did not end within ${workSeconds} s.`)
        else child?.kill('SIGKILL')
      }, workSeconds * 1000)
      let grace: NodeJS.Timeout | undefined
      const abort = () => {
        send({ type: 'abort', id })
        grace = setTimeout(() => child?.kill('SIGKILL'), ABORT_GRACE_MS)
      }
      signal.addEventListener('abort', abort, { once: true })
      // Settles when the process has answered or is gone, so that the next work finds it idle; after an abort always with its reason.
      return new Promise<never>((resolve, reject) => {
        running = { id, subject, resolve: resolve as (result: unknown) => void, reject, onProgress }
        send({ type: 'run', id, work, request })
      })
        .catch((error) => {
          throw signal.aborted ? signal.reason : error
        })
        .finally(() => {
          clearTimeout(limit)
          clearTimeout(grace)
          signal.removeEventListener('abort', abort)
        })
    },
    isReady: () => ready && failures < FAILURES_TOLERATED,
    isBusy: () => running !== null,
    forget: (garmentHashes) => send({ type: 'forget', garmentHashes }),
    countKept: () => kept,
    problem: () => problem,
    stop: async () => {
      stopped = true
      clearTimeout(restart)
      clearTimeout(probation)
      const last = child
      if (!last) return
      const gone = new Promise<void>((resolve) => last.once('exit', () => resolve()))
      last.kill('SIGTERM')
      const force = setTimeout(() => last.kill('SIGKILL'), 2000)
      await gone
      clearTimeout(force)
    },
  }
}

function errorOf({ code, message, details, image, retryable, stack }: Failure): Error {
  if (code) return new DrapeError(code, message, { details, image, retryable })
  const error = new Error(message)
  error.stack = stack
  return error
}
