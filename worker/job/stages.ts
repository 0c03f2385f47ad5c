import { setImmediate } from 'node:timers/promises'
import type { EngineStage } from '../../api/shared/engines/stage-order.ts'

interface StageContext {
  readonly signal: AbortSignal
  /** Receives the progress, 0 to 1. */
  readonly onProgress: (share: number) => void
}

/** Runs stages sequentially and measures them in ms. Checks for an abort between stages. */
export interface Stages {
  readonly timings: Readonly<Record<string, number>>
  /** `share` is the progress, 0 to 1, after the stage. */
  run<T>(name: EngineStage, share: number, work: () => T | Promise<T>): Promise<T>
}

/**
 * With `large`, collects garbage before each stage, if the process was started with --expose-gc: V8 would otherwise retain hundreds of
 * megabytes of bitmaps.
 */
export function createStages({ signal, onProgress }: StageContext, { large = false } = {}): Stages {
  const timings: Record<string, number> = {}
  // Not every run has its stages in the same order.
  let done = 0
  return {
    timings,
    async run<T>(name: EngineStage, share: number, work: () => T | Promise<T>): Promise<T> {
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
