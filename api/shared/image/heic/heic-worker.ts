import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { DrapeError } from '../../contract/errors.ts'
import type { DecodedHeic } from './heic-bitmap.ts'
import type { HeicAnswer, HeicRequest } from './heic-thread.ts'

/** A file to decode, and the promise that its caller waits for. */
export interface HeicJob {
  readonly file: Uint8Array
  readonly pixels: number
  readonly resolve: (decoded: DecodedHeic) => void
  readonly reject: (error: Error) => void
}

export interface HeicLimits {
  /** Maximum processor time of one decoding, plus an allowance for each MiB of the file. Exceeding it ends the thread. */
  readonly workMs: number
  readonly workMsPerMegabyte: number
  /** Maximum wall time of one decoding, and of the start of a thread. */
  readonly limitMs: number
  /** A thread without work for this long ends and frees its memory. */
  readonly idleMs: number
  /** Maximum memory for one file, in bytes: library and bitmap. */
  readonly memoryBytes: number
  /** A thread whose library holds more bytes than this after a file ends, because the library never frees memory. */
  readonly heldBytes: number
}

/** One thread that decodes one file at a time. */
export interface HeicThread {
  isIdle(): boolean
  begin(job: HeicJob): void
  /** Ends the thread and refuses its file. */
  stop(): Promise<unknown>
}

const MEGABYTE = 2 ** 20
const MEASURE_MS = 100
const REFUSALS = {
  damaged: 'The image is damaged, incomplete or has an unknown encoding.',
  'too large': 'The image takes too much memory to decode; send a smaller one.',
} as const

/** Starts a thread. `onIdle` is called after each file, `onEnd` once, when the thread takes no more files. */
export function startHeicThread(
  limits: HeicLimits,
  { onIdle, onEnd }: { onIdle: () => void; onEnd: () => void },
): HeicThread {
  const worker = new Worker(new URL('heic-thread.ts', import.meta.url), {
    // The thread reads bytes of callers; it needs no secret of the process.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  })
  let ready = false
  let ended = false
  let job: HeicJob | null = null
  let timer: NodeJS.Timeout | undefined
  /** Processor time of the thread, in ms, when it began its job; null when unknown. */
  let startedAt: number | null = null
  worker.on('message', receive)
  worker.on('error', end)
  worker.on('exit', () => end(new Error('the thread ended')))

  function begin(next: HeicJob): void {
    job = next
    worker.ref()
    // A copy: transferring a view would transfer its whole buffer.
    const bytes = new Uint8Array(next.file)
    const request: HeicRequest = { file: bytes, pixels: next.pixels, memoryBytes: limits.memoryBytes }
    worker.postMessage(request, [bytes.buffer])
    restartTimeout()
    endAfterProcessorTime(next)
  }

  function restartTimeout(): void {
    startedAt = null
    clearTimeout(timer)
    timer = setTimeout(() => end(new Error('the time limit is exceeded')), limits.limitMs)
  }

  async function endAfterProcessorTime(current: HeicJob): Promise<void> {
    const maxMs = limits.workMs + (limits.workMsPerMegabyte * current.file.byteLength) / MEGABYTE
    while (job === current) {
      await sleep(MEASURE_MS, undefined, { ref: false })
      const used = ready ? await worker.cpuUsage().catch(() => null) : null
      if (used === null || job !== current) continue
      const total = (used.user + used.system) / 1000
      startedAt ??= total
      if (total - startedAt > maxMs) await end(new Error('the processor time limit is exceeded'))
    }
  }

  function receive(answer: HeicAnswer): void {
    if (answer === 'ready') {
      ready = true
      restartTimeout()
      return
    }
    const done = job
    job = null
    if (answer.heldBytes > limits.heldBytes) end(new Error('the thread holds too much memory'))
    else rest()
    if ('bitmap' in answer) done?.resolve(answer.bitmap)
    else done?.reject(new DrapeError('INVALID_IMAGE', REFUSALS[answer.refusal], { cause: new Error(answer.message) }))
    onIdle()
  }

  function rest(): void {
    clearTimeout(timer)
    // An idle thread must not keep its process alive.
    worker.unref()
    timer = setTimeout(() => end(new Error('idle')), limits.idleMs)
    timer.unref()
  }

  function end(cause: unknown): Promise<unknown> {
    if (ended) return Promise.resolve()
    ended = true
    clearTimeout(timer)
    job?.reject(
      ready
        ? new DrapeError('INVALID_IMAGE', 'The image cannot be decoded.', { cause })
        : heicUnavailable('HEIC images cannot be decoded right now. Send the request again.', cause),
    )
    job = null
    onEnd()
    return worker.terminate()
  }

  return { isIdle: () => job === null, begin, stop: () => end(new Error('stopped')) }
}

export function heicUnavailable(message: string, cause?: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', message, { retryable: true, cause })
}
