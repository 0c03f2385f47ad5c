import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { HEIC_LIBRARY_BYTES } from './decoding-memory.ts'
import { DrapeError } from './errors.ts'
import type { DecodedHeic } from './heic-picture.ts'
import type { HeicAnswer, HeicRequest } from './heic-thread.ts'

export interface HeicThreads {
  /**
   * The file's primary picture, upright, in sRGB, 8 bits. A large one is reduced by a whole number to at least `pixels` pixels.
   * @throws DrapeError INVALID_IMAGE when the file is damaged, incomplete, coded in another way than HEVC, or takes too much
   * time or memory; a retryable SERVICE_UNAVAILABLE when too many files are waiting.
   */
  decode(file: Uint8Array, options: { readonly pixels: number }): Promise<DecodedHeic>
  /** Ends all threads; what they are at is refused. */
  stop(): Promise<void>
}

export interface HeicSettings {
  /** Started when they are needed. */
  readonly threads: number
  /** Files that may wait for a thread. */
  readonly waiting: number
  /** Processor time of one decoding, and more for each MiB of the file; a file that takes more ends its thread. */
  readonly workMs: number
  readonly workMsPerMegabyte: number
  /** Time of one decoding, and of the start of a thread, however busy the machine is. */
  readonly limitMs: number
  /** A thread without work for this long ends and gives its memory back. */
  readonly idleMs: number
  /** Of one file, for the library and the picture. */
  readonly memoryBytes: number
  /** A thread whose library holds more than this after a file ends, because it never gives memory back. */
  readonly heldBytes: number
}

interface Job {
  readonly file: Uint8Array
  readonly pixels: number
  readonly resolve: (picture: DecodedHeic) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  ready: boolean
  job: Job | null
  timer: NodeJS.Timeout | undefined
  /** Processor time of the thread, in ms, when it began its job; null when unknown. */
  startedAt: number | null
}

const MEGABYTE = 2 ** 20
const MEASURE_MS = 100
const REFUSALS = {
  damaged: 'The image is damaged, incomplete or of an unknown coding.',
  'too large': 'The image takes too much memory to decode; send a smaller one.',
} as const

/**
 * Threads that decode HEIC files apart from the thread that calls: libheif blocks the thread it runs on, and a hostile file may
 * hang or crash it. Only that file is refused then, and another thread takes the next one.
 */
export function createHeicThreads(settings: HeicSettings): HeicThreads {
  const threads = new Set<Thread>()
  const waiting: Job[] = []

  function assign(): void {
    while (waiting.length > 0) {
      const idle = [...threads].find(({ job }) => job === null)
      if (!idle && threads.size >= settings.threads) return
      const job = waiting.shift()
      if (job) begin(idle ?? start(), job)
    }
  }

  function start(): Thread {
    const worker = new Worker(new URL('heic-thread.ts', import.meta.url), {
      // The thread reads bytes of callers; it needs no secret of the process.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
    })
    const thread: Thread = { worker, ready: false, job: null, timer: undefined, startedAt: null }
    threads.add(thread)
    worker.on('message', (answer: HeicAnswer) => receive(thread, answer))
    worker.on('error', (cause) => lose(thread, cause))
    worker.on('exit', () => lose(thread, new Error('the thread ended')))
    return thread
  }

  function begin(thread: Thread, job: Job): void {
    thread.job = job
    thread.worker.ref()
    // A copy, because a view would take all the memory along that it is a part of.
    const bytes = new Uint8Array(job.file)
    const { memoryBytes } = settings
    const request: HeicRequest = { file: bytes, pixels: job.pixels, memoryBytes }
    thread.worker.postMessage(request, [bytes.buffer])
    thread.startedAt = null
    limit(thread)
    measure(thread, job)
  }

  /** Ends the thread when its job has used up its processor time. */
  async function measure(thread: Thread, job: Job): Promise<void> {
    const { workMs, workMsPerMegabyte } = settings
    const maxMs = workMs + (workMsPerMegabyte * job.file.byteLength) / MEGABYTE
    while (thread.job === job) {
      await sleep(MEASURE_MS, undefined, { ref: false })
      const used = thread.ready ? await thread.worker.cpuUsage().catch(() => null) : null
      if (used === null || thread.job !== job) continue
      const total = (used.user + used.system) / 1000
      thread.startedAt ??= total
      if (total - thread.startedAt > maxMs) await lose(thread, new Error('the processor time is over'))
    }
  }

  function limit(thread: Thread): void {
    clearTimeout(thread.timer)
    thread.timer = setTimeout(() => lose(thread, new Error('the time is over')), settings.limitMs)
  }

  function receive(thread: Thread, answer: HeicAnswer): void {
    if (answer === 'ready') {
      thread.ready = true
      thread.startedAt = null
      limit(thread)
      return
    }
    const { job } = thread
    if (answer.heldBytes > settings.heldBytes) retire(thread)
    else rest(thread)
    if ('picture' in answer) job?.resolve(answer.picture)
    else job?.reject(new DrapeError('INVALID_IMAGE', REFUSALS[answer.refusal], { cause: new Error(answer.message) }))
    assign()
  }

  function rest(thread: Thread): void {
    clearTimeout(thread.timer)
    thread.job = null
    // A process that is done need not wait for threads that do nothing.
    thread.worker.unref()
    thread.timer = setTimeout(() => lose(thread, new Error('nothing to do')), settings.idleMs)
    thread.timer.unref()
  }

  function retire(thread: Thread): void {
    thread.job = null
    lose(thread, new Error('the thread holds too much memory'))
  }

  function lose(thread: Thread, cause: unknown): Promise<unknown> {
    if (!threads.delete(thread)) return Promise.resolve()
    clearTimeout(thread.timer)
    thread.job?.reject(
      thread.ready
        ? new DrapeError('INVALID_IMAGE', 'The image cannot be decoded.', { cause })
        : unavailable('HEIC images cannot be decoded at the moment.', cause),
    )
    assign()
    return thread.worker.terminate()
  }

  return {
    decode: (file, { pixels }) => {
      if (waiting.length >= settings.waiting) {
        return Promise.reject(unavailable('Too many HEIC images at once.'))
      }
      return new Promise((resolve, reject) => {
        waiting.push({ file, pixels, resolve, reject })
        assign()
      })
    },
    stop: async () => {
      for (const { reject } of waiting.splice(0)) reject(unavailable('HEIC images are not decoded any more.'))
      await Promise.all([...threads].map((thread) => lose(thread, new Error('stopped'))))
    },
  }
}

function unavailable(message: string, cause?: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', message, { retryable: true, cause })
}

const decoders = createHeicThreads({
  threads: 1,
  waiting: 100,
  workMs: 2_000,
  // A photo of a phone takes 1.3 s for each MiB on a slow processor.
  workMsPerMegabyte: 2_000,
  limitMs: 30_000,
  idleMs: 5_000,
  memoryBytes: HEIC_LIBRARY_BYTES,
  heldBytes: 24 * MEGABYTE,
})

/** As `HeicThreads.decode`, on threads that this process keeps for it. */
export const decodeHeic = decoders.decode
