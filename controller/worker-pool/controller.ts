import type { PoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import { GROUP } from '../definitions/custom-resource.ts'
import type { ControllerMetrics } from '../metrics.ts'
import { createApplyOnce } from '../runtime/apply-once.ts'
import type { Client } from '../runtime/client.ts'
import type { Controller } from '../runtime/controllers.ts'
import type { RecordEvent } from '../runtime/events.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import { keyOf } from '../runtime/resource.ts'
import { createReportReverted } from '../runtime/reverted-edits.ts'
import type { Cluster } from '../watching/cluster.ts'
import type { Sample } from './demand/sampler.ts'
import { createPoolReconcile } from './reconcile.ts'
import type { WorkerPool } from './resource.ts'
import { createDecisionTimes } from './scaling/decision-times.ts'
import type { PoolGauges } from './status/gauges.ts'
import { START_PHASES } from './workers/pods.ts'

export interface PoolControllerParts {
  readonly cluster: Cluster
  readonly client: Client
  readonly record: RecordEvent
  readonly reportInvalid: ReportInvalid
  readonly registry: Pick<PoolRegistry, 'order' | 'limitJobs'>
  readonly sample: () => Promise<Sample>
  readonly metrics: ControllerMetrics
  readonly gauges: PoolGauges
  /** Called with the seconds from the creation of a worker until it was ready. */
  readonly onStarted: (pool: WorkerPool, seconds: number) => void
  readonly now: () => Date
}

/** Scales the workers of pools. */
export function createPoolController({ cluster, metrics, gauges, onStarted, ...parts }: PoolControllerParts) {
  for (const phase of START_PHASES) metrics.workerStartPhase.zero({ phase })
  const decisionTimes = createDecisionTimes((seconds) => metrics.decisionSeconds.observe(seconds))
  const reportReverted = createReportReverted(parts.record)
  const pools = createPoolReconcile({
    ...parts,
    ...cluster,
    gauges,
    reportReverted,
    applyOnce: createApplyOnce(parts.client, { annotation: `${GROUP}/applied`, onReverted: reportReverted }),
    onDecision: ({ direction }) => metrics.decisions.inc({ direction }),
    onWrongVictim: () => metrics.wrongVictims.inc(),
    onStarted: (seconds, pool, phases) => {
      metrics.workerStart.observe(seconds)
      for (const phase of START_PHASES) {
        const phaseSeconds = phases?.[phase]
        if (phaseSeconds !== undefined) metrics.workerStartPhase.observe({ phase }, phaseSeconds)
      }
      onStarted(pool, seconds)
    },
  })
  const controller: Controller = {
    kind: 'WorkerPool',
    objects: cluster.pools,
    synced: cluster.synced.WorkerPool,
    reconcile: async (key, failures) => {
      const noteDecision = decisionTimes.begin(key)
      const done = await pools.reconcile(key, failures)
      noteDecision()
      return done
    },
    forgetAll: () => {
      for (const memory of [pools, gauges, decisionTimes]) memory.forgetAll()
    },
  }
  return {
    controller,
    /** Has all pools decide again, because new work may have arrived. */
    askAll: (enqueue: (key: string) => void) => {
      for (const { metadata } of cluster.pools.list()) {
        const key = keyOf(metadata)
        decisionTimes.ask(key)
        enqueue(key)
      }
    },
  }
}
