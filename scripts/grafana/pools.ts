import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, of, quantile, quantileOfRates, ratio, sumRate } from './promql.ts'

const POOL = 'pool=~"$pool"'
const BOUNDS = 'drape_pool_bounds'
const WORKERS = `sum by (pool) (${highest('namespace, pool, state', 'drape_pool_workers', POOL)})`

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Existing workers',
      description: 'Pods of the selected pools, ready or not.',
      unit: 'short',
      queries: [{ expr: `sum(${WORKERS})`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Desired workers',
      description: 'Number of workers that the demand and the rules require.',
      unit: 'short',
      queries: [{ expr: `sum(${highest('namespace, pool', BOUNDS, 'bound="desired"', POOL)})`, legend: '' }],
      width: 4,
      runbooks: ['pool-workers-missing', 'pool-workers-sick'],
    },
    {
      kind: 'number',
      title: 'Current cost per hour',
      description: 'Cost of the existing workers, in the unit of hourlyCost.',
      unit: 'short',
      queries: [{ expr: `sum(${highest('namespace, pool', 'drape_pool_hourly_cost', POOL)})`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Current oldest wait',
      description: 'Time that the oldest job of a pool has waited, in steps of 5 s.',
      unit: 's',
      queries: [{ expr: highest('', 'drape_pool_oldest_wait_seconds', POOL), legend: '' }],
      width: 4,
      thresholds: [
        [30, 'yellow'],
        [60, 'red'],
      ],
    },
    {
      kind: 'number',
      title: 'Leading controllers',
      description: '1 per namespace with a controller. If the value is 0, pools do not scale.',
      unit: 'short',
      queries: [{ expr: `sum(${of('drape_leader')})`, legend: '' }],
      width: 4,
      runbooks: ['no-leader', 'controller-absent'],
    },
    {
      kind: 'number',
      title: 'Removed before drained',
      description: 'Workers removed before they were drained, in the selected time range. Must be 0.',
      unit: 'short',
      queries: [{ expr: `sum(increase(${of('drape_wrong_victim_total')}[$__range]))`, legend: '' }],
      width: 4,
      thresholds: [[1, 'red']],
    },
  ],
}

const demand: Row = {
  title: 'Demand',
  panels: [
    {
      kind: 'areas',
      title: 'Jobs',
      description: 'Waiting and running jobs by pool. Pools with the same engines count the same jobs.',
      unit: 'short',
      queries: [{ expr: highest('pool, state', 'drape_pool_jobs', POOL), legend: '{{pool}} {{state}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Oldest wait',
      description: 'Time that the oldest job of each pool has waited, in steps of 5 s.',
      unit: 's',
      queries: [{ expr: highest('pool', 'drape_pool_oldest_wait_seconds', POOL), legend: '{{pool}}' }],
      width: 12,
      thresholds: [[60, 'red']],
    },
  ],
}

const decisions: Row = {
  title: 'Decisions and limits',
  panels: [
    {
      kind: 'lines',
      title: 'Desired and ready workers, min and max',
      description: 'Desired, ready, min and max number of workers, and workers that recently fenced themselves.',
      unit: 'short',
      queries: [
        { expr: highest('pool, bound', BOUNDS, POOL), legend: '{{pool}} {{bound}}' },
        { expr: highest('pool', 'drape_pool_ready_workers', POOL), legend: '{{pool}} ready' },
        { expr: highest('pool', 'drape_pool_sick_workers', POOL), legend: '{{pool}} sick lately' },
      ],
      width: 12,
      runbooks: ['pool-workers-missing'],
    },
    {
      kind: 'areas',
      title: 'Workers by state',
      description:
        'Starting, idle, busy, draining, drained, silent (running, but without a heartbeat), sick (fenced because its accelerator keeps failing) or unlisted (beyond the first 200 workers of a pool).',
      unit: 'short',
      queries: [
        {
          expr: `sum by (state) (${highest('namespace, pool, state', 'drape_pool_workers', POOL)})`,
          legend: '{{state}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'states',
      title: 'Limiting rules',
      description: 'Rules that keep the number of workers from the number that the demand requires.',
      unit: 'short',
      queries: [{ expr: highest('pool, by', 'drape_pool_limited', POOL), legend: '{{pool}}: {{by}}' }],
      width: 12,
    },
    {
      kind: 'states',
      title: 'Conditions',
      description: 'Conditions of pools that require attention while True.',
      unit: 'short',
      queries: [{ expr: highest('pool, type', 'drape_pool_condition', POOL), legend: '{{pool}}: {{type}}' }],
      width: 12,
      runbooks: ['pool-stalled'],
    },
    {
      kind: 'lines',
      title: 'Changes of the number of workers',
      description: 'Workers added and removed per 10 minutes. If both persist, the pool oscillates.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (direction) (increase(${of('drape_scaling_decisions_total', 'direction!="None"')}[10m]))`,
          legend: '{{direction}}',
        },
      ],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'Decision latency',
      description: 'Time from the notification of new work to the scaling decision, 50th and 95th percentile.',
      unit: 's',
      queries: [0.5, 0.95].map((q) => ({ expr: quantile(q, '', 'drape_decision_seconds'), legend: `p${q * 100}` })),
      width: 8,
      thresholds: [[5, 'red']],
    },
    {
      kind: 'lines',
      title: 'Cold starts of workers',
      description:
        'Time from the creation of a worker pod until the pod is ready, including nodes, images and models. 50th and 95th percentile over 1 hour.',
      unit: 's',
      queries: [0.5, 0.95].map((q) => ({
        expr: quantileOfRates(q, '', `rate(${of('drape_worker_start_seconds_bucket')}[1h])`),
        legend: `p${q * 100}`,
      })),
      width: 8,
      runbooks: ['pool-workers-missing'],
    },
    {
      kind: 'lines',
      title: 'Phases of cold starts',
      description:
        'Mean time of each phase of a start over 1 hour: scheduling (until the pod has a node), initialization (model files), image, warmup (models loaded and run once). download (model files from a URL) overlaps with the others.',
      unit: 's',
      queries: [
        {
          expr: ratio(
            `sum by (phase) (rate(${of('drape_worker_start_phase_seconds_sum')}[1h]))`,
            `sum by (phase) (rate(${of('drape_worker_start_phase_seconds_count')}[1h]))`,
          ),
          legend: '{{phase}}',
        },
      ],
      width: 12,
      runbooks: ['pool-workers-missing'],
    },
    {
      kind: 'areas',
      title: 'Workers that do not start',
      description:
        'By the reason that Kubernetes reports, for example ImagePullBackOff, CrashLoopBackOff or OOMKilled, and pods that nodes rejected lately, for example UnexpectedAdmissionError. The condition WorkersStarting of the pool has the cause.',
      unit: 'short',
      queries: [{ expr: highest('pool, reason', 'drape_pool_failing_workers', POOL), legend: '{{pool}} {{reason}}' }],
      width: 12,
      runbooks: ['pool-workers-failing'],
    },
  ],
}

const cost: Row = {
  title: 'Cost',
  panels: [
    {
      kind: 'areas',
      title: 'Cost per hour',
      description: 'Cost of the existing workers, by pool.',
      unit: 'short',
      queries: [{ expr: highest('pool', 'drape_pool_hourly_cost', POOL), legend: '{{pool}}' }],
      width: 12,
    },
    {
      kind: 'bars',
      title: 'Cost of the selected time range',
      description: 'Mean cost per hour multiplied by the hours, by pool.',
      unit: 'short',
      queries: [
        {
          expr: `max by (pool) (avg_over_time(${of('drape_pool_hourly_cost', POOL)}[$__range])) * $__range_s / 3600`,
          legend: '{{pool}}',
        },
      ],
      width: 6,
    },
    {
      kind: 'number',
      title: 'Cost of 1,000 results',
      description: 'Cost of the selected pools divided by the generations completed in the last hour, all engines.',
      unit: 'short',
      queries: [
        {
          expr: ratio(
            `1000 * sum(max by (pool) (avg_over_time(${of('drape_pool_hourly_cost', POOL)}[1h])))`,
            `sum(increase(${of('drape_generations_finished_total', 'status="COMPLETED"')}[1h]))`,
          ),
          legend: '',
        },
      ],
      width: 6,
    },
  ],
}

const controller: Row = {
  title: 'Controller',
  panels: [
    {
      kind: 'areas',
      title: 'Reconciles',
      description:
        'Per second, by kind and outcome. again: conflict with another writer, retried. failed: see the log of the controller.',
      unit: 'ops',
      queries: [{ expr: sumRate('kind, outcome', 'drape_reconcile_seconds_count'), legend: '{{kind}} {{outcome}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Duration of reconciles, 95th percentile',
      description: 'By kind.',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'kind', 'drape_reconcile_seconds'), legend: '{{kind}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Objects waiting to be reconciled',
      description: 'By kind. If the number only grows, the controller is overloaded.',
      unit: 'short',
      queries: [{ expr: highest('kind', 'drape_reconcile_waiting'), legend: '{{kind}}' }],
      width: 6,
    },
    {
      kind: 'lines',
      title: 'Watch age',
      description:
        'Time since the last event or bookmark, by kind. The controller restarts a watch after 40 s of silence.',
      unit: 's',
      queries: [{ expr: highest('kind', 'drape_watch_age_seconds'), legend: '{{kind}}' }],
      width: 6,
      thresholds: [[90, 'red']],
    },
    {
      kind: 'lines',
      title: 'Failed samples',
      description: 'Failed attempts to read the demand (Postgres) or the workers (Redis) per 5 minutes.',
      unit: 'short',
      queries: [{ expr: `sum by (part) (increase(${of('drape_stale_samples_total')}[5m]))`, legend: '{{part}}' }],
      width: 6,
    },
    {
      kind: 'lines',
      title: 'Notifications of new work',
      description: 'By controller: 1 while Postgres notifies it of new work, 0 while it polls every second instead.',
      unit: 'short',
      queries: [{ expr: of('drape_listening'), legend: '{{instance}}' }],
      width: 6,
      max: 1,
      runbooks: ['notifications-down'],
    },
  ],
}

export const pools: Dashboard = {
  name: 'pools',
  title: 'Pools',
  description: 'Scaling of workers: demand, decisions, limits, cost and the controller.',
  variables: [{ name: 'pool', label: 'Pool', metric: 'drape_pool_bounds' }],
  rows: [glance, demand, decisions, cost, controller],
}
