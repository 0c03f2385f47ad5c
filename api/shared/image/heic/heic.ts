import { HEIC_LIBRARY_BYTES } from '../decoding-memory.ts'
import type { DecodedHeic } from './heic-bitmap.ts'
import { type HeicJob, type HeicLimits, type HeicThread, heicUnavailable, startHeicThread } from './heic-worker.ts'

export interface HeicThreads {
  /**
   * Decodes the primary image of the file: upright, in sRGB, 8 bits. A large one is reduced by a whole number to at least
   * `pixels` pixels.
   * @throws DrapeError INVALID_IMAGE when the file is damaged, incomplete, not coded in HEVC, or takes too much time or memory;
   * a retryable SERVICE_UNAVAILABLE when too many files are waiting.
   */
  decode(file: Uint8Array, options: { readonly pixels: number }): Promise<DecodedHeic>
  /** Ends all threads and refuses their files. */
  stop(): Promise<void>
}

export interface HeicSettings extends HeicLimits {
  /** Maximum number of threads; a thread starts when a file needs it. */
  readonly threads: number
  /** Maximum number of files that wait for a thread. */
  readonly waiting: number
}

const MEGABYTE = 2 ** 20

/**
 * Threads that decode HEIC files apart from the thread that calls: libheif blocks its thread, and a hostile file may hang or
 * crash it. Only that file is refused, and another thread takes the next one.
 */
export function createHeicThreads(settings: HeicSettings): HeicThreads {
  const threads = new Set<HeicThread>()
  const waiting: HeicJob[] = []

  function assign(): void {
    while (waiting.length > 0) {
      const idle = [...threads].find((thread) => thread.isIdle())
      if (!idle && threads.size >= settings.threads) return
      const job = waiting.shift()
      if (job) (idle ?? start()).begin(job)
    }
  }

  function start(): HeicThread {
    const thread = startHeicThread(settings, {
      onIdle: assign,
      onEnd: () => {
        threads.delete(thread)
        assign()
      },
    })
    threads.add(thread)
    return thread
  }

  return {
    decode: (file, { pixels }) => {
      if (waiting.length >= settings.waiting) {
        return Promise.reject(heicUnavailable('Too many HEIC images are waiting. Send the request again.'))
      }
      return new Promise((resolve, reject) => {
        waiting.push({ file, pixels, resolve, reject })
        assign()
      })
    },
    stop: async () => {
      for (const { reject } of waiting.splice(0))
        reject(heicUnavailable('The process is shutting down and decodes no more HEIC images.'))
      await Promise.all([...threads].map((thread) => thread.stop()))
    },
  }
}

const decoders = createHeicThreads({
  threads: 1,
  waiting: 100,
  workMs: 2_000,
  // A phone photo takes 1.3 s per MiB on a slow processor.
  workMsPerMegabyte: 2_000,
  limitMs: 30_000,
  idleMs: 5_000,
  memoryBytes: HEIC_LIBRARY_BYTES,
  heldBytes: 24 * MEGABYTE,
})

/** As `HeicThreads.decode`, on the threads of this process. */
export const decodeHeic = decoders.decode
