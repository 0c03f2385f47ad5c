import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  type Metric,
  type OpenMetricsContentType,
  Registry,
} from 'prom-client'
import { VERSION } from '../process/version.ts'
import { traceExemplar } from './telemetry.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** Counts a response and its duration in seconds. */
export type RequestObserver = (seconds: number) => void

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Fewer, because every route has them. */
const REQUEST_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
/** Buckets from the request to the result, up to the deadline of a generation. */
const WHOLE_SECONDS = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600]

/**
 * Metrics of a process, and their text for Prometheus. Labels have few values and never contain an ID. `name` is the
 * kind of process; one Prometheus scrapes all processes.
 */
export function createMetrics(name: string) {
  const registry = new Registry()
  // A timer of the package's 10 ms is most of what an idle process costs. Delays of the event loop start at this value.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })
  const make = createMetricFactories(registry)
  make.watch(
    {
      name: 'drape_build_info',
      help: 'Constant 1, with the kind of process, the version of Drape and the version of Node.js',
      labels: ['process', 'version', 'node'],
    },
    () => [{ labels: { process: name, version: VERSION, node: process.versions.node }, value: 1 }],
  )
  return {
    observerOf: observeRequests(make),
    ready: readiness(make),
    ...createGenerationMetrics(make),
    ...createWorkerMetrics(make),
    ...createRelayMetrics(make),
    ...createShopMetrics(make),
    ...createServerMetrics(make),
    ...make,
    /** The exposition text and its content type. Exemplars exist in OpenMetrics alone, which Prometheus accepts. */
    scrape: async (accept = '') => {
      const answering = accept.includes('application/openmetrics-text') ? viewAsOpenMetrics(registry) : registry
      return { type: answering.contentType, text: await answering.metrics() }
    },
  }
}

/** The same metrics in a registry of their own: OpenMetrics text renames the counters of its registry. */
function viewAsOpenMetrics(registry: Registry) {
  const view = new Registry<OpenMetricsContentType>()
  view.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  // The package declares neither the type nor the method of its metrics.
  const metrics = registry.getMetricsAsArray() as unknown as readonly ExposedMetric[]
  for (const metric of metrics) {
    const { type } = metric
    const name = type === 'counter' ? metric.name.replace(/_total$/, '') : metric.name
    const get = async () => ({ ...(await metric.get()), name })
    view.registerMetric({ name, type, get } as unknown as Metric)
  }
  return view
}

interface ExposedMetric {
  readonly name: string
  readonly type: string
  get(): Promise<object>
}

type Make = ReturnType<typeof createMetricFactories>

/** Creates metrics in one registry, also those of one kind of process. */
function createMetricFactories(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string = never>(about: Figure<L>) => new Counter({ ...named(about), registers })
  return {
    counter,
    gauge: <L extends string = never>(about: Figure<L>) => new Gauge({ ...named(about), registers }),
    seconds: <L extends string = never>(about: Figure<L>, buckets: number[] = SECONDS) =>
      new Histogram({ ...named(about), buckets, registers }),
    /** Seconds with exemplars. */
    traced: <L extends string>(about: Figure<L>, buckets: number[] = SECONDS) =>
      withExemplars(registry, { ...named(about), buckets }),
    /** A counter initialised for known label values, so that the first increment is visible to rate(). */
    known: <L extends string>(label: L, values: readonly string[], about: Figure<L>): Counter<L> => {
      const figure = counter({ ...about, labels: [label] })
      for (const value of values) figure.labels(value).inc(0)
      return figure
    },
    /** A gauge that is read at each scrape. */
    watch: (about: Watched, read: () => readonly Reading[]) => watchIn(registry, about, read),
  }
}

/** A histogram whose observations name the trace in which they are made, if the trace is recorded. */
function withExemplars<L extends string>(registry: Registry, about: HistogramConfiguration<L>) {
  const histogram = new Histogram({ ...about, registers: [], enableExemplars: true })
  // Afterwards: the constructor refuses a registry of plain text, which leaves the exemplars out.
  registry.registerMetric(histogram)
  return {
    observe: (labels: Readonly<Record<L, string>>, value: number) =>
      // The package declares the arguments of histograms without exemplars only.
      histogram.observe({ labels, value, exemplarLabels: traceExemplar() } as never),
    zero: (labels: Readonly<Record<L, string>>) => histogram.zero(labels),
  }
}

/** Absent until the first readiness check. */
function readiness({ gauge }: Make) {
  return gauge({
    name: 'drape_ready',
    help: '1 if the last readiness check succeeded, otherwise 0, by check: postgres, redis, storage, and what the process checks of itself',
    labels: ['check'],
  })
}

