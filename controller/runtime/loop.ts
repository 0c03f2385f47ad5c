import { KubernetesError } from './kubernetes-error.ts'
import { createWorkQueue, type Done, type WorkQueue } from './work-queue.ts'

export interface Loop extends Pick<WorkQueue, 'add' | 'depth' | 'close'> {
  /** Only a leader works; the others keep what they would work on. */
  setLeading(leading: boolean): void
}

export interface LoopOptions {
  /**
   * Brings one object from what it is to what it should be, from whatever there is. `failures` counts those in a row before.
   * Returns when to look again.
   */
  readonly reconcile: (key: string, failures: number) => Promise<Done | undefined>
  readonly concurrency: number
  /** All keys there are, to start with when this process begins to lead. */
  readonly keys: () => readonly string[]
  /** Is called with unexpected errors. */
  readonly onFailure: (key: string, error: unknown, failures: number) => void
  readonly onDone?: (key: string, seconds: number, outcome: 'done' | 'again' | 'failed') => void
}

/** Reconciles objects one key at a time. A conflict is no failure but a reason to look again. */
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

/** Another writer was faster or deleted the object, the server is busy, or this process has just lost the lead. */
function isExpected(error: unknown): boolean {
  return error instanceof KubernetesError && ([404, 409, 429].includes(error.status) || error.reason === 'NotLeader')
}
