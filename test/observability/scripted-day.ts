import type { Series } from './prometheus-server.ts'

/** A scripted day of an installation; hours since its start. */
export const DAY = {
  hours: 24,
  /** Seconds between two samples. */
  step: 120,
  /** Without requests, and with every pool at zero, before and after. */
  opens: 6,
  closes: 22,
  /** Own failures of the pipeline and of requests. */
  incident: { from: 11, to: 11.75 },
  /** New version of the API: other pods, whose counters start at 0. */
  deployment: 14,
} as const

export type Labels = Readonly<Record<string, string>>

/** A series that a real process reports: name and labels, its latest value, and the type of its metric. */
export interface RealSeries {
  readonly labels: Labels
  readonly value: number
  readonly type: string
}

/** Series of the real processes, from their results in a Prometheus. `types` are those of its metadata. */
export function realSeries(found: readonly Series[], types: ReadonlyMap<string, string>): RealSeries[] {
  return found.flatMap(({ metric, values }) => {
    const { __name__: name, job, ...labels } = metric
    const value = Number(values.at(-1)?.[1])
    // A counter of OpenMetrics has its type under the name without suffix.
    const families = [name, name.replace(/_total$/, ''), name.replace(/_(bucket|sum|count)$/, '')]
    const type = families.flatMap((family) => types.get(family) ?? [])[0] ?? 'unknown'
    return Number.isFinite(value) ? [{ labels: { ...labels, __name__: name }, value, type }] : []
  })
}

/** What a matcher of the script applies to: a pattern of the name and patterns of labels. */
type Matcher = Readonly<Record<string, RegExp>>

const STANDARD: Matcher = { engine: /^warp$/, class: /^standard$/ }
/** Events that happen during the incident only, as many per minute as given. */
const FAILURES: readonly { readonly matcher: Matcher; readonly perMinute: number }[] = [
  {
    matcher: { __name__: /^drape_generations_finished_total$/, code: /^GENERATION_TIMEOUT$/, ...STANDARD },
    perMinute: 4,
  },
  { matcher: { __name__: /^drape_http_requests_total$/, status: /^5/ }, perMinute: 4 },
  { matcher: { code: /^GENERATION_(FAILED|TIMEOUT)$/ }, perMinute: 0 },
  { matcher: { outcome: /^(failed|lost|dead)$/ }, perMinute: 0 },
  {
    matcher: { __name__: /^drape_(relay_recovered|rate_limit_local|stale_samples|wrong_victim)_total$/ },
    perMinute: 0,
  },
]
/** Counters of work that goes on without requests. */
const STEADY = /^(process_|nodejs_|drape_(sweep|swept|retention|reconcile|storage_reconciliations))/
/** Gauges of workers, which are 0 while every pool is at zero. */
const OF_WORKERS = /^drape_(worker_slots|engine_slots|pool_(workers|ready_workers|hourly_cost))$/
/** Gauges of work in progress. */
const OF_WORK = /^drape_(generations_unfinished|pool_jobs)$/
const LAGS = /^drape_.*(_lag|_oldest|_overdue|_wait|_age)_seconds$/

/**
 * Text in the format of OpenMetrics with the samples of the day, one text for each 2 hours of Unix time: what `promtool` makes one
 * block of. `start` is in seconds of Unix time, a multiple of the step. @throws Error if no process reports what the script fails.
 */
export function writeDay(series: readonly RealSeries[], start: number): string[] {
  for (const { matcher, perMinute } of FAILURES)
    if (perMinute > 0 && !series.some(({ labels }) => matches(labels, matcher)))
      throw new Error(`No process reports ${Object.values(matcher).join(' ')}`)
  const lines = new Map<number, string[]>()
  const histograms = readHistograms(series)
  for (const one of series) {
    for (const life of livesOf(one)) {
      const valueAt = createValue(one, { life, start, histograms })
      for (let hour = life.from; hour < life.to; hour += DAY.step / 3600) {
        const time = Math.round(start + hour * 3600)
        const block = Math.floor(time / 7200)
        const list = lines.get(block) ?? []
        if (list.length === 0) lines.set(block, list)
        list.push(writeSample(life.labels, valueAt(hour), time))
      }
    }
  }
  return [...lines.keys()].sort((a, b) => a - b).map((block) => `${lines.get(block)?.join('\n')}\n# EOF\n`)
}

/** A line of the format of OpenMetrics. `time` is in seconds of Unix time. */
export function writeSample({ __name__: name, ...labels }: Labels, value: number | string, time: number): string {
  const shown = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
  return `${name}{${shown.join(',')}} ${value} ${time}`
}

interface Life {
  readonly labels: Labels
  readonly from: number
  readonly to: number
}

