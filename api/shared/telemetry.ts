import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  SamplingDecision,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'

export type { Attributes } from '@opentelemetry/api'

export interface Telemetry {
  /** Sends what is left; gives up after a moment without a receiver. */
  stop(): Promise<void>
}

const STOP_MS = 2000
/** Between two words about spans that could not be delivered. */
const QUIET_MS = 60_000

/**
 * Begins to record spans and to send them to an OTLP receiver, as OpenTelemetry's own variables say. Without an endpoint
 * among them nothing is loaded, and every function here does next to nothing.
 */
export async function startTelemetry({
  service,
  env,
  onFault,
}: {
  /** What the resource is called, unless the environment names it. */
  service: string
  env: Readonly<Record<string, string | undefined>>
  /** Is called now and then with why spans are not delivered. */
  onFault: (reason: string) => void
}): Promise<Telemetry> {
  if (!isWanted(env)) return { stop: async () => {} }
  isOn = true
  diag.setLogger(faultsOnly(onFault), { logLevel: DiagLogLevel.ERROR })
  const { NodeSDK } = await import('@opentelemetry/sdk-node')
  const isNamed = env.OTEL_SERVICE_NAME || /(^|,)\s*service\.name\s*=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? '')
  const sdk = new NodeSDK({
    ...(!isNamed && { serviceName: service }),
    ...createSampler(env),
    // Metrics are scraped, logs are lines: only spans are sent.
    metricReaders: [],
    logRecordProcessors: [],
  })
  sdk.start()
  return { stop: () => atMost(STOP_MS, sdk.shutdown()) }
}

/**
 * The sampler that the environment names, but for one thing: a caller's `traceparent` decides nothing. Its flag is ignored, and so
 * is its trace id, which a caller can choose to be below any ratio. Spans of one trace within our processes stay together.
 */
function createSampler({ OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: argument }: Environment) {
  const ratio = RATIOS[name.replace(/^parentbased_/, '')]?.(argument)
  // Samplers that ask a server are the SDK's own.
  if (ratio === undefined) return {}
  const decide = (isSampled: boolean) => ({
    decision: isSampled ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  })
  return {
    sampler: {
      shouldSample: (above: Context) => {
        const parent = trace.getSpanContext(above)
        const isOurs = parent !== undefined && trace.isSpanContextValid(parent) && parent.isRemote !== true
        return decide(isOurs ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : Math.random() < ratio)
      },
      toString: () => `drape{${ratio}}`,
    },
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const RATIOS: Readonly<Record<string, (argument: string | undefined) => number>> = {
  '': () => 1,
  always_on: () => 1,
  always_off: () => 0,
  traceidratio: (argument = '1') => {
    const ratio = argument.trim() === '' ? 1 : Number(argument)
    return ratio >= 0 && ratio <= 1 ? ratio : 1
  },
}

/** Set once, when the process starts; every request asks. */
let isOn = false

function isWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

function faultsOnly(onFault: (reason: string) => void) {
  let quietUntil = 0
  const nothing = () => {}
  const error = (message: string) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + QUIET_MS
    const [, reason = 'unknown'] = /"message":"([^"]{1,200})/.exec(message) ?? []
    onFault(reason)
  }
  return { error, warn: nothing, info: nothing, debug: nothing, verbose: nothing }
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work.catch(() => {}), late.promise])
  clearTimeout(timer)
}

/** Replaced by the real one when telemetry starts, whenever that is. */
const tracer = trace.getTracer('drape')

export interface SpanSettings {
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  readonly attributes?: Attributes
  /** The `traceparent` of the span that this one belongs to, when that is not the active one. */
  readonly parent?: string | null
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

/** Does the work inside a span, which is the active one meanwhile. What the work throws marks the span by its code alone. */
export function withSpan<T>(name: string, settings: SpanSettings, work: () => Promise<T>): Promise<T> {
  if (!isOn) return work()
  const { kind = 'internal', attributes, parent } = settings
  const above = parent ? contextOf(parent) : context.active()
  return tracer.startActiveSpan(name, { kind: KINDS[kind], attributes }, above, async (span) => {
    try {
      return await work()
    } catch (error) {
      markFailed(span, error)
      throw error
    } finally {
      span.end()
    }
  })
}

/** The span of work that is recorded only when it turns out to be of interest. */
interface LateSpan {
  /** Undefined when the work has ended: what it left running has no span. */
  begin(): Span | undefined
}

const LATE_SPAN = createContextKey('the span that its first part begins')

/**
 * Does work that mostly finds nothing to do. Its span, from its start, is recorded only when the work has a part (`withPartSpan`) or
 * fails.
 */
export async function withLateSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  if (!isOn) return work()
  const startTime = Date.now()
  let span: Span | undefined
  let hasEnded = false
  const begin = () => {
    span ??= tracer.startSpan(name, { startTime, attributes }, ROOT_CONTEXT)
    return span
  }
  const late: LateSpan = { begin: () => (hasEnded ? undefined : begin()) }
  try {
    return await context.with(ROOT_CONTEXT.setValue(LATE_SPAN, late), work)
  } catch (error) {
    markFailed(begin(), error)
    throw error
  } finally {
    hasEnded = true
    span?.end()
  }
}

