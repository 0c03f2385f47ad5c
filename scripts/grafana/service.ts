import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, mean, of, ofProcess, quantile, rate, sumRate } from './promql.ts'

const REQUESTS = 'drape_http_requests_total'
const TIMES = 'drape_http_request_seconds'
const ROUTE = 'route=~"$route"'
const FAILED = 'status=~"5.."'
/** Answers that take as long as their caller is told to wait. */
const PROMPT = 'route!~".*/(sync|events)"'

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Budget left: availability',
      description:
        'Of the 5xx answers that 99.9 % over 30 days allow, how much is left. Below 0 the objective is missed.',
      unit: 'percentunit',
      queries: [{ expr: `min(${of('drape:slo_budget_left:30d', 'slo="availability"')})`, legend: '' }],
      width: 4,
      max: 1,
      runbooks: ['availability-burns-fast', 'availability-burns-slowly'],
    },
    {
      kind: 'number',
      title: 'Budget left: time to result',
      description: 'Of the results later than 30 s that 99 % over 30 days allow, how much is left.',
      unit: 'percentunit',
      queries: [{ expr: `min(${of('drape:slo_budget_left:30d', 'slo="time-to-result"')})`, legend: '' }],
      width: 4,
      max: 1,
      runbooks: ['time-to-result-burns-fast', 'time-to-result-burns-slowly'],
    },
    {
      kind: 'number',
      title: 'Requests',
      description: 'Requests answered a second, of all routes.',
      unit: 'reqps',
      queries: [{ expr: sumRate('', REQUESTS), legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Errors',
      description: 'Share of requests that were answered with 5xx.',
      unit: 'percentunit',
      queries: [{ expr: `(${sumRate('', REQUESTS, FAILED)} or vector(0)) / ${sumRate('', REQUESTS)}`, legend: '' }],
      width: 4,
      thresholds: [
        [0.001, 'yellow'],
        [0.01, 'red'],
      ],
    },
    {
      kind: 'number',
      title: '95 % answered within',
      description: 'Without the routes that answer only when a result is there (sync, events).',
      unit: 's',
      queries: [{ expr: quantile(0.95, '', TIMES, PROMPT), legend: '' }],
      width: 4,
      thresholds: [
        [1, 'yellow'],
        [3, 'red'],
      ],
    },
    {
      kind: 'number',
      title: 'Alerts',
      description: 'Alerts of Drape that fire now.',
      unit: 'short',
      queries: [
        {
          expr: 'count(max by (alertname, namespace) (ALERTS{alertname=~"Drape.*", alertstate="firing", namespace=~"$namespace"})) or vector(0)',
          legend: '',
        },
      ],
      width: 4,
      thresholds: [[1, 'red']],
    },
  ],
}

