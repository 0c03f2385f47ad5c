/** The work that an inference process runs at the moment. */
export interface RunningWork {
  readonly id: number
  readonly subject: string | null
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onProgress: (share: number) => void
}

export interface SlotOptions {
  readonly signal: AbortSignal
  readonly onProgress: (share: number) => void
  readonly subject?: string
  readonly workSeconds: number
  /** Asks the process to start the work. */
  readonly start: (id: number) => void
  /** Asks the process to abort the work. A process reads this between two model runs; until then it is busy. */
  readonly abort: (id: number) => void
  /** The work has run for `workSeconds`. */
  readonly onTimeout: () => void
}

export interface WorkSlot {
  current(): RunningWork | null
  /** Empties the slot; its caller settles the work. */
  take(): RunningWork | null
  /**
   * Starts work, and settles when the process has answered or ended. After an abort, throws the reason of the signal, unless the
   * process has completed the work.
   */
  run(options: SlotOptions): Promise<never>
}

/** Holds one piece of work at a time. */
export function createWorkSlot(): WorkSlot {
  let running: RunningWork | null = null
  let nextId = 1
  return {
    current: () => running,
    take: () => {
      const work = running
      running = null
      return work
    },
    run: async ({ signal, onProgress, subject = null, workSeconds, start, abort, onTimeout }) => {
      if (running) throw new Error('The inference process accepts one request at a time')
      const id = nextId++
      const limit = setTimeout(onTimeout, workSeconds * 1000)
      const onAbort = () => abort(id)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        return await new Promise<never>((resolve, reject) => {
          running = { id, subject, resolve: resolve as (result: unknown) => void, reject, onProgress }
          start(id)
        })
      } catch (error) {
        throw signal.aborted ? signal.reason : error
      } finally {
        clearTimeout(limit)
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}
