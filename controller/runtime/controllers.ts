import type { Log } from '../../api/shared/telemetry/log.ts'
import { withLateSpan } from '../../api/shared/telemetry/telemetry.ts'
import type { ControllerMetrics } from '../metrics.ts'
import { type KubernetesObject, keyOf } from './resource.ts'
import type { Watched } from './watch.ts'
import { createWorkQueue, type WorkQueueOptions } from './work-queue.ts'

/** The kinds of objects that are reconciled. */
const KINDS = ['WorkerPool', 'Engine', 'ScalingPolicy', 'RetentionPolicy', 'Sweep'] as const
export type Kind = (typeof KINDS)[number]

/** Enqueues an object for a reconcile, at once or after `ms`. */
export type Enqueue = (kind: Kind, key: string, ms?: number) => void

/** What keeps the objects of one kind as their specs say. */
export interface Controller {
  readonly kind: Kind
  readonly objects: Pick<Watched<KubernetesObject>, 'list'>
  /**
   * Resolves when all objects that `reconcile` reads have been listed: until then, an object that seems missing may only be unread. A kind
   * that does not exist or cannot be read disables only the controllers that need it.
   */
  readonly synced: Promise<unknown>
  readonly reconcile: WorkQueueOptions['reconcile']
  /** Called with the key of each object that is enqueued. */
  readonly noteChange?: (key: string) => void
  /** Drops what would be wrong after another process has led. */
  readonly forgetAll?: () => void
  /** Ends long work, so that the last reconciles return. */
  readonly stop?: () => void
}

export interface Controllers {
  readonly enqueue: Enqueue
  /** Starts or stops to reconcile, at a change of the leader. */
  setLeading(leading: boolean): void
  /** Whether all objects that the reconciles of these kinds read have been listed. */
  areSynced(...kinds: readonly Kind[]): boolean
  /** Records the number of waiting objects of each kind. */
  measureDepths(): void
  /** Resolves when the running reconciles have ended. */
  close(): Promise<unknown>
}

export interface ControllersParts {
  readonly isLeader: () => boolean
  readonly concurrency: number
  readonly metrics: Pick<ControllerMetrics, 'reconciles' | 'reconcileDepth'>
  readonly log: Log
}

/** Runs controllers, each with a queue of its own. */
export function startControllers(controllers: readonly Controller[], parts: ControllersParts): Controllers {
  const synced = new Set<Kind>()
  const running = new Map(controllers.map((each) => [each.kind, { ...each, queue: createQueue(each, parts) }]))
  for (const { kind, synced: listed, queue } of running.values())
    listed.then(() => {
      synced.add(kind)
      queue.setLeading(parts.isLeader())
    })
  return {
    enqueue: (kind, key, ms) => {
      const found = running.get(kind)
      found?.noteChange?.(key)
      found?.queue.add(key, ms)
    },
    setLeading: (leading) => {
      for (const { forgetAll } of running.values()) forgetAll?.()
      for (const { kind, queue } of running.values()) queue.setLeading(leading && synced.has(kind))
    },
    areSynced: (...kinds) => kinds.every((kind) => synced.has(kind)),
    measureDepths: () => {
      for (const { kind, queue } of running.values()) parts.metrics.reconcileDepth.set({ kind }, queue.depth())
    },
    close: () => {
      for (const { stop } of running.values()) stop?.()
      return Promise.all([...running.values()].map(({ queue }) => queue.close()))
    },
  }
}

function createQueue({ kind, objects, reconcile }: Controller, { concurrency, metrics, log }: ControllersParts) {
  for (const outcome of ['done', 'again', 'failed']) metrics.reconciles.zero({ kind, outcome })
  return createWorkQueue({
    // Most passes are no-ops; only passes that write or fail are recorded.
    reconcile: (key, failures) =>
      withLateSpan(`reconcile ${kind}`, { 'drape.object': key, 'drape.reconcile.failures': failures }, () =>
        reconcile(key, failures),
      ),
    concurrency,
    keys: () => objects.list().map(({ metadata }) => keyOf(metadata)),
    onFailure: (key, error, failures) => log.warn({ err: error, kind, key, failures }, 'reconciliation failed'),
    onDone: (_, seconds, outcome) => metrics.reconciles.observe({ kind, outcome }, seconds),
  })
}
