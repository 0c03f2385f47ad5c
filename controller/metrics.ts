import type { Metrics } from '../api/shared/telemetry/metrics.ts'

export type ControllerMetrics = ReturnType<typeof createControllerMetrics>

/** Metrics of the controller itself. */
export function createControllerMetrics(metrics: Pick<Metrics, 'counter' | 'gauge' | 'known' | 'seconds'>) {
  return {
    reconciles: metrics.seconds({
      name: 'drape_reconcile_seconds',
      help: 'Duration of reconciles in seconds, by kind and outcome: done, again, failed',
      labels: ['kind', 'outcome'],
    }),
    reconcileDepth: metrics.gauge({
      name: 'drape_reconcile_waiting',
      help: 'Objects waiting to be reconciled, by kind',
      labels: ['kind'],
    }),
    leader: metrics.gauge({ name: 'drape_leader', help: '1 while the process is the leader, otherwise 0' }),
    listening: metrics.gauge({
      name: 'drape_listening',
      help: '1 while Postgres notifies the process of new work, 0 while the process polls instead',
    }),
    decisions: metrics.known('direction', ['Up', 'Down', 'None'], {
      name: 'drape_scaling_decisions_total',
      help: 'Scaling decisions, by direction',
    }),
    decisionSeconds: metrics.seconds({
      name: 'drape_decision_seconds',
      help: 'Seconds from the notification of new work to the scaling decision for each pool',
    }),
    workerStart: metrics.seconds({
      name: 'drape_worker_start_seconds',
      help: 'Seconds from the creation of a worker pod until the worker is ready for jobs',
    }),
    workerStartPhase: metrics.seconds({
      name: 'drape_worker_start_phase_seconds',
      help: 'Seconds of each phase of the start of a worker, in whole seconds: scheduling, initialization, image, warmup, and download, which overlaps with the others',
      labels: ['phase'],
    }),
    wrongVictims: metrics.counter({
      name: 'drape_wrong_victim_total',
      help: 'Workers that were removed before they were drained',
    }),
    staleSamples: metrics.known('part', ['demand', 'workers'], {
      name: 'drape_stale_samples_total',
      help: 'Failed attempts to read the demand or the workers, by part',
    }),
  }
}