/** When the process of a series runs: workers while shops are open, the pods of the API until or from the deployment on. */
function livesOf({ labels }: RealSeries): Life[] {
  const { opens, closes, deployment, hours } = DAY
  if (labels.pod === undefined || labels.pod === 'controller') return [{ labels, from: 0, to: hours }]
  if (labels.pod !== 'api') return [{ labels, from: opens - 0.1, to: closes + 0.1 }]
  const later = { ...labels, pod: 'api-2', instance: `${labels.instance}2` }
  return [
    { labels, from: 0, to: deployment + 0.1 },
    {
      labels: labels.version === undefined ? later : { ...later, version: `${labels.version}-next` },
      from: deployment,
      to: hours,
    },
  ]
}

interface Place {
  readonly life: Life
  readonly start: number
  readonly histograms: Histograms
}

/** The value of a series at an hour of the day. */
function createValue({ labels, value, type }: RealSeries, { life, start, histograms }: Place) {
  const name = labels.__name__
  if (type === 'counter' || type === 'histogram') {
    const { weight, share } = type === 'histogram' ? histograms(labels) : { weight: value, share: 1 }
    const events = createEvents(labels, weight)
    return (hour: number) => ((events(hour) - events(life.from)) * share).toFixed(3)
  }
  if (/failed_timestamp_seconds$/.test(name)) return () => start - 3600
  if (/_timestamp_seconds$/.test(name)) return (hour: number) => Math.round(start + hour * 3600 - 60)
  if (OF_WORKERS.test(name) || labels.bound === 'desired') return (hour: number) => (isOpen(hour) ? value : 0)
  // Work waits for moments only, at one of three samples, and no process ends with work.
  const isMoment = (hour: number) => Math.round((hour * 3600) / DAY.step) % 3 === 0 && hour < life.to - 0.1
  if (OF_WORK.test(name)) return (hour: number) => (isMoment(hour) ? Math.ceil(4 * trafficAt(hour)) : 0)
  if (LAGS.test(name)) return (hour: number) => Math.round(20 * trafficAt(hour))
  return () => value
}

/** The number of observations of the histogram of a series, and the share of them, or seconds for each, that the series counts. */
type Histograms = (labels: Labels) => { readonly weight: number; readonly share: number }

/** Durations are about the third bound of the histogram, whatever they were on a busy machine. */
function readHistograms(series: readonly RealSeries[]): Histograms {
  const counts = new Map<string, number>()
  const bounds = new Map<string, number[]>()
  const baseOf = (labels: Labels) => labels.__name__.replace(/_(bucket|sum|count)$/, '')
  const keyOf = ({ le, ...labels }: Labels) => JSON.stringify([baseOf(labels), { ...labels, __name__: '' }])
  for (const { labels, value, type } of series) {
    if (type !== 'histogram') continue
    if (labels.__name__.endsWith('_count')) counts.set(keyOf(labels), value)
    if (labels.le !== undefined) bounds.set(baseOf(labels), [...(bounds.get(baseOf(labels)) ?? []), Number(labels.le)])
  }
  return (labels) => {
    const sorted = [...new Set(bounds.get(baseOf(labels)) ?? [])].filter(Number.isFinite).sort((a, b) => a - b)
    const typical = sorted[Math.min(2, sorted.length - 1)] ?? 1
    const weight = counts.get(keyOf(labels)) ?? 0
    if (labels.le !== undefined) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
      return { weight, share: 1 - Math.exp(-((bound / typical) ** 3)) }
    }
    return { weight, share: labels.__name__.endsWith('_sum') ? typical : 1 }
  }
}

/** The number of events until an hour. */
function createEvents(labels: Labels, value: number): (hour: number) => number {
  const failure = FAILURES.find(({ matcher }) => matches(labels, matcher))
  const { from, to } = DAY.incident
  if (failure) return (hour) => failure.perMinute * 60 * Math.min(Math.max(hour - from, 0), to - from)
  if (STEADY.test(labels.__name__)) return (hour) => hour * Math.min(value, 1000)
  return (hour) => Math.min(value, 100) * 60 * trafficUntil(hour)
}

function matches(labels: Labels, matcher: Matcher): boolean {
  return Object.entries(matcher).every(([name, pattern]) => pattern.test(labels[name] ?? ''))
}

function isOpen(hour: number): boolean {
  return hour >= DAY.opens && hour < DAY.closes
}

/** Traffic between 0 and 1: rises within 3 hours, and falls within 2. */
function trafficAt(hour: number): number {
  return Math.max(0, Math.min((hour - DAY.opens) / 3, 1, (DAY.closes - hour) / 2))
}

/** The integral of `trafficAt`. */
function trafficUntil(hour: number): number {
  const { opens, closes } = DAY
  const rise = Math.min(Math.max(hour - opens, 0), 3)
  const flat = Math.min(Math.max(hour - opens - 3, 0), closes - opens - 5)
  const fall = Math.min(Math.max(hour - closes + 2, 0), 2)
  return rise ** 2 / 6 + flat + fall - fall ** 2 / 4
}
