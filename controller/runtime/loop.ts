import { KubernetesError } from './kubernetes-error.ts'
import { createWorkQueue, type Done, type WorkQueue } from './work-queue.ts'

export interface Loop extends Pick<WorkQueue, 'add' | 'depth' | 'close'> {
  /** Only a leader processes keys; other processes queue them. */
  setLeading(leading: boolean): void
}

export interface LoopOptions {
  /**
   * Reconciles one object from its current to its desired state. `failures` is the number of preceding consecutive failures.
   * Returns when to reconcile again.
   */
  readonly reconcile: (key: string, failures: number) => Promise<Done | undefined>
  readonly concurrency: number
  /** All existing keys, which are enqueued when this process becomes the leader. */
  readonly keys: () => readonly string[]
  /** Called on an unexpected error. */
  readonly onFailure: (key: string, error: unknown, failures: number) => void
  readonly onDone?: (key: string, seconds: number, outcome: 'done' | 'again' | 'failed') => void
}

/** Reconciles objects one key at a time. A conflict is not a failure but causes a retry. */
export function createLoop({ reconcile, concurrency, keys, onFailure, onDone = () => {} }: LoopOptions): Loop {
  const queue: WorkQueue = createWorkQueue({
    concurrency,
    work: async (key, failures) => {
      const startedAt = performance.now()
      const seconds = () => (performance.now() - startedAt) / 1000
      try {
        const done = await reconcile(key, failures)
        onDone(key, seconds(), 'done')
        return done
      } catch (error) {
        onDone(key, seconds(), isExpected(error) ? 'again' : 'failed')
        throw error
      }
    },
    onFailure: (key, error, failures) => {
      if (!isExpected(error)) onFailure(key, error, failures)
      return error instanceof KubernetesError && error.retryAfterSeconds !== null
        ? error.retryAfterSeconds * 1000
        : null
    },
  })
  return {
    add: queue.add,
    depth: queue.depth,
    setLeading: (leading) => {
      if (leading) for (const key of keys()) queue.add(key)
      queue.setTaking(leading)
    },
    close: queue.close,
  }
}

/** Another writer was faster or deleted the object, the server is busy, or this process has just lost the leadership. */
function isExpected(error: unknown): boolean {
  return error instanceof KubernetesError && ([404, 409, 429].includes(error.status) || error.reason === 'NotLeader')
}
