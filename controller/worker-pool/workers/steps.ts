import type { PoolRegistry } from '../../../api/shared/engines/pool-registry.ts'
import type { Client } from '../../runtime/client.ts'
import { type RecordEvent, warning } from '../../runtime/events.ts'
import type { WorkerPool } from '../resource.ts'
import type { DrainPlan, LiveWorker, PoolPod } from './drain.ts'
import { annotationsFor, PODS } from './pods.ts'

export interface StepParts {
  readonly client: Pick<Client, 'patch' | 'delete'>
  readonly registry: Pick<PoolRegistry, 'order'>
  readonly record: RecordEvent
  readonly now: () => Date
}

interface Steps {
  readonly pool: WorkerPool
  readonly plan: DrainPlan
  readonly pods: readonly PoolPod[]
  readonly workers: ReadonlyMap<string, LiveWorker>
}

/** A worker is protected for this long after its last job, so that a worker with many short jobs is not patched for each. */
const PROTECTED_IDLE_MS = 60_000

/** Carries out a plan: sends orders to workers and marks pods, in an order in which each step is safe without the next. */
export function createSteps({ client, registry, record, now: clock }: StepParts) {
  return async ({ pool, plan, pods, workers }: Steps): Promise<void> => {
    const { namespace } = pool.metadata
    const now = clock().getTime()
    const annotate = (name: string, annotations: Record<string, string | null>) =>
      client.patch(PODS, { namespace, name }, { metadata: { annotations } })
    for (const name of plan.refuse) {
      await registry.order(name, 'take')
      await annotate(name, annotationsFor.refuse(now))
      await record(pool, warning('DrainRefused', `${name} did not acknowledge the drain; another worker is selected.`))
    }
    for (const name of plan.release) {
      await annotate(name, annotationsFor.release())
      await registry.order(name, 'take')
    }
    for (const name of plan.fence) {
      await annotate(name, annotationsFor.fence(now))
      await registry.order(name, now)
    }
    for (const name of plan.restore) {
      await annotate(name, annotationsFor.restore())
      const message = `${name} had the pod-deletion-cost of a drained worker. Only the controller may set it.`
      await record(pool, warning('DeletionCostRemoved', message))
    }
    // Use the time of each write: the cluster can know the mark from then on.
    for (const name of plan.mark) await annotate(name, annotationsFor.mark(clock().getTime()))
    for (const name of plan.remove) await client.delete(PODS, { namespace, name })
    // Redis may have lost the orders.
    const ordered = new Set([...plan.refuse, ...plan.release, ...plan.fence])
    for (const { name, fencedAt, deleting, started } of pods) {
      const worker = workers.get(name)
      const knows = worker === undefined ? started || fencedAt === null : worker.fence === fencedAt
      if (deleting || knows || ordered.has(name)) continue
      await registry.order(name, fencedAt ?? 'take')
    }
    for (const pod of pods) {
      const change = protectionFor(pod, workers.get(pod.name), now)
      if (change !== null) await annotate(pod.name, change)
    }
  }
}

/** Annotations that keep nodes with running jobs, and no others, from being removed to save costs; null if nothing changes. */
function protectionFor({ deleting, protectedBy }: PoolPod, worker: LiveWorker | undefined, now: number) {
  if (deleting || worker === undefined) return null
  if (worker.jobs > 0) return protectedBy === undefined ? annotationsFor.protect() : null
  const isIdle = worker.idleSince !== null && now - worker.idleSince >= PROTECTED_IDLE_MS
  return isIdle && protectedBy === 'controller' ? annotationsFor.unprotect() : null
}
