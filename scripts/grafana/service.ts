import { SERVICE_FAILURE_CODES } from '../../api/shared/contract/error-codes.ts'
import type { Dashboard } from './dashboard.ts'
import type { Row } from './panel.ts'
import { highest, mean, of, ofProcess, quantile, rate, ratio, sumRate } from './promql.ts'

const REQUESTS = 'drape_http_requests_total'
const TIMES = 'drape_http_request_seconds'
const ROUTE = 'route=~"$route"'
const FAILED = 'status=~"5.."'
/** Excludes routes that wait for a result. */
const PROMPT = 'route!~".*/(sync|events)"'

const glance: Row = {
  title: 'At a glance',
  panels: [
    {
      kind: 'number',
      title: 'Error budget left: availability',
      description:
        'Remaining share of the 5xx responses that the objective allows over 30 days. Below 0, the objective is missed.',
      unit: 'percentunit',
      queries: [{ expr: `min(${of('drape:slo_budget_left:30d', 'slo="availability"')})`, legend: '' }],
      width: 4,
      max: 1,
      isSigned: true,
      runbooks: ['availability-burns-fast', 'budget-burns-slowly'],
    },
    {
      kind: 'number',
      title: 'Error budget left: time to result',
      description:
        'Smallest remaining share of late or failed results of all engines and classes that the objective allows over 30 days.',
      unit: 'percentunit',
      queries: [{ expr: `min(${of('drape:slo_budget_left:30d', 'slo="time-to-result"')})`, legend: '' }],
      width: 4,
      max: 1,
      isSigned: true,
      runbooks: ['time-to-result-burns-fast', 'budget-burns-slowly'],
    },
    {
      kind: 'number',
      title: 'Requests',
      description: 'Completed requests per second, all routes.',
      unit: 'reqps',
      queries: [{ expr: sumRate('', REQUESTS), legend: '' }],
      width: 4,
    },
    {
      kind: 'number',
      title: 'Errors',
      description: 'Share of requests that failed with 5xx.',
      unit: 'percentunit',
      queries: [{ expr: ratio(`(${sumRate('', REQUESTS, FAILED)} or vector(0))`, sumRate('', REQUESTS)), legend: '' }],
      width: 4,
      thresholds: [
        [0.001, 'yellow'],
        [0.01, 'red'],
      ],
    },
    {
      kind: 'number',
      title: 'Response time, 95th percentile',
      description: 'Excludes the routes that wait for a result (sync, events).',
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
      description: 'Firing alerts of Drape.',
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
      description: 'Completed requests per second. Requests that match no route are shown as unknown.',
      unit: 'reqps',
      queries: [{ expr: sumRate('method, route', REQUESTS, ROUTE), legend: '{{method}} {{route}}' }],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Responses by status',
      description: '4xx: error of the caller. 429: caller over its limit. 402: account without credits.',
      unit: 'reqps',
      queries: [{ expr: sumRate('status', REQUESTS, ROUTE), legend: '{{status}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Share of 5xx by route',
      description: 'The log of the API contains a line with the request ID for each.',
      unit: 'percentunit',
      queries: [
        {
          expr: ratio(sumRate('method, route', REQUESTS, ROUTE, FAILED), sumRate('method, route', REQUESTS, ROUTE)),
          legend: '{{method}} {{route}}',
        },
      ],
      width: 12,
      thresholds: [[0.001, 'red']],
      runbooks: ['availability-burns-fast'],
    },
  ],
}

const latency: Row = {
  title: 'Latency',
  panels: [
    {
      kind: 'lines',
      title: 'Response time',
      description: '50th, 95th and 99th percentile. Excludes the routes sync and events.',
      unit: 's',
      queries: [0.5, 0.95, 0.99].map((q) => ({ expr: quantile(q, '', TIMES, PROMPT, ROUTE), legend: `p${q * 100}` })),
      width: 12,
    },
    {
      kind: 'lines',
      title: '95th percentile by route',
      description: 'Response time by route.',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'method, route', TIMES, ROUTE), legend: '{{method}} {{route}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Requests in flight',
      description: 'Requests in progress, by process. If the number only grows, the process hangs.',
      unit: 'short',
      queries: [{ expr: of('drape_http_requests_in_flight'), legend: '{{instance}}' }],
      width: 12,
    },
    {
      kind: 'table',
      title: 'Routes',
      description: 'Requests per second and mean duration of each route.',
      unit: 'short',
      queries: [
        { expr: sumRate('method, route', REQUESTS, ROUTE), legend: 'requests per second' },
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
      title: 'Credits reserved and refunded',
      description: 'Per minute. The credit of every failed generation is refunded.',
      unit: 'short',
      queries: [
        { expr: `60 * ${sumRate('', 'drape_credits_reserved_total')}`, legend: 'reserved' },
        { expr: `60 * ${sumRate('', 'drape_credits_refunded_total')}`, legend: 'refunded' },
      ],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Credits refunded by code',
      description: `Per minute, by error code. Internal errors: ${SERVICE_FAILURE_CODES.join(', ')}.`,
      unit: 'short',
      queries: [{ expr: `60 * ${sumRate('code', 'drape_credits_refunded_total')}`, legend: '{{code}}' }],
      width: 12,
      runbooks: ['refusals-unusual'],
    },
  ],
}

const resources: Row = {
  title: 'Processes and dependencies',
  panels: [
    {
      kind: 'table',
      title: 'Running versions',
      description: 'Processes by version. If 2 versions persist, a rollout is stuck.',
      unit: 'short',
      queries: [
        { expr: `count by (namespace, process, version, node) (${of('drape_build_info')})`, legend: 'processes' },
      ],
      width: 12,
      runbooks: ['api-absent', 'controller-absent'],
    },
    {
      kind: 'lines',
      title: 'Failing readiness checks',
      description:
        'Processes whose readiness check fails, by kind of process and check: postgres, redis, storage, and what a process checks of itself. `/readyz` of the process names the reason.',
      unit: 'short',
      queries: [{ expr: `sum by (process, check) (1 - ${ofProcess('drape_ready')})`, legend: '{{process}} {{check}}' }],
      width: 12,
      runbooks: ['postgres-down', 'redis-down', 'object-storage-fails', 'api-absent'],
    },
    {
      kind: 'lines',
      title: 'Object store: duration, 95th percentile',
      description: 'By operation, for API, workers and controller.',
      unit: 's',
      queries: [{ expr: quantile(0.95, 'operation', 'drape_storage_seconds'), legend: '{{operation}}' }],
      width: 12,
      runbooks: ['object-storage-fails'],
    },
    {
      kind: 'areas',
      title: 'Object store: calls',
      description: 'Per second, by operation and outcome.',
      unit: 'ops',
      queries: [
        { expr: sumRate('operation, outcome', 'drape_storage_seconds_count'), legend: '{{operation}} {{outcome}}' },
      ],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Connections to Postgres',
      description: 'Active and idle connections, and statements that wait for a connection.',
      unit: 'short',
      queries: [{ expr: `sum by (state) (${of('drape_database_connections')})`, legend: '{{state}}' }],
      width: 12,
    },
    {
      kind: 'areas',
      title: 'Images downloaded from URLs',
      description: 'Per second, by outcome.',
      unit: 'ops',
      queries: [{ expr: sumRate('outcome', 'drape_fetch_seconds_count'), legend: '{{outcome}}' }],
      width: 12,
    },
    {
      kind: 'lines',
      title: 'Event loop delay, 99th percentile',
      description: 'Delay of the event loop of each process.',
      unit: 's',
      queries: [{ expr: ofProcess('nodejs_eventloop_lag_p99_seconds'), legend: '{{process}} {{instance}}' }],
      width: 8,
      thresholds: [[0.5, 'red']],
    },
    {
      kind: 'lines',
      title: 'Memory',
      description: 'Resident memory of each process, excluding the inference processes of workers.',
      unit: 'bytes',
      queries: [{ expr: ofProcess('process_resident_memory_bytes'), legend: '{{process}} {{instance}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'CPU',
      description: 'CPU cores used by each process, excluding the inference processes of workers.',
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
  title: 'Shops: webhooks, events, leads, appeals',
  panels: [
    {
      kind: 'areas',
      title: 'Webhooks',
      description: 'Delivery attempts per second, by outcome. failed: Drape stops retrying.',
      unit: 'ops',
      queries: [{ expr: sumRate('outcome', 'drape_webhook_deliveries_total'), legend: '{{outcome}}' }],
      width: 8,
      runbooks: ['webhooks-late'],
    },
    {
      kind: 'lines',
      title: 'Webhooks: delay',
      description: 'Time since the oldest pending delivery was due.',
      unit: 's',
      queries: [{ expr: highest('namespace', 'drape_webhook_lag_seconds'), legend: '{{namespace}}' }],
      width: 8,
      thresholds: [[900, 'red']],
      runbooks: ['webhooks-late'],
    },
    {
      kind: 'areas',
      title: 'Analytics events',
      description:
        'Per second: events received from shops, and events forwarded to the analytics provider if configured.',
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
      title: 'Rate limits enforced without Redis',
      description: 'Rate limit checks per second to which Redis did not respond in time.',
      unit: 'ops',
      queries: [{ expr: sumRate('instance', 'drape_rate_limit_local_total'), legend: '{{instance}}' }],
      width: 8,
    },
    {
      kind: 'lines',
      title: 'Leads in the last hour',
      description: 'Email addresses that shoppers submitted, by delivery outcome.',
      unit: 'short',
      queries: [{ expr: `sum by (outcome) (increase(${of('drape_leads_total')}[1h]))`, legend: '{{outcome}}' }],
      width: 8,
      runbooks: ['leads-lost'],
    },
    {
      kind: 'lines',
      title: 'Appeals: oldest without a decision',
      description: 'Time since the oldest open appeal against a refusal by a safety check was made.',
      unit: 's',
      queries: [{ expr: highest('namespace', 'drape_reviews_oldest_seconds'), legend: '{{namespace}}' }],
      width: 8,
      thresholds: [[48 * 3600, 'red']],
      runbooks: ['reviews-waiting'],
    },
  ],
}

export const service: Dashboard = {
  name: 'service',
  title: 'Service',
  description: 'Traffic, errors, latency, credits and the dependencies of the processes.',
  variables: [{ name: 'route', label: 'Route', metric: REQUESTS }],
  rows: [glance, traffic, latency, credits, resources, shops],
}
