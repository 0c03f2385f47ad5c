import { KubernetesError } from './kubernetes-error.ts'

/** Result of processing a key. */
export interface Done {
  /** Processes the key again after `againMs`, unless it is added earlier. */
  readonly againMs?: number
}

export interface WorkQueue {
  /** Enqueues the key now or after `ms`. A key that is already queued only changes its time. */
  add(key: string, ms?: number): void
  /** Number of keys that are due. */
  depth(): number
  /**
   * Only a leader processes keys; running work continues. A queue starts without leadership. A new leader processes all existing
   * keys.
   */
  setLeading(leading: boolean): void
  /** Stops processing and resolves when running work is done. */
  close(): Promise<void>
}

/** `again`: another writer was faster or deleted the object, the server is busy, or this process has lost the leadership. */
export type Outcome = 'done' | 'again' | 'failed'

export interface WorkQueueOptions {
  /**
   * Reconciles one object from its current to its desired state. `failures` is the number of preceding consecutive failures.
   * Returns when to reconcile again. Never runs concurrently for the same key.
   */
  readonly reconcile: (key: string, failures: number) => Promise<Done | undefined>
  readonly concurrency: number
  /** All existing keys. */
  readonly keys?: () => readonly string[]
  /** Called on an unexpected error. */
  readonly onFailure?: (key: string, error: unknown, failures: number) => void
  readonly onDone?: (key: string, seconds: number, outcome: Outcome) => void
  readonly firstPauseMs?: number
}

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 300_000

/**
 * A queue of the keys of objects. A key that is added while it is processed is processed again afterwards. After an error the key is
 * retried with exponential backoff and jitter, not earlier than the API server asks.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { reconcile, concurrency, keys = () => [], onFailure = () => {}, onDone = () => {} } = options
  const waiting = new Set<string>()
  const later = new Map<string, { dueAt: number; timer: NodeJS.Timeout }>()
  const working = new Map<string, Promise<void>>()
  const failures = new Map<string, number>()
  let leading = false
  let closed = false

  function add(key: string, ms = 0): void {
    if (closed) return
    if (ms <= 0) {
      cancelLater(key)
      waiting.add(key)
      take()
      return
    }
    const dueAt = performance.now() + ms
    const planned = later.get(key)
    if (waiting.has(key) || (planned && planned.dueAt <= dueAt)) return
    cancelLater(key)
    later.set(key, { dueAt, timer: setTimeout(() => add(key), ms) })
  }

  function cancelLater(key: string): void {
    clearTimeout(later.get(key)?.timer)
    later.delete(key)
  }

  function take(): void {
    if (!leading) return
    for (const key of waiting) {
      if (working.size >= concurrency) return
      if (working.has(key)) continue
      waiting.delete(key)
      const running = workOn(key).finally(() => {
        working.delete(key)
        take()
      })
      working.set(key, running)
    }
  }

  async function workOn(key: string): Promise<void> {
    const before = failures.get(key) ?? 0
    const startedAt = performance.now()
    const seconds = () => (performance.now() - startedAt) / 1000
    try {
      const done = await reconcile(key, before)
      onDone(key, seconds(), 'done')
      failures.delete(key)
      if (done?.againMs !== undefined) add(key, Math.max(1, done.againMs))
    } catch (error) {
      failures.set(key, before + 1)
      onDone(key, seconds(), isExpected(error) ? 'again' : 'failed')
      if (!isExpected(error)) onFailure(key, error, before + 1)
      add(key, Math.max(askedPauseOf(error), pauseAfter(before, options)))
    }
  }

  return {
    add,
    depth: () => waiting.size,
    setLeading: (wanted) => {
      leading = wanted
      if (leading) for (const key of keys()) add(key)
      take()
    },
    close: async () => {
      leading = false
      closed = true
      for (const key of [...later.keys()]) cancelLater(key)
      waiting.clear()
      await Promise.all(working.values())
    },
  }
}

/** Whether the error is no failure, because a retry is all that it needs. */
function isExpected(error: unknown): boolean {
  return error instanceof KubernetesError && ([404, 409, 429].includes(error.status) || error.reason === 'NotLeader')
}

/** In ms; 0 if the API server asks for none. */
function askedPauseOf(error: unknown): number {
  return error instanceof KubernetesError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
}

function pauseAfter(failures: number, { firstPauseMs = FIRST_PAUSE_MS }: WorkQueueOptions): number {
  const pause = Math.min(firstPauseMs * 2 ** Math.min(failures, 30), MAX_PAUSE_MS)
  return pause * (0.75 + Math.random() / 4)
}