/** Does a part of the work of `withLateSpan` inside a span. Elsewhere nothing is recorded. */
export function withPartSpan<T>(name: string, settings: SpanSettings, work: () => Promise<T>): Promise<T> {
  const above = context.active()
  const late = above.getValue(LATE_SPAN) as LateSpan | undefined
  const within = late && (trace.getSpan(above) ?? late.begin())
  if (within === undefined) return work()
  return context.with(trace.setSpan(above, within), () => withSpan(name, settings, work))
}

/** Messages and stacks may quote what a caller sent. */
function markFailed(span: Span, error: unknown): void {
  const { code, name } = error as { code?: unknown; name?: unknown }
  span.setAttribute('error.type', String(code ?? name ?? 'unknown'))
  span.setStatus({ code: SpanStatusCode.ERROR })
}

export interface AnsweredRequest {
  /** The pattern of the route; undefined when none matched. */
  readonly route: string | undefined
  readonly status: number
  readonly accountId: string | undefined
}

// Others would make names without end; https://opentelemetry.io/docs/specs/semconv/http/http-spans/
const METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']

/**
 * Answers a request inside a server span that goes on from its caller's `traceparent`, if our sampler chooses it. Named and described by OpenTelemetry's
 * conventions for HTTP, save for paths, queries and headers: those can hold what opens something.
 */
export async function withRequestSpan(
  { method, headers, scheme }: { method: string; headers: object; scheme: string },
  answer: () => Promise<AnsweredRequest>,
): Promise<void> {
  if (!isOn) return void (await answer())
  const above = propagation.extract(ROOT_CONTEXT, headers)
  const known = METHODS.includes(method) ? method : '_OTHER'
  const attributes = { 'http.request.method': known, 'url.scheme': scheme }
  await tracer.startActiveSpan(known, { kind: SpanKind.SERVER, attributes }, above, async (span) => {
    try {
      const { route, status, accountId } = await answer()
      span.updateName(route === undefined ? known : `${known} ${route}`)
      span.setAttributes({ 'http.route': route, 'http.response.status_code': status, 'drape.account.id': accountId })
      if (status < 500) return
      span.setAttribute('error.type', String(status))
      span.setStatus({ code: SpanStatusCode.ERROR })
    } finally {
      span.end()
    }
  })
}

/** Records a part of the active span whose times were measured elsewhere, and what it was made of. */
export function recordSpan(name: string, { start, end, parts = [] }: MeasuredSpan): void {
  const span = tracer.startSpan(name, { startTime: start })
  const within = trace.setSpan(context.active(), span)
  for (const part of parts) context.with(within, recordSpan, undefined, part.name, part)
  span.end(end)
}

export interface MeasuredSpan {
  /** ms since 1970. */
  readonly start: number
  readonly end: number
  readonly parts?: readonly (MeasuredSpan & { readonly name: string })[]
}

/** Describes the active span further. Ids of generations and accounts may stand there; keys, links and addresses may not. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes)
}

/** The active span as a W3C `traceparent`, for what goes on in another process; undefined when nothing is recorded. */
export function activeTraceparent(): string | undefined {
  const active = trace.getActiveSpan()?.spanContext()
  if (!active || !trace.isSpanContextValid(active)) return undefined
  return `00-${active.traceId}-${active.spanId}-0${active.traceFlags & 1}`
}

/** What a log line says of the active span; nothing when there is none. */
export function activeTraceIds(): { trace_id?: string; span_id?: string } {
  // A new one each time: the log writes into it.
  if (!isOn) return {}
  const active = trace.getActiveSpan()?.spanContext()
  if (!active || !trace.isSpanContextValid(active)) return {}
  return { trace_id: active.traceId, span_id: active.spanId }
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function contextOf(traceparent: string) {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined) return ROOT_CONTEXT
  // Made by a process of ours, whose choice to record the trace holds.
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16) })
}
