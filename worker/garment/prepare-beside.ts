import { Worker } from 'node:worker_threads'
import { DrapeError } from '../../api/shared/errors.ts'
import type { Bitmap } from '../raster/plane.ts'
import type { Category } from './garment.ts'
import type { GarmentAnswer, GarmentMessage } from './garment-thread.ts'
import type { PreparedGarment } from './prepare-garment.ts'

export interface GarmentThread {
  /**
   * `prepareGarment` beside the thread that calls, one garment after the other.
   * @throws DrapeError as that does, and a retryable GENERATION_FAILED when the thread ends in the middle.
   */
  prepare(picture: Bitmap, options: { category: Category | null; longest: number }): Promise<PreparedGarment>
  /** Ends the thread; what it is at fails. */
  stop(): Promise<void>
}

interface Job {
  readonly resolve: (garment: PreparedGarment) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly jobs: Map<number, Job>
}

/** A thread that is started for the first garment, again after a fault, and that keeps no process alive. */
export function createGarmentThread(): GarmentThread {
  let thread: Thread | null = null
  let nextId = 1

  function start(): Thread {
    const started: Thread = {
      // Its garbage is small: a heap like the main thread's would only hold memory.
      worker: new Worker(new URL('garment-thread.ts', import.meta.url), {
        // The thread reads callers' bytes; it needs no secret of the process.
        env: {},
        resourceLimits: { maxYoungGenerationSizeMb: 24 },
      }),
      jobs: new Map(),
    }
    started.worker.on('message', (answer: GarmentAnswer) => receive(started, answer))
    started.worker.on('error', (cause) => lose(started, cause))
    started.worker.on('exit', () => lose(started, new Error('the thread ended')))
    return started
  }

  function receive({ worker, jobs }: Thread, answer: GarmentAnswer): void {
    const job = jobs.get(answer.id)
    jobs.delete(answer.id)
    // A process that is done need not wait for a thread that does nothing.
    if (jobs.size === 0) worker.unref()
    if ('garment' in answer) job?.resolve(answer.garment)
    else job?.reject(new DrapeError(answer.refusal.code, answer.refusal.message, { details: answer.refusal.details }))
  }

  function lose(lost: Thread, cause: unknown): void {
    if (thread === lost) thread = null
    const error = new DrapeError('GENERATION_FAILED', 'The garment could not be prepared.', { retryable: true, cause })
    for (const { reject } of lost.jobs.values()) reject(error)
    lost.jobs.clear()
  }

  return {
    prepare: (picture, options) =>
      new Promise((resolve, reject) => {
        thread ??= start()
        const id = nextId++
        thread.jobs.set(id, { resolve, reject })
        thread.worker.ref()
        // A copy, because the caller still needs its own.
        const data = new Uint8Array(picture.data)
        const message: GarmentMessage = { id, picture: { ...picture, data }, ...options }
        thread.worker.postMessage(message, [data.buffer])
      }),
    stop: async () => {
      await thread?.worker.terminate()
    },
  }
}
