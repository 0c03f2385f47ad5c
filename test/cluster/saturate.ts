import { until } from '../support/until.ts'
import type { PoolStage } from './pool-stage.ts'

/** A pool whose workers are all busy. */
export interface SaturatedPool {
  busy(): string[]
  /** Its workers that take no more jobs. */
  fenced(): string[]
  [Symbol.asyncDispose](): Promise<void>
}

/** Applies a pool, or takes one that exists, and keeps all its workers busy, each with one job of `jobMs` after the other, until it is removed. */
export async function saturate(
  stage: PoolStage,
  name: string,
  { workers: count, jobMs, spec }: { workers: number; jobMs: number; spec?: object },
): Promise<SaturatedPool> {
  const { workers } = stage
  const startedAt = new Map<string, number>()
  const timer = setInterval(() => {
    const now = performance.now()
    for (const pod of stage.podsOf(name)) {
      if (workers.isBusy(pod) && now - (startedAt.get(pod) ?? now) >= jobMs) workers.finish(pod)
      if (!workers.isBusy(pod) && workers.work(pod)) startedAt.set(pod, now)
    }
  }, 50)
  const pods = (is: (pod: string) => boolean) => stage.podsOf(name).filter(is)
  const pool = {
    busy: () => pods(workers.isBusy),
    fenced: () => pods((pod) => !workers.takesJobs(pod)),
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      for (const pod of stage.podsOf(name)) workers.finish(pod)
      await stage.remove(name)
    },
  }
  if (spec !== undefined) await stage.apply(name, spec)
  await stage.untilReady(name, count)
  await until(() => pool.busy().length === count)
  return pool
}