const traffic: Row = {
  title: 'Traffic and errors',
  panels: [
    {
      kind: 'areas',
      title: 'Requests by route',
      description: 'Requests answered a second. What does not match any route is called unknown.',
      unit: 'reqps',
      queries: [{ expr: sumRate('method, route', REQUESTS, ROUTE), legend: '{{method}} {{route}}' }],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Answers by status',
      description: '4xx are callers at fault; 429 is a caller beyond its limits; 402 an account without credits.',
      unit: 'reqps',
      queries: [{ expr: sumRate('status', REQUESTS, ROUTE), legend: '{{status}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Share of 5xx by route',
      description: 'The log of the API has a line with the request id for each.',
      unit: 'percentunit',
      queries: [
        {
          expr: `${sumRate('method, route', REQUESTS, ROUTE, FAILED)} / ${sumRate('method, route', REQUESTS, ROUTE)}`,
          legend: '{{method}} {{route}}',
        },
      ],
      width: 12,
      thresholds: [[0.001, 'red']],
      runbooks: ['availability-burns-fast'],
    },
    {
      kind: 'lines',
      title: 'Error ratio against the objective',
      description: 'Share of 5xx over three windows. 0.0144 for an hour spends the budget of 30 days in two days.',
      unit: 'percentunit',
      queries: ['5m', '1h', '6h'].map((window) => ({
        expr: highest('namespace', `drape:slo_error_ratio:${window}`, 'slo="availability"'),
        legend: `${window} {{namespace}}`,
      })),
      width: 12,
      thresholds: [
        [0.001, 'yellow'],
        [0.0144, 'red'],
      ],
      runbooks: ['availability-burns-fast', 'availability-burns-slowly'],
    },
  ],
}

const latency: Row = {
  title: 'Latency',
  panels: [
    {
      kind: 'lines',
      title: 'Seconds to answer',
      description: 'Half, 95 % and 99 % of the requests are answered within. Without the routes sync and events.',
      unit: 's',
      queries: [0.5, 0.95, 0.99].map((q) => ({ expr: quantile(q, '', TIMES, PROMPT, ROUTE), legend: `p${q * 100}` })),
      width: 12,
    },
    {
      kind: 'lines',
      title: '95 % by route',
      description: 'Which route is slow.',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'method, route', TIMES, ROUTE), legend: '{{method}} {{route}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Requests in flight',
      description: 'Requests that are being answered, by process. A number that only grows is a process that hangs.',
      unit: 'short',
      queries: [{ expr: of('drape_http_requests_in_flight'), legend: '{{instance}}' }],
      width: 12,
    },
    {
      kind: 'table',
      title: 'Routes',
      description: 'Requests a second and mean seconds of each route.',
      unit: 'short',
      queries: [
        { expr: sumRate('method, route', REQUESTS, ROUTE), legend: 'requests a second' },
        { expr: mean('method, route', TIMES, ROUTE), legend: 'mean seconds' },
      ],
      width: 12,
    },
  ],
}

const credits: Row = {
  title: 'Credits',
  panels: [
    {
      kind: 'lines',
      title: 'Credits taken and given back',
      description: 'A minute. Every failed generation gives its credit back.',
      unit: 'short',
      queries: [
        { expr: `60 * ${sumRate('', 'drape_credits_reserved_total')}`, legend: 'taken' },
        { expr: `60 * ${sumRate('', 'drape_credits_refunded_total')}`, legend: 'given back' },
      ],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Credits given back by code',
      description: 'A minute, by the code of the failure. GENERATION_FAILED and GENERATION_TIMEOUT are our own fault.',
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('code', 'drape_credits_refunded_total')}`, legend: '{{code}}' }],
      width: 12,
      runbooks: ['generations-fail', 'refusals-unusual'],
    },
  ],
}

const resources: Row = {
  title: 'Processes and what they need',
  panels: [
    {
      kind: 'table',
      title: 'What runs',
      description: 'Processes by version. Two versions for long are an update that does not go on.',
      unit: 'short',
      queries: [
        { expr: `count by (namespace, process, version, node) (${of('drape_build_info')})`, legend: 'processes' },
      ],
      width: 12,
      runbooks: ['api-absent', 'controller-absent'],
    },
    {
      kind: 'lines',
      title: 'Ready processes',
      description: 'By kind. A process is ready while Postgres, Redis and the object store answer it.',
      unit: 'short',
      queries: [{ expr: `sum by (process) (${ofProcess('drape_ready')})`, legend: '{{process}}' }],
      width: 12,
      runbooks: ['not-ready'],
    },
    {
      kind: 'lines',
      title: 'Object store: 95 % of the calls within',
      description: 'By operation, of API, workers and controller.',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'operation', 'drape_storage_seconds'), legend: '{{operation}}' }],
      width: 12,
      runbooks: ['object-storage-fails'],
    },
    {
      kind: 'areas',
      title: 'Object store: calls',
      description: 'A second, by operation and outcome.',
      unit: 'ops',
      queries: [
        { expr: sumRate('operation, outcome', 'drape_storage_seconds_count'), legend: '{{operation}} {{outcome}}' },
      ],
      width: 12,
      runbooks: ['object-storage-fails'],
    },
    {
      kind: 'lines',
      title: 'Connections to Postgres',
      description: 'At work, at rest, and statements that wait for one.',
      unit: 'short',
      queries: [{ expr: `sum by (state) (${of('drape_database_connections')})`, legend: '{{state}}' }],
      width: 12,
      runbooks: ['database-saturated'],
    },
    {
      kind: 'areas',
      title: 'Pictures fetched from URLs',
      description: 'A second, by outcome.',
      unit: 'ops',
      queries: [{ expr: sumRate('outcome', 'drape_fetch_seconds_count'), legend: '{{outcome}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Event loop: 99 % not later than',
      description: 'How late a process gets to its next piece of work.',
      unit: 's',
      queries: [{ expr: ofProcess('nodejs_eventloop_lag_p99_seconds'), legend: '{{process}} {{instance}}' }],
      width: 8,
      thresholds: [[0.5, 'red']],
      runbooks: ['event-loop-blocked'],
    },
    {
      kind: 'lines',
      title: 'Memory',
      description: 'Resident memory of each process, without the inference processes of workers.',
      unit: 'bytes',
      queries: [{ expr: ofProcess('process_resident_memory_bytes'), legend: '{{process}} {{instance}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'CPU',
      description: 'Cores that each process is at, without the inference processes of workers.',
      unit: 'short',
      queries: [
        {
          expr: `${rate('process_cpu_seconds_total')} * on (namespace, instance) group_left (process) ${of('drape_build_info')}`,
          legend: '{{process}} {{instance}}',
        },
      ],
      width: 8,
    },
  ],
}

const shops: Row = {
  title: 'Shops: webhooks, events, leads',
  panels: [
    {
      kind: 'areas',
      title: 'Webhooks',
      description: 'Attempts a second, by what came of them. Failed ones are given up.',
      unit: 'ops',
      queries: [{ expr: sumRate('outcome', 'drape_webhook_deliveries_total'), legend: '{{outcome}}' }],
      width: 8,
      runbooks: ['webhooks-late'],
    },
    {
      kind: 'lines',
      title: 'Webhooks: late by',
      description: 'Since when the webhook is due that should have been sent first.',
      unit: 's',
      queries: [{ expr: highest('namespace', 'drape_webhook_lag_seconds'), legend: '{{namespace}}' }],
      width: 8,
      thresholds: [[900, 'red']],
      runbooks: ['webhooks-late'],
    },
    {
      kind: 'areas',
      title: 'Analytics events',
      description: 'A second: taken from shops, and told to the provider where there is one.',
      unit: 'ops',
      queries: [
        { expr: sumRate('outcome', 'drape_events_total'), legend: '{{outcome}}' },
        { expr: sumRate('outcome', 'drape_events_forwarded_total'), legend: 'provider: {{outcome}}' },
      ],
      width: 8,
      runbooks: ['events-dead'],
    },
    {
      kind: 'lines',
      title: 'Leads in the last hour',
      description: 'Addresses that shoppers left, by whether the shop has them.',
      unit: 'short',
      queries: [{ expr: `sum by (outcome) (increase(${of('drape_leads_total')}[1h]))`, legend: '{{outcome}}' }],
      width: 8,
      runbooks: ['leads-lost'],
    },
  ],
}

export const service: Dashboard = {
  name: 'service',
  title: 'Service',
  description: 'What callers and shops notice: traffic, errors, latency, credits, and what the processes need for it.',
  variables: [{ name: 'route', label: 'Route', metric: REQUESTS }],
  rows: [glance, traffic, latency, credits, resources, shops],
}