function createGenerationMetrics({ counter, seconds, traced }: Make) {
  return {
    accepted: counter({ name: 'drape_generations_accepted_total', help: 'Generations accepted' }),
    finished: counter({
      name: 'drape_generations_finished_total',
      help: 'Generations that this process finished, by engine, status, error code and class of service (standard, premium, batch)',
      labels: ['engine', 'status', 'code', 'class'],
    }),
    ended: traced(
      {
        name: 'drape_generation_seconds',
        help: 'Seconds from the acceptance of a generation to its completion or failure, by engine, status and class of service',
        labels: ['engine', 'status', 'class'],
      },
      WHOLE_SECONDS,
    ),
    starts: traced(
      {
        name: 'drape_generation_start_seconds',
        help: 'Seconds from the acceptance of a generation to the start of its first attempt (outcome started) or to its deadline without a start (outcome expired), by engine and class of service',
        labels: ['engine', 'class', 'outcome'],
      },
      WHOLE_SECONDS,
    ),
    stage: seconds({
      name: 'drape_stage_seconds',
      help: 'Duration of each stage of a try-on in seconds, by engine and stage',
      labels: ['engine', 'stage'],
    }),
  }
}

function createWorkerMetrics({ counter, seconds }: Make) {
  return {
    jobs: counter({
      name: 'drape_jobs_total',
      help: 'Jobs that the worker took, by queue and outcome',
      labels: ['queue', 'outcome'],
    }),
    storage: seconds({
      name: 'drape_storage_seconds',
      help: 'Duration of calls to the object storage in seconds, by operation and outcome',
      labels: ['operation', 'outcome'],
    }),
    fetches: seconds({
      name: 'drape_fetch_seconds',
      help: 'Duration of image downloads from URLs in seconds, by outcome',
      labels: ['outcome'],
    }),
    inferenceStart: seconds({
      name: 'drape_inference_start_seconds',
      help: 'Seconds from the start of an inference process until the process is ready',
    }),
    inferenceRestarts: counter({
      name: 'drape_inference_restarts_total',
      help: 'Restarts of the inference process',
    }),
  }
}

function createRelayMetrics({ counter, known }: Make) {
  return {
    dispatched: counter({
      name: 'drape_relay_dispatched_total',
      help: 'Jobs that the relay moved from the outbox to the queue',
    }),
    recovered: known('reason', ['lease', 'queue', 'deadline'], {
      name: 'drape_relay_recovered_total',
      help: 'Generations that the relay recovered, by reason: lease (expired lease of a worker), queue (job missing in Redis), deadline (deadline exceeded)',
    }),
  }
}

function createShopMetrics({ known }: Make) {
  return {
    leads: known('outcome', ['kept', 'retried', 'lost', 'dropped'], {
      name: 'drape_leads_total',
      help: 'Attempts to deliver email addresses of shoppers to the shop platform, by outcome: kept (delivered), retried, lost (rejected; an operator can retry), dropped (never stored: the database was unavailable, or too many await delivery)',
    }),
    events: known('outcome', ['accepted', 'duplicate', 'refused'], {
      name: 'drape_events_total',
      help: 'Analytics events received from shops, by outcome: accepted, duplicate, refused',
    }),
    forwardedEvents: known('outcome', ['forwarded', 'retried', 'dead'], {
      name: 'drape_events_forwarded_total',
      help: 'Analytics events sent to the analytics provider, by outcome: forwarded, retried, dead',
    }),
    webhookDeliveries: known('outcome', ['delivered', 'retried', 'failed'], {
      name: 'drape_webhook_deliveries_total',
      help: 'Webhook delivery attempts, by outcome: delivered, retried, failed',
    }),
  }
}

function createServerMetrics({ counter, known }: Make) {
  return {
    localCounts: counter({
      name: 'drape_rate_limit_local_total',
      help: 'Rate limit checks that a replica made without Redis, because Redis did not respond in time',
    }),
    requestLogDrops: known('reason', ['account', 'buffer', 'database'], {
      name: 'drape_request_log_dropped_total',
      help: 'Requests missing in the request log, by reason: account (too many of one account), buffer (too many of all), database (not written)',
    }),
  }
}

interface Figure<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
}

type Watched = Figure<string>

interface Reading {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

function named<L extends string>({ name, help, labels = [] }: Figure<L>) {
  return { name, help, labelNames: labels }
}

/** Callers may send any method; other methods share one label. */
const LABELLED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Counts and durations of responses. Durations have no status label, which would add a thousand series. */
function observeRequests({ counter, traced }: Make) {
  const times = traced(
    {
      name: 'drape_http_request_seconds',
      help: 'Seconds from the first byte of a request to the end of its response, by route and method',
      labels: ['route', 'method'],
    },
    REQUEST_SECONDS,
  )
  const answers = counter({
    name: 'drape_http_requests_total',
    help: 'Completed HTTP requests, by route, method and status',
    labels: ['route', 'method', 'status'],
  })
  return ({ route, status, ...request }: { route: string; method: string; status: number }): RequestObserver => {
    const method = LABELLED_METHODS.has(request.method) ? request.method : 'other'
    for (const failure of ['500', '503']) answers.labels({ route, method, status: failure }).inc(0)
    const answer = answers.labels({ route, method, status: String(status) })
    return (passed) => {
      times.observe({ route, method }, passed)
      answer.inc()
    }
  }
}

function watchIn(registry: Registry, { name, help, labels = [] }: Watched, read: () => readonly Reading[]): void {
  new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset()
      if (labels.length === 0) this.remove()
      for (const reading of read()) this.set({ ...reading.labels }, reading.value)
    },
  })
}
