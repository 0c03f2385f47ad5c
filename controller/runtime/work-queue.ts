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
  /** Starts or stops processing; running work continues. A queue starts stopped. */
  setTaking(taking: boolean): void
  /** Stops processing and resolves when running work is done. */
  close(): Promise<void>
}

export interface WorkQueueOptions {
  /** Processes a key; `failures` is the number of preceding consecutive failures. Never runs concurrently for the same key. */
  readonly work: (key: string, failures: number) => Promise<Done | undefined>
  readonly concurrency: number
  /** Called with an error; returns the min pause of the key in ms, or null for the default. */
  readonly onFailure?: (key: string, error: unknown, failures: number) => number | null
  readonly firstPauseMs?: number
}

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 300_000

/**
 * A queue of unique keys. A key that is added while it is processed is processed again afterwards. After a failure the key is
 * retried with exponential backoff and jitter.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { work, concurrency, onFailure = () => null } = options
  const waiting = new Set<string>()
  const later = new Map<string, { dueAt: number; timer: NodeJS.Timeout }>()
  const working = new Map<string, Promise<void>>()
  const failures = new Map<string, number>()
  let taking = false
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
    if (!taking) return
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
    try {
      const done = await work(key, before)
      failures.delete(key)
      if (done?.againMs !== undefined) add(key, Math.max(1, done.againMs))
    } catch (error) {
      failures.set(key, before + 1)
      const least = onFailure(key, error, before + 1)
      add(key, Math.max(least ?? 0, pauseAfter(before, options)))
    }
  }

  return {
    add,
    depth: () => waiting.size,
    setTaking: (wanted) => {
      taking = wanted
      take()
    },
    close: async () => {
      taking = false
      closed = true
      for (const key of [...later.keys()]) cancelLater(key)
      waiting.clear()
      await Promise.all(working.values())
    },
  }
}

function pauseAfter(failures: number, { firstPauseMs = FIRST_PAUSE_MS }: WorkQueueOptions): number {
  const pause = Math.min(firstPauseMs * 2 ** Math.min(failures, 30), MAX_PAUSE_MS)
  return pause * (0.75 + Math.random() / 4)
}
