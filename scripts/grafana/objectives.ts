import type { Dashboard } from './dashboard.ts'
import type { Panel, Row } from './panel.ts'
import { highest, of, quantile, ratio, sumRate } from './promql.ts'

const ENGINE = 'engine=~"$engine"'
const FINISHED = 'drape_generations_finished_total'
const COMPLETED = 'status="COMPLETED"'
/** Objectives of generations: name in the rules, title, and the runbooks of their alerts. */
const OF_GENERATIONS = [
  ['start', 'start', 'Generations that start in time.'],
  ['success', 'success', 'Generations without an internal failure.'],
  ['time-to-result', 'time to result', 'Generations that complete in time.'],
] as const
const RATES = 'A burn rate of 1 consumes the budget in 30 days, 14.4 in 2 days.'

const budgets: Row = {
  title: 'Error budgets',
  panels: [
    {
      kind: 'number',
      title: 'Budget left: availability',
      description:
        'Remaining share of the 5xx responses that the objective allows over 30 days. Below 0, the objective is missed.',
      unit: 'percentunit',
      queries: [{ expr: `min(${of('drape:slo_budget_left:30d', 'slo="availability"')})`, legend: '' }],
      width: 6,
      max: 1,
      isSigned: true,
      runbooks: runbooksOf('availability'),
    },
    ...OF_GENERATIONS.map(
      ([slo, name, about]): Panel => ({
        kind: 'number',
        title: `Budget left: ${name}`,
        description: `${about} Smallest remaining error budget of all engines and classes over 30 days. Below 0, the objective is missed.`,
        unit: 'percentunit',
        queries: [{ expr: `min(${of('drape:slo_budget_left:30d', `slo="${slo}"`, ENGINE)})`, legend: '' }],
        width: 6,
        max: 1,
        isSigned: true,
        runbooks: runbooksOf(slo),
      }),
    ),
    {
      kind: 'lines',
      title: 'Budget left of generations',
      description: 'Remaining error budget over 30 days by objective, engine and class of service.',
      unit: 'percentunit',
      queries: [
        {
          expr: highest('slo, engine, class', 'drape:slo_budget_left:30d', 'slo!="availability"', ENGINE),
          legend: '{{slo}} {{engine}} {{class}}',
        },
      ],
      width: 12,
      isSigned: true,
    },
    {
      kind: 'lines',
      title: 'Burn rate: availability',
      description: RATES,
      unit: 'short',
      queries: ['5m', '1h', '6h'].map((window) => ({
        expr: highest('namespace', `drape:slo_burn_rate:${window}`, 'slo="availability"'),
        legend: `${window} {{namespace}}`,
      })),
      width: 12,
      thresholds: [
        [1, 'yellow'],
        [14.4, 'red'],
      ],
      runbooks: runbooksOf('availability'),
    },
    ...OF_GENERATIONS.map(
      ([slo, name]): Panel => ({
        kind: 'lines',
        title: `Burn rate over 1 hour: ${name}`,
        description: RATES,
        unit: 'short',
        queries: [
          {
            expr: highest('engine, class', 'drape:slo_burn_rate:1h', `slo="${slo}"`, ENGINE),
            legend: '{{engine}} {{class}}',
          },
        ],
        width: 8,
        thresholds: [
          [1, 'yellow'],
          [14.4, 'red'],
        ],
        runbooks: runbooksOf(slo),
      }),
    ),
  ],
}

const latency: Row = {
  title: 'Latency by engine and class of service',
  panels: [
    {
      kind: 'lines',
      title: 'Wait for the first start',
      description: '95th percentile of the generations that started. Points are traces.',
      unit: 's',
      queries: [
        {
          expr: quantile(0.95, 'engine, class', 'drape_generation_start_seconds', 'outcome="started"', ENGINE),
          legend: '{{engine}} {{class}}',
          exemplars: true,
        },
      ],
      width: 12,
      runbooks: runbooksOf('start'),
    },
    {
      kind: 'lines',
      title: 'Time to result by class',
      description: '95th percentile of the completed generations. Points are traces.',
      unit: 's',
      queries: [
        {
          expr: quantile(0.95, 'engine, class', 'drape_generation_seconds', COMPLETED, ENGINE),
          legend: '{{engine}} {{class}}',
          exemplars: true,
        },
      ],
      width: 12,
      runbooks: runbooksOf('time-to-result'),
    },
  ],
}

const resources: Row = {
  title: 'Cost and GPUs',
  panels: [
    {
      kind: 'lines',
      title: 'Cost per try-on',
      description:
        'Cost of all pools in the last hour divided by the generations completed in it, in the unit of hourlyCost. Empty while nothing completes or no pool has a cost.',
      unit: 'short',
      queries: [
        {
          expr: ratio(
            `sum(max by (namespace, pool) (avg_over_time(${of('drape_pool_hourly_cost')}[1h])))`,
            `sum(increase(${of(FINISHED, COMPLETED)}[1h]))`,
          ),
          legend: 'per completed try-on',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Completed try-ons per minute',
      description: 'By engine and class of service.',
      unit: 'short',
      queries: [
        { expr: `60 * ${sumRate('engine, class', FINISHED, COMPLETED, ENGINE)}`, legend: '{{engine}} {{class}}' },
      ],
      width: 12,
    },
    gpuPanel('GPU utilization', 'Share of the time in which the GPU of a worker runs a kernel.', {
      unit: 'percent',
      metric: 'DCGM_FI_DEV_GPU_UTIL',
      max: 100,
    }),
    gpuPanel('GPU memory in use', 'Memory of the GPU of a worker that is allocated.', {
      unit: 'mbytes',
      metric: 'DCGM_FI_DEV_FB_USED',
    }),
  ],
}

/**
 * Series of NVIDIA's DCGM exporter. Prometheus renames the labels that name the pod to exported_*, unless its scrape
 * configuration keeps the labels of the exporter.
 */
function gpuPanel(
  title: string,
  about: string,
  { metric, unit, max }: { metric: string; unit: string; max?: number },
): Panel {
  const renamed = `max by (exported_pod, gpu) (${metric}{exported_namespace=~"$namespace", exported_pod!=""})`
  const kept = `max by (pod, gpu) (${metric}{namespace=~"$namespace", pod!="", exported_pod=""})`
  return {
    kind: 'lines',
    title,
    description: `${about} Metric ${metric} of NVIDIA's DCGM exporter.`,
    unit,
    queries: [
      { expr: renamed, legend: '{{exported_pod}} GPU {{gpu}}' },
      { expr: kept, legend: '{{pod}} GPU {{gpu}}' },
    ],
    width: 12,
    max,
    noData: "No DCGM metrics of pods in this namespace: there are no GPUs, or NVIDIA's dcgm-exporter is not scraped.",
  }
}

function runbooksOf(slo: string): string[] {
  return [`${slo}-burns-fast`, 'budget-burns-slowly']
}

export const objectives: Dashboard = {
  name: 'objectives',
  title: 'Objectives',
  description:
    'Service level objectives: error budgets, burn rates and latency by engine and class, cost per try-on, GPUs.',
  variables: [{ name: 'engine', label: 'Engine', metric: FINISHED }],
  rows: [budgets, latency, resources],
}
