import { setImmediate } from 'node:timers/promises'

interface StageContext {
  readonly signal: AbortSignal
  /** Receives the share of the work that is done, 0 to 1. */
  readonly onProgress: (share: number) => void
}

/** Runs stages one after the other and times them, in ms; between them an abort can arrive and is obeyed. */
export interface Stages {
  readonly timings: Readonly<Record<string, number>>
  /** `share` of the whole work, 0 to 1, is done when the stage is. */
  run<T>(name: string, share: number, work: () => T | Promise<T>): Promise<T>
}

/**
 * With `large` the memory of every stage, and what its caller has let go since, is given back before the next one, where the process was started with --expose-gc: V8 hardly
 * counts pixels, which lie outside of its heap, and would let hundreds of megabytes of them wait.
 */
export function createStages({ signal, onProgress }: StageContext, { large = false } = {}): Stages {
  const timings: Record<string, number> = {}
  // Not every run has its stages in the same order.
  let done = 0
  return {
    timings,
    async run<T>(name: string, share: number, work: () => T | Promise<T>): Promise<T> {
      await setImmediate()
      signal.throwIfAborted()
      const start = performance.now()
      if (large) globalThis.gc?.()
      const result = await work()
      if (large) globalThis.gc?.()
      timings[name] = Math.round(performance.now() - start)
      done = Math.max(done, share)
      onProgress(done)
      return result
    },
  }
}
