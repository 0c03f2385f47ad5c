import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, of, quantile, sumRate } from './promql.ts'

const POOL = 'pool=~"$pool"'
const BOUNDS = 'drape_pool_bounds'
const WORKERS = `sum by (pool) (${highest('namespace, pool, state', 'drape_pool_workers', POOL)})`

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Workers there',
      description: 'Pods of the chosen pools, ready or not.',
      unit: 'short',
      queries: [{ expr: `sum(${WORKERS})`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Workers wanted',
      description: 'As many as the demand and the rules ask for.',
      unit: 'short',
      queries: [{ expr: `sum(${highest('namespace, pool', BOUNDS, 'bound="desired"', POOL)})`, legend: '' }],
      width: 4,
      runbooks: ['pool-workers-missing'],
    },
    {
      kind: 'number',
      title: 'Cost an hour now',
      description: 'Of the workers that are there, in the unit in which the pools name their cost.',
      unit: 'short',
      queries: [{ expr: `sum(${highest('namespace, pool', 'drape_pool_hourly_cost', POOL)})`, legend: '' }],
      width: 4,
      runbooks: ['pool-cost-capped'],
    },
    {
      kind: 'number',
      title: 'Oldest wait now',
      description: 'How long the oldest job of a pool has waited, in steps of 5 s.',
      unit: 's',
      queries: [{ expr: highest('', 'drape_pool_oldest_wait_seconds', POOL), legend: '' }],
      width: 4,
      thresholds: [
        [30, 'yellow'],
        [60, 'red'],
      ],
      runbooks: ['pool-at-maximum'],
    },
    {
      kind: 'number',
      title: 'Controllers that lead',
      description: 'One in each namespace with a controller. None: pools keep their size.',
      unit: 'short',
      queries: [{ expr: `sum(${of('drape_leader')})`, legend: '' }],
      width: 4,
      runbooks: ['no-leader', 'controller-absent'],
    },
    {
      kind: 'number',
      title: 'Wrong victims',
      description: 'Workers that went instead of those that were drained, in the chosen time. Must stay 0.',
      unit: 'short',
      queries: [{ expr: `sum(increase(${of('drape_wrong_victim_total')}[$__range]))`, legend: '' }],
      width: 4,
      thresholds: [[1, 'red']],
      runbooks: ['wrong-victim'],
    },
  ],
}

