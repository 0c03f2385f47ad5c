import type { Random } from '../faults/support/random.ts'
import { until } from '../support/until.ts'
import type { ModelWorkers } from './model-workers.ts'

export interface ScaledPool {
  /** Sets the number of workers. */
  scale(replicas: number): Promise<unknown>
  /** Whether this number of workers is ready and no change is in progress. */
  isReady(replicas: number): Promise<unknown>
  /** Names of the pods that run. */
  pods(): readonly string[]
}

/** Scales a pool down again and again while some of its workers are busy. Each busy one ends its job when it is the last to go. */
export async function scaleDownAtRandom(
  pool: ScaledPool,
  { workers, random, rounds }: { workers: ModelWorkers; random: Random; rounds: number },
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const replicas = random.between(2, 5)
    await pool.scale(replicas)
    await until(async () => pool.pods().length === replicas && (await pool.isReady(replicas)))
    const busy = pool.pods().filter((pod) => random.chance(0.4) && workers.work(pod))
    const fewer = random.between(0, replicas - 1)
    await pool.scale(fewer)
    // One that got its job when it had just been chosen stays as well until it is done.
    await until(() => pool.pods().length <= fewer + busy.length)
    for (const pod of busy) workers.finish(pod)
    await until(() => pool.isReady(fewer))
  }
}
