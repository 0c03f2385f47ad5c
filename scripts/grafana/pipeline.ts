import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, mean, of, quantile, sumRate } from './promql.ts'

const ENGINE = 'engine=~"$engine"'
const FINISHED = 'drape_generations_finished_total'
const WHOLE = 'drape_generation_seconds'
const COMPLETED = 'status="COMPLETED"'
const WAITING = 'state=~"waiting|queued"'
/** One after the other; every other stage is a part of the engine's. */
const STAGES = 'decode|engine|composite|encode'

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Accepted',
      description: 'Generations accepted a minute, for all engines.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('', 'drape_generations_accepted_total')}`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Completed',
      description: 'Generations completed a minute.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('', FINISHED, COMPLETED, ENGINE)}`, legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Failed',
      description: 'Share of generations that ended without a result, whoever is at fault.',
      unit: 'percentunit',
      queries: [
        {
          expr: `(${sumRate('', FINISHED, 'status="FAILED"', ENGINE)} or vector(0)) / ${sumRate('', FINISHED, ENGINE)}`,
          legend: '',
        },
      ],
      width: 4,
      thresholds: [
        [0.1, 'yellow'],
        [0.5, 'red'],
      ],
      runbooks: ['generations-fail', 'refusals-unusual'],
    },
    {
      kind: 'number',
      title: 'Half have a result within',
      description: 'From the acceptance to the stored result.',
      unit: 's',
      queries: [{ expr: quantile(0.5, '', WHOLE, COMPLETED, ENGINE), legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Oldest wait',
      description: 'How long the oldest generation has waited for its start.',
      unit: 's',
      queries: [
        { expr: `${highest('', 'drape_generations_oldest_seconds', WAITING, ENGINE)} or vector(0)`, legend: '' },
      ],
      width: 4,
      thresholds: [
        [30, 'yellow'],
        [120, 'red'],
      ],
      runbooks: ['backlog-old', 'no-workers'],
    },
    {
      kind: 'number',
      title: 'Slots',
      description: 'Try-ons that all live workers can run at once.',
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
      description: 'What a result waits for, one after the other: a worker, decoding, the engine, composing, encoding.',
      unit: 's',
      queries: [
        { expr: mean('', 'drape_queue_wait_seconds'), legend: 'wait' },
        { expr: mean('stage', 'drape_stage_seconds', `stage=~"${STAGES}"`, ENGINE), legend: '{{stage}}' },
      ],
      width: 12,
      runbooks: ['time-to-result-burns-fast'],
    },
    {
      kind: 'lines',
      title: 'Seconds to result',
      description: 'Half, 95 % and 99 % of the completed generations are there within.',
      unit: 's',
      queries: [0.5, 0.95, 0.99].map((q) => ({
        expr: quantile(q, 'engine', WHOLE, COMPLETED, ENGINE),
        legend: `p${q * 100} {{engine}}`,
      })),
      width: 12,
      thresholds: [[30, 'red']],
      runbooks: ['time-to-result-burns-fast', 'time-to-result-burns-slowly'],
    },
    {
      kind: 'heatmap',
      title: 'Seconds to result, all of them',
      description:
        'How many completed generations took how long. Two bands are two kinds of generation: warm and cold.',
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
      description: 'From the acceptance to the start of an attempt; half and 95 % within.',
      unit: 's',
      queries: [0.5, 0.95].map((q) => ({ expr: quantile(q, '', 'drape_queue_wait_seconds'), legend: `p${q * 100}` })),
      width: 12,
      runbooks: ['backlog-old', 'pool-at-maximum'],
    },
    {
      kind: 'areas',
      title: 'Inside the engine',
      description: 'Mean seconds of each part of the engine. Which parts there are depends on the engine.',
      unit: 's',
      queries: [
        {
          expr: mean('engine, stage', 'drape_stage_seconds', `stage!~"${STAGES}"`, ENGINE),
          legend: '{{engine}} {{stage}}',
        },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Later than 30 s, against the objective',
      description:
        'Share of generations without a result within 30 s, over three windows. 0.144 for an hour spends 30 days in two.',
      unit: 'percentunit',
      queries: ['5m', '1h', '6h'].map((window) => ({
        expr: highest('namespace', `drape:slo_error_ratio:${window}`, 'slo="time-to-result"'),
        legend: `${window} {{namespace}}`,
      })),
      width: 12,
      thresholds: [
        [0.01, 'yellow'],
        [0.144, 'red'],
      ],
      runbooks: ['time-to-result-burns-fast', 'time-to-result-burns-slowly'],
    },
  ],
}

const backlog: Row = {
  title: 'Backlog',
  panels: [
    {
      kind: 'areas',
      title: 'Generations not ended',
      description: 'Waiting for the relay, queued for a worker, running. The queue is kept as deep as there are slots.',
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
      title: 'Oldest by engine',
      description: 'Since the oldest generation in each state was accepted.',
      unit: 's',
      queries: [
        { expr: highest('engine, state', 'drape_generations_oldest_seconds', ENGINE), legend: '{{engine}} {{state}}' },
      ],
      width: 12,
      thresholds: [[120, 'red']],
      runbooks: ['backlog-old'],
    },
    {
      kind: 'lines',
      title: 'Slots and running try-ons',
      description: 'Running ones at the number of slots for long: more workers are needed.',
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
        'Jobs handed to the queue a second, and generations taken back: from lost workers, the queue, the deadline.',
      unit: 'ops',
      queries: [
        { expr: sumRate('', 'drape_relay_dispatched_total'), legend: 'dispatched' },
        { expr: sumRate('reason', 'drape_relay_recovered_total'), legend: 'taken back: {{reason}}' },
      ],
      width: 12,
      runbooks: ['nothing-dispatched', 'workers-lost', 'queue-forgets'],
    },
  ],
}

const outcomes: Row = {
  title: 'Outcomes',
  panels: [
    {
      kind: 'areas',
      title: 'Generations ended, by status and code',
      description:
        'A minute. GENERATION_FAILED and GENERATION_TIMEOUT are our own fault, the others the pictures or the caller.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('status, code', FINISHED, ENGINE)}`, legend: '{{status}} {{code}}' }],
      width: 12,
      runbooks: ['generations-fail', 'refusals-unusual'],
    },
    {
      kind: 'bars',
      title: 'Failure codes',
      description: 'Generations that failed in the chosen time, by code and engine.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (code, engine) (increase(${of(FINISHED, 'status="FAILED"', ENGINE)}[$__range]))`,
          legend: '{{code}} {{engine}}',
        },
      ],
      width: 12,
      runbooks: ['generations-fail'],
    },
    {
      kind: 'areas',
      title: 'Runs of engines',
      description:
        'A minute, by outcome: done, refused (the pictures do not suit), failed, stopped. Preparing a photo has no engine.',
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
        'A minute, by outcome. Late ones were taken from a worker that was held for lost; over ones had ended before.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('outcome', 'drape_jobs_total')}`, legend: '{{outcome}}' }],
      width: 12,
      runbooks: ['workers-lost'],
    },
    {
      kind: 'lines',
      title: 'Cold starts of the inference process',
      description: 'Starts in ten minutes, and those of them that were needed again after a crash.',
      unit: 'short',
      queries: [
        { expr: `sum(increase(${of('drape_inference_start_seconds_count')}[10m]))`, legend: 'starts' },
        { expr: `sum(increase(${of('drape_inference_restarts_total')}[10m]))`, legend: 'after a crash' },
      ],
      width: 12,
      runbooks: ['inference-restarts'],
    },
    {
      kind: 'lines',
      title: 'Seconds of a cold start',
      description: 'From the start of an inference process to its models being open; mean over the chosen time.',
      unit: 's',
      queries: [
        {
          expr: `sum(${of('drape_inference_start_seconds_sum')}) / sum(${of('drape_inference_start_seconds_count')})`,
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
  description: 'From an accepted generation to its result: how long, split by stage, what waits, what fails and why.',
  variables: [{ name: 'engine', label: 'Engine', metric: FINISHED }],
  rows: [glance, time, backlog, outcomes],
}
