import { Worker } from 'node:worker_threads'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Bitmap } from '../raster/plane.ts'
import type { RunGarmentModel } from './garment-models.ts'
import type { GarmentAnswer, GarmentMessage, ModelRequest } from './garment-thread.ts'
import type { PreparedGarment } from './prepare-garment.ts'
import type { ProductOptions } from './prepare-product.ts'

export interface GarmentThread {
  /**
   * Runs `prepareProduct` on a background thread, and its models on this thread.
   * @throws DrapeError as `prepareProduct`, and a retryable GENERATION_FAILED if the thread ends early.
   */
  prepare(bitmap: Bitmap, options: ProductOptions): Promise<PreparedGarment>
  /** Stops the thread; a pending job fails. */
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

/** Creates a thread on the first garment, again after a crash. An idle thread does not keep the process alive. */
export function createGarmentThread(run: RunGarmentModel): GarmentThread {
  let thread: Thread | null = null
  let nextId = 1

  function start(): Thread {
    const started: Thread = {
      // The thread produces little garbage: a heap as large as the main thread's would only waste memory.
      worker: new Worker(new URL('garment-thread.ts', import.meta.url), {
        // The thread parses untrusted bytes and needs no secret of the process.
        env: {},
        resourceLimits: { maxYoungGenerationSizeMb: 24 },
      }),
      jobs: new Map(),
    }
    started.worker.on('message', (message: GarmentAnswer | ModelRequest) => {
      if ('model' in message) answer(started, message)
      else receive(started, message)
    })
    started.worker.on('error', (cause) => lose(started, cause))
    started.worker.on('exit', () => lose(started, new Error('the thread ended')))
    return started
  }

  async function answer(asking: Thread, { id, model, image }: ModelRequest): Promise<void> {
    try {
      asking.worker.postMessage({ id, output: await run(model, image) } satisfies GarmentMessage)
    } catch (cause) {
      // The thread would wait for the output forever.
      lose(asking, cause)
      await asking.worker.terminate()
    }
  }

  function receive({ worker, jobs }: Thread, answer: GarmentAnswer): void {
    const job = jobs.get(answer.id)
    jobs.delete(answer.id)
    // An idle thread must not keep a finished process alive.
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
    prepare: (bitmap, options) =>
      new Promise((resolve, reject) => {
        thread ??= start()
        const id = nextId++
        thread.jobs.set(id, { resolve, reject })
        thread.worker.ref()
        // A copy, because the transfer detaches the buffer and the caller still needs it.
        const data = new Uint8Array(bitmap.data)
        const message: GarmentMessage = { id, bitmap: { ...bitmap, data }, ...options }
        thread.worker.postMessage(message, [data.buffer])
      }),
    stop: async () => {
      await thread?.worker.terminate()
    },
  }
}
