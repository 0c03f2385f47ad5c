import type { Metrics } from '../api/shared/metrics.ts'

export type ControllerMetrics = ReturnType<typeof createControllerMetrics>

/** What the controller measures of itself. */
export function createControllerMetrics(metrics: Pick<Metrics, 'counter' | 'gauge' | 'known' | 'seconds'>) {
  return {
    reconciles: metrics.seconds({
      name: 'drape_reconcile_seconds',
      help: 'Seconds of each look at an object, by kind and outcome: done, again, failed',
      labels: ['kind', 'outcome'],
    }),
    reconcileDepth: metrics.gauge({
      name: 'drape_reconcile_waiting',
      help: 'Objects that wait to be looked at, by kind',
      labels: ['kind'],
    }),
    watchAge: metrics.gauge({
      name: 'drape_watch_age_seconds',
      help: 'Seconds since the API server was last heard of, by kind',
      labels: ['kind'],
    }),
    leader: metrics.gauge({ name: 'drape_leader', help: '1 while this process is the one that acts' }),
    decisions: metrics.known('direction', ['Up', 'Down', 'None'], {
      name: 'drape_scaling_decisions_total',
      help: 'Changes of the number of workers, by direction',
    }),
    decisionSeconds: metrics.seconds({
      name: 'drape_decision_seconds',
      help: 'Seconds from the word of new work to a look at each pool',
    }),
    workerStart: metrics.seconds({
      name: 'drape_worker_start_seconds',
      help: "Seconds from the creation of a worker's pod to its taking jobs",
    }),
    wrongVictims: metrics.counter({
      name: 'drape_wrong_victim_total',
      help: 'Workers that went instead of those that were drained',
    }),
    staleSamples: metrics.known('part', ['demand', 'workers'], {
      name: 'drape_stale_samples_total',
      help: 'Times that demand or workers could not be read',
    }),
  }
}
