import { SERVICE_FAILURE_CODES } from '../../api/shared/contract/error-codes.ts'
import { STAGES } from '../../api/shared/engines/stage-order.ts'
import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, mean, of, quantile, ratio, sumRate } from './promql.ts'

const ENGINE = 'engine=~"$engine"'
const FINISHED = 'drape_generations_finished_total'
const WHOLE = 'drape_generation_seconds'
const COMPLETED = 'status="COMPLETED"'
const WAITING = 'state=~"waiting|queued"'
/** Sequential stages; all other stages are substages of `engine`. */
const SEQUENCE = STAGES.join('|')

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Accepted',
      description: 'Generations accepted per minute, all engines.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('', 'drape_generations_accepted_total')}`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Completed',
      description: 'Generations completed per minute.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('', FINISHED, COMPLETED, ENGINE)}`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Failed',
      description: 'Share of finished generations without a result, for any reason.',
      unit: 'percentunit',
      queries: [
        {
          expr: ratio(
            `(${sumRate('', FINISHED, 'status="FAILED"', ENGINE)} or vector(0))`,
            sumRate('', FINISHED, ENGINE),
          ),
          legend: '',
        },
      ],
      width: 4,
      thresholds: [
        [0.1, 'yellow'],
        [0.5, 'red'],
      ],
      runbooks: ['refusals-unusual'],
    },
    {
      kind: 'number',
      title: 'Median time to result',
      description: 'Time from the acceptance of a generation to the stored result.',
      unit: 's',
      queries: [{ expr: quantile(0.5, '', WHOLE, COMPLETED, ENGINE), legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Oldest wait',
      description: 'Time that the oldest generation has waited for a worker.',
      unit: 's',
      queries: [
        { expr: `${highest('', 'drape_generations_oldest_seconds', WAITING, ENGINE)} or vector(0)`, legend: '' },
      ],
      width: 4,
      thresholds: [
        [30, 'yellow'],
        [120, 'red'],
      ],
      runbooks: ['no-workers', 'backlog-without-pool'],
    },
    {
      kind: 'number',
      title: 'Slots',
      description: 'Max number of try-ons that all live workers can run at the same time.',
      unit: 'short',
      queries: [{ expr: highest('', 'drape_worker_slots'), legend: '' }],
      width: 4,
      runbooks: ['no-workers'],
    },
  ],
}

const time: Row = {
  title: 'Time to result',
  panels: [
    {
      kind: 'areas',
      title: 'Mean time to result by stage',
      description:
        'Mean time of the successive stages: wait for a worker, decoding, safety checks, engine, composing, mark, encoding.',
      unit: 's',
      queries: [
        { expr: mean('', 'drape_queue_wait_seconds'), legend: 'wait' },
        { expr: mean('stage', 'drape_stage_seconds', `stage=~"${SEQUENCE}"`, ENGINE), legend: '{{stage}}' },
      ],
      width: 12,
      runbooks: ['time-to-result-burns-fast'],
    },
    {
      kind: 'lines',
      title: 'Time to result',
      description: '50th, 95th and 99th percentile of the completed generations.',
      unit: 's',
      queries: [0.5, 0.95, 0.99].map((q) => ({
        expr: quantile(q, 'engine', WHOLE, COMPLETED, ENGINE),
        legend: `p${q * 100} {{engine}}`,
      })),
      width: 12,
      runbooks: ['time-to-result-burns-fast', 'budget-burns-slowly'],
    },
    {
      kind: 'heatmap',
      title: 'Distribution of time to result',
      description:
        'Number of completed generations by duration. Two bands mean two kinds of generations: warm and cold.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (le) (${`increase(${of(`${WHOLE}_bucket`, COMPLETED, ENGINE)}[$__rate_interval])`})`,
          legend: '{{le}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Wait for a worker',
      description: 'Time from the acceptance to the start of an attempt, 50th and 95th percentile.',
      unit: 's',
      queries: [0.5, 0.95].map((q) => ({ expr: quantile(q, '', 'drape_queue_wait_seconds'), legend: `p${q * 100}` })),
      width: 12,
      runbooks: ['start-burns-fast'],
    },
    {
      kind: 'areas',
      title: 'Inside the engine',
      description: 'Mean duration of each stage of the engine. The stages depend on the engine.',
      unit: 's',
      queries: [
        {
          expr: mean('engine, stage', 'drape_stage_seconds', `stage!~"${SEQUENCE}"`, ENGINE),
          legend: '{{engine}} {{stage}}',
        },
      ],
      width: 12,
    },
  ],
}

