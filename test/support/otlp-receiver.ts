import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A span as received by OTLP/HTTP with JSON. */
export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string
  /** ns since 1970. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly failed: boolean
}

export interface OtlpReceiver {
  /** Variables with which a program sends its spans here, with little delay. */
  readonly env: Readonly<Record<string, string>>
  spans(): ReceivedSpan[]
  /** All received data, unchanged. */
  received(): string
  stop(): void
}

/** With `answers: false`, the receiver reads everything and never responds. */
export async function startOtlpReceiver({ answers = true } = {}): Promise<OtlpReceiver> {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (request.url === '/v1/traces') bodies.push(body)
    if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    spans: () => bodies.flatMap((body) => spansOf(JSON.parse(body))),
    received: () => bodies.join('\n'),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Message {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Readonly<Record<string, never>>[] }[]
  }[]
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']

function spansOf({ resourceSpans }: Message): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(
        ({
          name,
          kind,
          traceId,
          spanId,
          parentSpanId = '',
          startTimeUnixNano,
          endTimeUnixNano,
          attributes,
          status,
        }) => ({
          service: String(valuesOf(resource.attributes)['service.name']),
          name,
          traceId,
          spanId,
          parentSpanId,
          kind: KINDS[kind] as ReceivedSpan['kind'],
          start: BigInt(startTimeUnixNano),
          end: BigInt(endTimeUnixNano),
          attributes: valuesOf(attributes),
          failed: (status as { code?: number }).code === 2,
        }),
      ),
  )
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
