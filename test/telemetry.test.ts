import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { trace } from '@opentelemetry/api'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startTelemetry, withSpan } from '../api/shared/telemetry/telemetry.ts'
import { type Drape, formOf, shrink, startDrape } from './support/drape.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './support/otlp-receiver.ts'
import { linesOf, startProgram, type TestProgram } from './support/process.ts'
import { until } from './support/until.ts'

describe('traces', () => {
  let receiver: OtlpReceiver
  let drape: Drape
  let worker: TestProgram
  let shop: Server
  let person: Buffer
  let body: FormData

  beforeAll(async () => {
    person = await shrink('scripts/samples/persons/down-half-teal.jpg')
    const shirt = await shrink('scripts/samples/garments/tshirt-mustard.jpg')
    shop = createServer((_, response) => response.end(shirt))
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    const { port } = shop.address() as AddressInfo
    const source = { url: `http://127.0.0.1:${port}/shirt.jpg` }
    const call = { products: [{ title: 'T-shirt', images: [{ source }] }], person: inForm('me') }
    body = formOf(call, { me: person })
    receiver = await startOtlpReceiver()
    drape = await startDrape({ env: { ...receiver.env, FETCH_ALLOW_PORTS: String(port) } })
    worker = await drape.startWorker()
  })
  afterAll(async () => {
    await drape.stop()
    receiver.stop()
    shop.close()
  })

  const inForm = (fileKey: string) => ({ image: { source: { fileKey } } })
  const tryOn = (headers: Record<string, string> = {}) => drape.call('POST', '/tryon/v1/try-on', { body, headers })
  const traceOf = (traceId: string) => receiver.spans().filter((span) => span.traceId === traceId)
  /** Resolves with a complete trace: each process exports its own spans, the longest one last. */
  const wholeTrace = (traceId: string) =>
    until(() => {
      const trace = traceOf(traceId)
      const names = trace.map(({ name }) => name)
      return ['POST /tryon/v1/try-on', 'process try-on'].every((name) => names.includes(name)) && trace
    })

  it('cover the request up to the completed generation, with the stages of the inference in order', async () => {
    const { generationId, ...answer } = await accepted(tryOn())
    expect(await drape.finish(generationId)).toMatchObject({ status: 'COMPLETED' })
    const spans = await wholeTrace(answer.traceId)
    expect(treeOf(spans, ['infer'])).toEqual([
      'drape-api server POST /tryon/v1/try-on',
      '  drape-api client storage put',
      '  drape-api client accept generation',
      '    drape-api producer send try-on',
      '      drape-worker consumer process try-on',
      '        drape-worker client storage get',
      '        drape-worker client storage get',
      '        drape-worker client fetch image',
      '        drape-worker client storage put',
      '        drape-worker internal infer',
      '        drape-worker internal sign',
      '        drape-worker client storage put',
      '        drape-worker client complete generation',
    ])
    const [request, attempt] = ['POST /tryon/v1/try-on', 'process try-on'].map((name) => only(name, spans))
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/tryon/v1/try-on',
      'drape.account.id': drape.accountId,
    })
    expect(Number(request.attributes['http.response.status_code'])).toBe(201)
    expect(attempt.attributes).toMatchObject({ 'drape.generation.id': generationId, 'drape.engine': 'mock' })
    expect(spans.filter(({ failed }) => failed)).toEqual([])
    const childrenOf = (name: string) =>
      spans
        .filter(({ parentSpanId }) => parentSpanId === only(name, spans).spanId)
        .sort((a, b) => Number(a.start - b.start || a.end - b.end))
    expect(childrenOf('infer').map(({ name }) => name)).toEqual(['decode', 'engine', 'composite', 'encode'])
    const { start, end } = only('infer', spans)
    let last = start
    for (const child of childrenOf('infer')) {
      expect(child.start).toBeGreaterThanOrEqual(last)
      last = child.end
    }
    // Timings are whole ms.
    expect(last).toBeLessThanOrEqual(end + 2_000_000n)
  })

  it('contain the person detection of an uploaded photo', async () => {
    const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file: person }) })
    const spans = await until(() => {
      const trace = traceOf(String(upload.headers.get('x-trace-id')))
      return (
        trace.some(({ name }) => name === 'process prepare') && trace.some(({ kind }) => kind === 'server') && trace
      )
    })
    expect(treeOf(spans, ['process prepare'])).toEqual([
      'drape-api server POST /tryon/v1/images/upload',
      '  drape-api client storage put',
      '  drape-api producer send prepare',
      '    drape-worker consumer process prepare',
    ])
  })

  it('continue the trace of the caller', async () => {
    const [traceId, callerSpan] = [hex(16), hex(8)]
    const answer = await accepted(tryOn({ traceparent: `00-${traceId}-${callerSpan}-01` }))
    expect(answer.traceId).toBe(traceId)
    await drape.finish(answer.generationId)
    const spans = await wholeTrace(traceId)
    expect(only('POST /tryon/v1/try-on', spans).parentSpanId).toBe(callerSpan)
  })

  it('follow the configured sampler, not the sampled flag of the caller', async () => {
    const unrecorded = hex(16)
    const { generationId } = await accepted(tryOn({ traceparent: `00-${unrecorded}-${hex(8)}-00` }))
    await drape.finish(generationId)
    await wholeTrace(unrecorded)

    const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.000001' }
    const sparing = await startProgram('api', { ...drape.env, ...sampler })
    // The smallest id is below every ratio.
    const forced = `${'0'.repeat(24)}${hex(4)}`
    const headers = { traceparent: `00-${forced}-${hex(8)}-01`, 'x-api-key': drape.apiKey }
    expect((await fetch(`${sparing.url}/tryon/v1/account/credits`, { headers })).status).toBe(200)
    // The API exports all recorded spans before it exits.
    await sparing.end()
    expect(traceOf(forced)).toEqual([])
  })

  it('ignore an invalid traceparent', async () => {
    for (const traceparent of ['00-zz-zz-01', `ff-${hex(16)}-${hex(8)}-01`, `00-${'0'.repeat(32)}-${hex(8)}-01`, '']) {
      const answer = await drape.call('GET', '/tryon/v1/account/credits', { headers: { traceparent } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  it('have their IDs in the log lines of every involved process', async () => {
    const { generationId, traceId } = await accepted(tryOn())
    await drape.finish(generationId)
    const spans = await wholeTrace(traceId)
    const lineOf = (program: TestProgram, name: string) =>
      until(() => linesOf(program.output()).find(({ msg, trace_id }) => msg === name && trace_id === traceId))
    const request = await lineOf(drape.api, 'request')
    expect(request).toMatchObject({ status: 201, span_id: only('POST /tryon/v1/try-on', spans).spanId })
    const attempt = await lineOf(worker, 'try-on')
    expect(attempt).toMatchObject({ generationId, span_id: only('process try-on', spans).spanId })
  })

  it('do not mark spans of 4xx responses as failed', async () => {
    const missing = await drape.call('GET', `/tryon/v1/generations/gen_${hex(8)}`)
    const missingSpan = await until(() => traceOf(String(missing.headers.get('x-trace-id'))).at(0))
    expect(missingSpan).toMatchObject({ name: 'GET /tryon/v1/generations/:id', failed: false })
    expect(Number(missingSpan.attributes['http.response.status_code'])).toBe(404)
  })
})

describe('telemetry without a receiver', () => {
  it('delays neither requests nor the exit of a process, which logs the failure once', async () => {
    const receiver = await startOtlpReceiver({ answers: false })
    const limits = { OTEL_EXPORTER_OTLP_TIMEOUT: '500', OTEL_BSP_SCHEDULE_DELAY: '50' }
    const drape = await startDrape({ env: { ...receiver.env, ...limits } })
    try {
      const worker = await drape.startWorker()
      const image = await shrink('scripts/samples/persons/down-half-teal.jpg')
      const call = {
        products: [{ images: [{ source: { fileKey: 'me' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      }
      const ids = await Promise.all(Array.from({ length: 8 }, () => drape.tryOn(call, { me: image })))
      await drape.finish(ids[0])
      const warnings = () => linesOf(drape.api.output()).filter(({ msg }) => msg === 'telemetry export failed')
      await until(async () => {
        await drape.balance()
        return warnings().length > 0
      })
      expect(warnings()).toEqual([expect.objectContaining({ level: 'warn', reason: expect.any(String) })])
      // An exceeded grace period would give another exit code.
      expect(await worker.end('SIGTERM')).toBe(0)
      expect(await drape.api.end('SIGTERM')).toBe(0)
    } finally {
      await drape.stop()
      receiver.stop()
    }
  })

  it('stops within a second when the receiver never responds', async () => {
    const receiver = await startOtlpReceiver({ answers: false })
    for (const [name, value] of Object.entries(receiver.env)) vi.stubEnv(name, value)
    try {
      const telemetry = await startTelemetry({ service: 'test', env: process.env, onFault: () => {} })
      await withSpan('work', {}, async () => {})
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      let isStopped = false
      telemetry.stop().then(() => {
        isStopped = true
      })
      await vi.advanceTimersByTimeAsync(999)
      expect(isStopped).toBe(true)
    } finally {
      vi.useRealTimers()
      vi.unstubAllEnvs()
      // Files share a process, in which only the first provider counts.
      trace.disable()
      receiver.stop()
    }
  })

  it('does not start without an endpoint', async () => {
    const drape = await startDrape()
    try {
      const traceparent = `00-${hex(16)}-${hex(8)}-01`
      const answer = await drape.call('GET', '/tryon/v1/account/credits', { headers: { traceparent } })
      expect(answer.headers.get('x-trace-id')).toBeNull()
      expect(linesOf(drape.api.output()).filter(({ trace_id }) => trace_id !== undefined)).toEqual([])
    } finally {
      await drape.stop()
    }
  })
})

async function accepted(answer: ReturnType<Drape['call']>): Promise<{ generationId: string; traceId: string }> {
  const { status, body, headers } = await answer
  expect(status).toBe(201)
  return { generationId: body.generationId, traceId: String(headers.get('x-trace-id')) }
}

function only(name: string, spans: readonly ReceivedSpan[]): ReceivedSpan {
  const found = spans.filter((span) => span.name === name)
  expect(found.map((span) => span.name)).toEqual([name])
  return found[0]
}

/** One line per span, indented below its parent, in the order of time; without what is below the spans in `closed`. */
function treeOf(spans: readonly ReceivedSpan[], closed: readonly string[], parent = '', indent = ''): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((a, b) => Number(a.start - b.start))
    .flatMap((span) => [
      `${indent}${span.service} ${span.kind} ${span.name}`,
      ...(closed.includes(span.name) ? [] : treeOf(spans, closed, span.spanId, `${indent}  `)),
    ])
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
