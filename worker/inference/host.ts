import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { EngineManifest } from '../engines/engine.ts'
import type { DownloadProgress } from '../engines/files/open-complete.ts'
import { DeviceFault } from './device-fault.ts'
import type { ReportedFault } from './device-health.ts'
import { createDownloadWait } from './download-wait.ts'
import type { Failure, FromProcess, Work, WorkName } from './protocol.ts'
import { type SupervisedProcess, type SupervisedProcessOptions, superviseProcess } from './supervise-process.ts'
import { createWorkSlot } from './work-slot.ts'

export interface InferenceHost {
  /**
   * Runs one piece of work in the inference process; one at a time. Throws the error of the work, the signal's reason when the
   * process has stopped the work after an abort, a retryable `GENERATION_FAILED` when the process ends or hangs, and `DeviceFault` when the device is at fault.
   * `subject` names the job.
   */
  run<N extends WorkName>(work: N, request: Work[N]['request'], options: RunOptions): Promise<Work[N]['result']>
  isReady(): boolean
  isBusy(): boolean
  /** Evicts the cached garments of product photos with these SHA-256 hashes from the process. */
  evict(garmentHashes: readonly string[]): void
  /** Why the process could not become ready at its last start; null when it could. */
  problem(): string | null
  /** The downloads that the process waits for, or has waited for. */
  downloads(): DownloadProgress
  stop(): Promise<void>
}

export interface RunOptions {
  readonly signal: AbortSignal
  readonly onProgress: (share: number) => void
  readonly subject?: string
  /** Results of the work, each of which may take `workSeconds`. Default 1. */
  readonly count?: number
}

export interface InferenceHostOptions
  extends Pick<SupervisedProcessOptions, 'program' | 'env' | 'start' | 'first' | 'log' | 'onRestart'> {
  /** Work that takes longer counts as hung, and its process is killed. */
  readonly workSeconds: number
  /** A process that has not opened its models after this many seconds counts as hung. Default 180. */
  readonly startSeconds?: number
  /** Whether models run on an accelerator, which is at fault when a process hangs. */
  readonly hasDevice?: boolean
  readonly onReady: (start: { seconds: number; startedAt: number }, manifests: readonly EngineManifest[]) => void
  /** Called before the work is rejected and its process is replaced. */
  readonly onDeviceFault?: (fault: ReportedFault) => void
}

/**
 * Runs work in an inference process, which is replaced when it ends. ONNX Runtime blocks the thread it runs on, so it is kept
 * apart from the process that holds locks, probes and metrics.
 */
export function createInferenceHost(options: InferenceHostOptions): InferenceHost {
  const { workSeconds, startSeconds = 180, hasDevice = false, log, onReady, onDeviceFault = () => {} } = options
  let ready = false
  let problem: string | null = null
  const downloads = createDownloadWait(log)
  const slot = createWorkSlot()
  const inference: SupervisedProcess = superviseProcess({
    ...options,
    startSeconds,
    onMessage: receive,
    onStartTimeout,
    onExit,
  })

  function receive(message: FromProcess): void {
    if (message.type === 'unready') {
      problem = message.problem
      log.error({ problem }, 'inference process failed its start-up checks')
      if (message.deviceFault !== null) reportFault(message.deviceFault, problem)
    } else if (message.type === 'ready') {
      ready = true
      problem = null
      log.info({ engines: message.engines }, 'inference process ready')
      inference.noteReady()
      const { clock, date } = inference.startedAt()
      const seconds = (performance.now() - clock - downloads.waitedMs()) / 1000
      onReady({ seconds, startedAt: date }, message.manifests)
      // An accelerator costs more than the first jobs could gain.
      if (!hasDevice) inference.send({ type: 'warm' })
    } else if (message.type === 'waiting') downloads.note(message)
    else if (message.id === slot.current()?.id) answer(message)
  }

  function answer(message: Extract<FromProcess, { readonly id: number }>): void {
    if (message.type === 'progress') slot.current()?.onProgress(message.share)
    else if (message.type === 'failed' && message.error.deviceFault !== null) {
      failOnDevice(message.error.deviceFault, message.error.message)
    } else {
      const work = slot.take()
      inference.noteWorkDone()
      if (message.type === 'done') work?.resolve(message.result)
      else work?.reject(errorOf(message.error))
    }
  }

  function reportFault(reason: DeviceFault['reason'], problem: string): void {
    const subject = slot.current()?.subject ?? null
    log.error({ reason, problem, subject }, 'the device failed')
    onDeviceFault({ reason, message: problem, subject, startedAt: inference.startedAt().date })
  }

  /** A CUDA context that has failed once never recovers: only another process can get a new one. */
  function failOnDevice(reason: DeviceFault['reason'], message: string): void {
    ready = false
    problem = `The device failed: ${message}`
    reportFault(reason, message)
    slot.take()?.reject(new DeviceFault(reason, message))
    inference.kill()
  }

  function onStartTimeout(): void {
    problem = `The inference process was not ready after ${startSeconds} s.`
    if (hasDevice) reportFault('Hang', problem)
  }

  function onExit(): void {
    ready = false
    downloads.end()
    slot.take()?.reject(new DrapeError('GENERATION_FAILED', 'The inference process ended.', { retryable: true }))
  }

  function onWorkTimeout(work: WorkName, seconds: number): void {
    log.error({ work, workSeconds: seconds }, 'inference timed out')
    if (hasDevice) failOnDevice('Hang', `The ${work} did not end within ${seconds} s.`)
    else inference.kill()
  }

  async function run(work: WorkName, request: unknown, options: RunOptions): Promise<never> {
    options.signal.throwIfAborted()
    if (!inference.isRunning() || !ready) throw notReady()
    const seconds = workSeconds * (options.count ?? 1)
    return slot.run({
      ...options,
      workSeconds: seconds,
      start: (id) => inference.send({ type: 'run', id, work, request }),
      abort: (id) => inference.send({ type: 'abort', id }),
      onTimeout: () => onWorkTimeout(work, seconds),
    })
  }

  return {
    run,
    isReady: () => ready && !inference.isFailing(),
    isBusy: () => slot.current() !== null,
    evict: (garmentHashes) => inference.send({ type: 'evict', garmentHashes }),
    problem: () => problem,
    downloads: downloads.progress,
    stop: () => inference.stop(),
  }
}

function notReady(): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'The inference process is not ready.', { retryable: true })
}

function errorOf({ code, message, details, image, check, retryable, stack }: Failure): Error {
  if (code) return new DrapeError(code, message, { details, image, check, retryable })
  const error = new Error(message)
  error.stack = stack
  return error
}
