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
  /** Exports the remaining spans; gives up after a short timeout. */
  stop(): Promise<void>
}

/** Together with what it delays, less than a second. */
const STOP_MS = 900
/** Minimum interval between two log lines about undelivered spans. */
const FAULT_LOG_INTERVAL_MS = 60_000

/**
 * Starts recording spans and exporting them to an OTLP receiver, configured by OpenTelemetry's own variables. Without
 * an endpoint nothing is loaded, and every function here returns immediately.
 */
export async function startTelemetry({
  service,
  env,
  onFault,
}: {
  /** Service name of the resource, unless the environment sets one. */
  service: string
  env: Readonly<Record<string, string | undefined>>
  /** Called from time to time with the reason why spans are not delivered. */
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
    // Metrics are scraped and logs are lines: export only spans.
    metricReaders: [],
    logRecordProcessors: [],
  })
  sdk.start()
  tracer = trace.getTracer('drape')
  return {
    stop: () => {
      isOn = false
      return withTimeout(STOP_MS, sdk.shutdown())
    },
  }
}

/**
 * The sampler that the environment names, except that a caller's `traceparent` does not affect sampling: its flag is
 * ignored, and so is its trace ID, which a caller could choose to be below any ratio. Spans of one trace within our
 * processes stay together.
 */
function createSampler({ OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: argument }: Environment) {
  const ratio = RATIOS[name.replace(/^parentbased_/, '')]?.(argument)
  // Samplers that query a server are the SDK's own.
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

/** Set once on start-up; read on every request. */
let isOn = false
export const isTracing = () => isOn

function isWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

function faultsOnly(onFault: (reason: string) => void) {
  let quietUntil = 0
  const nothing = () => {}
  const error = (message: string) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + FAULT_LOG_INTERVAL_MS
    const [, reason = 'unknown'] = /"message":"([^"]{1,200})/.exec(message) ?? []
    onFault(reason)
  }
  return { error, warn: nothing, info: nothing, debug: nothing, verbose: nothing }
}

async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work.catch(() => {}), late.promise])
  clearTimeout(timer)
}

/** Records nothing until telemetry has started. */
let tracer = trace.getTracer('drape')

export interface SpanSettings {
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal'
  readonly attributes?: Attributes
  /** `traceparent` of the parent span, when the parent is not the active span. */
  readonly parent?: string | null
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

/** Runs the work inside an active span. Records only the code of an error. */
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

/** A span that is recorded only when its work turns out to be of interest. */
interface LateSpan {
  /** Undefined after the work has ended: work that it left running has no span. */
  begin(): Span | undefined
}

const LATE_SPAN = createContextKey('span that the first part of the work starts')

/**
 * Runs work that usually finds nothing to do. Its span is recorded, from its start, only if the work has a part
 * (`withPartSpan`) or fails.
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

/** Runs a part of the work of `withLateSpan` inside a span. Outside of such work nothing is recorded. */
export function withPartSpan<T>(name: string, settings: SpanSettings, work: () => Promise<T>): Promise<T> {
  const above = context.active()
  const late = above.getValue(LATE_SPAN) as LateSpan | undefined
  const within = late && (trace.getSpan(above) ?? late.begin())
  if (within === undefined) return work()
  return context.with(trace.setSpan(above, within), () => withSpan(name, settings, work))
}

/** Messages and stacks may contain data of callers. */
function markFailed(span: Span, error: unknown): void {
  const { code, name } = error as { code?: unknown; name?: unknown }
  span.setAttribute('error.type', String(code ?? name ?? 'unknown'))
  span.setStatus({ code: SpanStatusCode.ERROR })
}

// Other methods would create unlimited span names; https://opentelemetry.io/docs/specs/semconv/http/http-spans/
const METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']

/**
 * Handles a request inside a server span that continues its caller's `traceparent`, if our sampler chooses it. Follows
 * OpenTelemetry's HTTP conventions, except that paths, queries and headers are omitted because they can contain
 * credentials. `route` is undefined when no route matched.
 */
export async function withRequestSpan(
  { method, headers, scheme }: { method: string; headers: object; scheme: string },
  answer: () => Promise<{ route: string | undefined; status: number; accountId: string | undefined }>,
): Promise<void> {
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

/** Records a child of the active span with times that were measured elsewhere, and its parts. */
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

/**
 * Adds attributes to the active span. IDs of generations and accounts are allowed; keys, links and addresses are not.
 */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes)
}

/** The active span as a W3C `traceparent`, for continuation in another process; undefined when nothing is recorded. */
export function activeTraceparent(): string | undefined {
  const active = findActive()
  return active && `00-${active.traceId}-${active.spanId}-0${active.traceFlags & 1}`
}

/** Log fields of the active span; empty when there is none. */
export function activeTraceIds(): { trace_id?: string; span_id?: string } {
  const active = findActive()
  // Always a new object: the logger modifies it.
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {}
}

/** Labels of an exemplar: the active trace, or none if the trace is not recorded and can therefore not be found. */
export function traceExemplar(): { trace_id?: string } {
  const active = findActive()
  return active && active.traceFlags & TraceFlags.SAMPLED ? { trace_id: active.traceId } : {}
}

function findActive() {
  const active = isOn ? trace.getActiveSpan()?.spanContext() : undefined
  return active && trace.isSpanContextValid(active) ? active : undefined
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function contextOf(traceparent: string) {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined) return ROOT_CONTEXT
  // Created by one of our processes, whose sampling decision applies.
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16) })
}
