import type { GenerationLife } from '../../../api/generations/generation-life.store.ts'
import { jobId } from '../../../api/shared/generations/generation.ts'
import { createRedis, type JobPlace } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { redisUrl } from '../checks/environment.ts'
import { becomesReady } from '../checks/workers.ts'

/** State of an unfinished generation in Redis. */
export interface QueueState {
  /** Null when its queue does not have the job, or no queue was chosen yet. */
  readonly job: JobPlace | null
  /** Live workers that run its engine. */
  readonly workers: number
  /** Whether the worker that started it sends heartbeats. */
  readonly isWorkerAlive: boolean
}

export async function readQueue({ id, attempt, engine, worker, outbox }: GenerationLife): Promise<QueueState> {
  // Only a subscriber reads on where Redis evicts keys; other roles end the process.
  const redis = createRedis(redisUrl(), {
    role: 'subscriber',
    log: createLog({ process: 'debug', level: 'silent' }),
  })
  try {
    await becomesReady(redis)
    const workers = await redis.findWorkers('try-on')
    const isDispatched = outbox !== null && outbox.dispatchedAt !== null
    return {
      job: isDispatched ? await redis.findJob(outbox.queue, jobId(id, attempt)) : null,
      workers: workers.filter(({ engines }) => engines.includes(engine)).length,
      isWorkerAlive: workers.some((live) => live.worker === worker),
    }
  } finally {
    await redis.close()
  }
}