const backlog: Row = {
  title: 'Backlog',
  panels: [
    {
      kind: 'areas',
      title: 'Unfinished generations',
      description:
        'Waiting (for the relay), queued (for a worker) or running. The relay queues as many generations as there are slots.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (state) (${highest('namespace, engine, state', 'drape_generations_unfinished', ENGINE)})`,
          legend: '{{state}}',
        },
      ],
      width: 12,
      runbooks: ['no-workers', 'nothing-dispatched'],
    },
    {
      kind: 'lines',
      title: 'Oldest unfinished generation by engine',
      description: 'Time since the acceptance of the oldest generation in each state.',
      unit: 's',
      queries: [
        { expr: highest('engine, state', 'drape_generations_oldest_seconds', ENGINE), legend: '{{engine}} {{state}}' },
      ],
      width: 12,
      thresholds: [[120, 'red']],
      runbooks: ['no-workers', 'backlog-without-pool'],
    },
    {
      kind: 'lines',
      title: 'Slots and running try-ons',
      description: 'If the number of running try-ons stays at the number of slots, add workers.',
      unit: 'short',
      queries: [
        { expr: highest('', 'drape_worker_slots'), legend: 'slots' },
        {
          expr: `sum(${highest('namespace, engine', 'drape_generations_unfinished', 'state="running"')}) or vector(0)`,
          legend: 'running',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Relay',
      description:
        'Jobs dispatched to the queue per second, and generations recovered after an expired lease, a loss in the queue or an exceeded deadline.',
      unit: 'ops',
      queries: [
        { expr: sumRate('', 'drape_relay_dispatched_total'), legend: 'dispatched' },
        { expr: sumRate('reason', 'drape_relay_recovered_total'), legend: 'recovered: {{reason}}' },
      ],
      width: 12,
      runbooks: ['nothing-dispatched'],
    },
  ],
}

const outcomes: Row = {
  title: 'Outcomes',
  panels: [
    {
      kind: 'areas',
      title: 'Finished generations by status and code',
      description: `Per minute. Internal errors: ${SERVICE_FAILURE_CODES.join(', ')}. All other codes are caused by the images or the caller.`,
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('status, code', FINISHED, ENGINE)}`, legend: '{{status}} {{code}}' }],
      width: 12,
      runbooks: ['refusals-unusual'],
    },
    {
      kind: 'bars',
      title: 'Failure codes',
      description: 'Failed generations in the selected time range, by code and engine.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (code, engine) (increase(${of(FINISHED, 'status="FAILED"', ENGINE)}[$__range]))`,
          legend: '{{code}} {{engine}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Runs of engines',
      description:
        'Per minute, by outcome: done, refused (unsuitable images), failed, stopped. The preparation of a photo has no engine.',
      unit: 'short',
      queries: [
        {
          expr: `60 * ${sumRate('work, engine, outcome', 'drape_inference_runs_total')}`,
          legend: '{{work}} {{engine}} {{outcome}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Jobs',
      description:
        'Per minute, by outcome. late: finished after the lease expired. over: the generation had finished before.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('outcome', 'drape_jobs_total')}`, legend: '{{outcome}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Cold starts of the inference process',
      description: 'Starts per 10 minutes, and the restarts after a crash among them.',
      unit: 'short',
      queries: [
        { expr: `sum(increase(${of('drape_inference_start_seconds_count')}[10m]))`, legend: 'starts' },
        { expr: `sum(increase(${of('drape_inference_restarts_total')}[10m]))`, legend: 'after a crash' },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Duration of a cold start',
      description:
        'Mean time from the start of an inference process until its models are loaded, in the selected time range.',
      unit: 's',
      queries: [
        {
          expr: ratio(
            `sum(${of('drape_inference_start_seconds_sum')})`,
            `sum(${of('drape_inference_start_seconds_count')})`,
          ),
          legend: 'mean of all that run',
        },
      ],
      width: 12,
    },
  ],
}

export const pipeline: Dashboard = {
  name: 'pipeline',
  title: 'Pipeline',
  description: 'From an accepted generation to its result: duration by stage, backlog, failures and their reasons.',
  variables: [{ name: 'engine', label: 'Engine', metric: FINISHED }],
  rows: [glance, time, backlog, outcomes],
}