const demand: Row = {
  title: 'Demand',
  panels: [
    {
      kind: 'areas',
      title: 'Jobs',
      description: 'What waits and what is in hand, by pool. Pools of the same engines see the same jobs.',
      unit: 'short',
      queries: [{ expr: highest('pool, state', 'drape_pool_jobs', POOL), legend: '{{pool}} {{state}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Oldest wait',
      description: 'How long the oldest job of each pool has waited, in steps of 5 s.',
      unit: 's',
      queries: [{ expr: highest('pool', 'drape_pool_oldest_wait_seconds', POOL), legend: '{{pool}}' }],
      width: 12,
      thresholds: [[60, 'red']],
      runbooks: ['pool-at-maximum', 'pool-cost-capped'],
    },
  ],
}

const decisions: Row = {
  title: 'Decisions, and why not more',
  panels: [
    {
      kind: 'lines',
      title: 'Wanted, ready, and the bounds',
      description: 'Workers that there should be, at least and at most, and those that are ready.',
      unit: 'short',
      queries: [
        { expr: highest('pool, bound', BOUNDS, POOL), legend: '{{pool}} {{bound}}' },
        { expr: highest('pool', 'drape_pool_ready_workers', POOL), legend: '{{pool}} ready' },
      ],
      width: 12,
      runbooks: ['pool-workers-missing'],
    },
    {
      kind: 'areas',
      title: 'Workers by what they do',
      description:
        'Starting, idle, busy, draining, drained; silent ones run but say nothing; unlisted ones are beyond 200 of a pool.',
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
      title: 'Why limited',
      description: 'The rules that keep a pool from the number its demand asks for, while they do.',
      unit: 'short',
      queries: [{ expr: highest('pool, by', 'drape_pool_limited', POOL), legend: '{{pool}}: {{by}}' }],
      width: 12,
      runbooks: ['pool-at-maximum', 'pool-cost-capped'],
    },
    {
      kind: 'states',
      title: 'Conditions',
      description: 'Conditions of pools that are worth a look while they hold.',
      unit: 'short',
      queries: [{ expr: highest('pool, type', 'drape_pool_condition', POOL), legend: '{{pool}}: {{type}}' }],
      width: 12,
      runbooks: ['pool-stalled'],
    },
    {
      kind: 'lines',
      title: 'Changes of size',
      description: 'In ten minutes, up and down. Both at once for long is a pool that swings.',
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
      title: 'From new work to a decision',
      description: 'From the word of new work to the end of the look at a pool; half and 95 % within.',
      unit: 's',
      queries: [0.5, 0.95].map((q) => ({ expr: quantile(q, '', 'drape_decision_seconds'), legend: `p${q * 100}` })),
      width: 8,
      thresholds: [[5, 'red']],
      runbooks: ['decisions-slow'],
    },
    {
      kind: 'lines',
      title: 'Cold starts of workers',
      description:
        "From the creation of a worker's pod to its being ready: nodes, images, models. Half and 95 % within, over an hour.",
      unit: 's',
      queries: [0.5, 0.95].map((q) => ({
        expr: `histogram_quantile(${q}, sum by (le) (rate(${of('drape_worker_start_seconds_bucket')}[1h])))`,
        legend: `p${q * 100}`,
      })),
      width: 8,
      runbooks: ['pool-workers-missing'],
    },
  ],
}

const cost: Row = {
  title: 'Cost',
  panels: [
    {
      kind: 'areas',
      title: 'Cost an hour',
      description: 'Of the workers that are there, by pool.',
      unit: 'short',
      queries: [{ expr: highest('pool', 'drape_pool_hourly_cost', POOL), legend: '{{pool}}' }],
      width: 12,
      runbooks: ['pool-cost-capped'],
    },
    {
      kind: 'bars',
      title: 'Cost of the chosen time',
      description: 'Mean cost an hour times the hours, by pool.',
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
      description: 'What all chosen pools cost over what was completed in the last hour, for all engines.',
      unit: 'short',
      queries: [
        {
          expr: `1000 * sum(max by (pool) (avg_over_time(${of('drape_pool_hourly_cost', POOL)}[1h]))) / sum(increase(${of('drape_generations_finished_total', 'status="COMPLETED"')}[1h]))`,
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
      title: 'Looks at objects',
      description:
        'A second, by kind and outcome. Again: somebody else was faster. Failed: see the log of the controller.',
      unit: 'ops',
      queries: [{ expr: sumRate('kind, outcome', 'drape_reconcile_seconds_count'), legend: '{{kind}} {{outcome}}' }],
      width: 12,
      runbooks: ['reconciles-fail'],
    },
    {
      kind: 'lines',
      title: 'Seconds of a look: 95 % within',
      description: 'By kind.',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'kind', 'drape_reconcile_seconds'), legend: '{{kind}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Objects that wait to be looked at',
      description: 'By kind. A number that only grows: the controller does not keep up.',
      unit: 'short',
      queries: [{ expr: highest('kind', 'drape_reconcile_waiting'), legend: '{{kind}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'Last word of the API server',
      description: 'By kind. A watch that is silent for 40 s is opened anew.',
      unit: 's',
      queries: [{ expr: highest('kind', 'drape_watch_age_seconds'), legend: '{{kind}}' }],
      width: 8,
      thresholds: [[90, 'red']],
      runbooks: ['watch-stale'],
    },
    {
      kind: 'lines',
      title: 'Looks that found nothing',
      description: 'In five minutes: times that demand (Postgres) or workers (Redis) could not be read.',
      unit: 'short',
      queries: [{ expr: `sum by (part) (increase(${of('drape_stale_samples_total')}[5m]))`, legend: '{{part}}' }],
      width: 8,
      runbooks: ['demand-unreadable'],
    },
  ],
}

export const pools: Dashboard = {
  name: 'pools',
  title: 'Pools',
  description:
    'Workers that come and go: the demand, what was decided, why not more, what it costs, and the controller itself.',
  variables: [{ name: 'pool', label: 'Pool', metric: 'drape_pool_bounds' }],
  rows: [glance, demand, decisions, cost, controller],
}
