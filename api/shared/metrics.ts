import { readFileSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** What every process measures, and the text that Prometheus scrapes. Labels are few and never carry an id. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const watch = (about: Watched, read: () => readonly Reading[]) => watchIn(registry, about, read)
  watch({ name: 'drape_build_info', help: 'What runs here', labels: ['version', 'node'] }, () => [
    { labels: { version: VERSION, node: process.versions.node }, value: 1 },
  ])
  return {
    requests: new Histogram({
      name: 'drape_http_request_seconds',
      help: 'Seconds from the first byte of a request to the end of its answer',
      labelNames: ['route', 'method', 'status'] as const,
      buckets: SECONDS,
      registers,
    }),
    accepted: new Counter({ name: 'drape_generations_accepted_total', help: 'Generations accepted', registers }),
    finished: new Counter({
      name: 'drape_generations_finished_total',
      help: 'Generations that ended here, by status and error code',
      labelNames: ['status', 'code'] as const,
      registers,
    }),
    reserved: new Counter({
      name: 'drape_credits_reserved_total',
      help: 'Credits taken for accepted generations',
      registers,
    }),
    refunded: new Counter({
      name: 'drape_credits_refunded_total',
      help: 'Credits given back for generations that failed, by error code',
      labelNames: ['code'] as const,
      registers,
    }),
    queueWait: new Histogram({
      name: 'drape_queue_wait_seconds',
      help: 'Seconds from the acceptance of a generation to the start of an attempt',
      buckets: SECONDS,
      registers,
    }),
    stage: new Histogram({
      name: 'drape_stage_seconds',
      help: 'Seconds in each stage of a try-on',
      labelNames: ['engine', 'stage'] as const,
      buckets: SECONDS,
      registers,
    }),
    jobs: new Counter({
      name: 'drape_jobs_total',
      help: 'Jobs this worker ran, by queue and outcome',
      labelNames: ['queue', 'outcome'] as const,
      registers,
    }),
    storage: new Histogram({
      name: 'drape_storage_seconds',
      help: 'Seconds of each call of the object storage, by operation and outcome',
      labelNames: ['operation', 'outcome'] as const,
      buckets: SECONDS,
      registers,
    }),
    fetches: new Histogram({
      name: 'drape_fetch_seconds',
      help: 'Seconds of each picture fetched from a URL, by outcome',
      labelNames: ['outcome'] as const,
      buckets: SECONDS,
      registers,
    }),
    inferenceStart: new Histogram({
      name: 'drape_inference_start_seconds',
      help: 'Seconds from the start of an inference process to its being ready',
      buckets: SECONDS,
      registers,
    }),
    inferenceRestarts: new Counter({
      name: 'drape_inference_restarts_total',
      help: 'Times the inference process had to be started again',
      registers,
    }),
    dispatched: new Counter({
      name: 'drape_relay_dispatched_total',
      help: 'Jobs moved from the outbox to the queue',
      registers,
    }),
    recovered: new Counter({
      name: 'drape_relay_recovered_total',
      help: 'Generations taken back from a lost worker, the queue or the deadline',
      labelNames: ['reason'] as const,
      registers,
    }),
    leads: new Counter({
      name: 'drape_leads_total',
      help: 'Addresses that shoppers left, by what became of them: kept, retried, lost',
      labelNames: ['outcome'] as const,
      registers,
    }),
    events: new Counter({
      name: 'drape_events_total',
      help: 'Analytics events that were sent to us, by what became of them: accepted, duplicate, refused',
      labelNames: ['outcome'] as const,
      registers,
    }),
    forwardedEvents: new Counter({
      name: 'drape_events_forwarded_total',
      help: 'Analytics events told to the provider, by outcome: forwarded, retried, dead',
      labelNames: ['outcome'] as const,
      registers,
    }),
    reconciles: new Histogram({
      name: 'drape_reconcile_seconds',
      help: 'Seconds of each look at an object, by kind and outcome: done, again, failed',
      labelNames: ['kind', 'outcome'] as const,
      buckets: SECONDS,
      registers,
    }),
    reconcileDepth: new Gauge({
      name: 'drape_reconcile_waiting',
      help: 'Objects that wait to be looked at, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    watchAge: new Gauge({
      name: 'drape_watch_age_seconds',
      help: 'Seconds since the API server was last heard of, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    leader: new Gauge({ name: 'drape_leader', help: '1 while this process is the one that acts', registers }),
    decisions: new Counter({
      name: 'drape_scaling_decisions_total',
      help: 'Changes of the number of workers, by direction',
      labelNames: ['direction'] as const,
      registers,
    }),
    wrongVictims: new Counter({
      name: 'drape_wrong_victim_total',
      help: 'Workers that went instead of those that were drained',
      registers,
    }),
    staleSamples: new Counter({
      name: 'drape_stale_samples_total',
      help: 'Times that demand or workers could not be read',
      labelNames: ['part'] as const,
      registers,
    }),
    webhookDeliveries: new Counter({
      name: 'drape_webhook_deliveries_total',
      help: 'Attempts to tell endpoints of webhooks, by what came of them: delivered, retried, failed',
      labelNames: ['outcome'] as const,
      registers,
    }),
    ready: new Gauge({ name: 'drape_ready', help: '1 when this process answers ready', registers }),
    /** A figure that is read whenever it is asked for. */
    watch,
    /** The exposition text and its content type. */
    scrape: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}

interface Watched {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

interface Reading {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

const { version: VERSION } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

function watchIn(registry: Registry, { name, help, labels = [] }: Watched, read: () => readonly Reading[]): void {
  new Gauge({
    ...{ name, help, labelNames: labels },
    registers: [registry],
    collect() {
      this.reset()
      if (labels.length === 0) this.remove()
      for (const reading of read()) this.set({ ...reading.labels }, reading.value)
    },
  })
}
