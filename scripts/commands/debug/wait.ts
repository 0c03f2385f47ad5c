import type { Place } from '../../../api/generations/engines/waiting.store.ts'
import type { GenerationLife } from '../../../api/generations/generation-life.store.ts'
import { LEASE_SECONDS } from '../../../api/shared/generations/attempts.store.ts'
import type { JobPlace } from '../../../api/shared/queue/redis.ts'
import type { QueueState } from './queue.ts'

interface Known {
  /** Null when Redis could not be read. */
  readonly queue: QueueState | null
  readonly place: Place | null
}

/** What an unfinished generation waits for, in one line; null when it has ended. */
export function describeWait(life: GenerationLife, known: Known): string | null {
  if (life.status === 'PROCESSING') return describeRun(life, known.queue)
  if (life.status !== 'PENDING' || life.outbox === null) return null
  const { queue, availableAt, dispatchedAt } = life.outbox
  if (known.queue?.workers === 0) return `a worker: no live worker runs the engine ${life.engine}`
  if (dispatchedAt !== null) return describeJob(queue, known.queue)
  if (new Date(availableAt) > life.now) return `its next attempt, due at ${new Date(availableAt).toISOString()}`
  const { earlier = null, queued = 0 } = known.place ?? {}
  return `its turn: ${earlier ?? 0} jobs of its account come first, ${queued} jobs are in the queue`
}

function describeRun({ worker, progress, leaseUntil, now }: GenerationLife, queue: QueueState | null): string {
  if (leaseUntil !== null && leaseUntil < now) {
    return `the relay: the lease of ${worker} has expired, and the relay takes the attempt back (API pods, log of the relay)`
  }
  const heartbeat =
    queue === null || queue.isWorkerAlive ? '' : `, which sends no heartbeat: at most ${LEASE_SECONDS} s`
  return `the worker ${worker}${heartbeat}, progress ${Math.round((progress ?? 0) * 100)} %`
}

function describeJob(name: string, queue: QueueState | null): string {
  if (queue === null) return `a worker of the queue ${name}`
  return describePlace(name, queue.job)
}

function describePlace(name: string, job: JobPlace | null): string {
  if (job === null)
    return `the relay: the queue ${name} has lost the job, and the relay dispatches it again within seconds`
  if (job.state === 'waiting') return `a worker of the queue ${name}: ${job.ahead} jobs come first`
  return job.isLocked
    ? `the worker that has just taken the job from the queue ${name}`
    : `the relay: the worker that took the job from the queue ${name} is lost, and the relay dispatches it again`
}
