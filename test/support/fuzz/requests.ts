import fc from 'fast-check'
import type { DocumentedOperation } from '../openapi-document.ts'
import { type Body, bodiesOf } from './bodies.ts'
import { hostileTexts } from './hostile-values.ts'
import { type Vocabulary, valuesOf } from './schema-values.ts'

export interface FuzzedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

/** Data for requests. */
export interface World {
  readonly vocabulary: Vocabulary
  /** Files for bodies; the first one is a valid photo. */
  readonly files: readonly Buffer[]
  /** Headers that authenticate callers, most of them valid. */
  credentialsOf(operation: DocumentedOperation): fc.Arbitrary<Readonly<Record<string, string>>>
}

/** Requests to one operation: valid, almost valid and arbitrary. */
export function requestsOf(operation: DocumentedOperation, world: World): fc.Arbitrary<FuzzedRequest> {
  return fc
    .record({
      method: methodsOf(operation),
      path: pathsOf(operation, world),
      query: queriesOf(operation, world),
      headers: headersOf(operation, world),
      body: bodiesOf(operation, world),
    })
    .map(({ method, path, query, headers, body }) => ({
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: { ...headers, ...typeOf(body) },
      body: method === 'GET' || method === 'HEAD' ? null : (body?.bytes ?? null),
    }))
}

function typeOf(body: Body | null): Record<string, string> {
  return body === null || body.contentType === null ? {} : { 'content-type': body.contentType }
}

function methodsOf({ method }: DocumentedOperation): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(method.toUpperCase()) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'PURGE'),
    },
  )
}

/** Path segments that name nothing, encoded as sent. */
const oddSegments = fc.constantFrom(
  '',
  '%',
  '%zz',
  '%00',
  'a%00b',
  '%2f',
  '..',
  '%2e%2e',
  '.',
  '%c0%80',
  '%ff',
  ';',
  '*',
  ':id',
  'a/b',
)

function pathsOf({ path, parameters }: DocumentedOperation, { vocabulary }: World): fc.Arbitrary<string> {
  const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  const segments = names.map((name) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...(vocabulary.texts[name] ?? ['a'])).map(encode) },
      { weight: 2, arbitrary: hostileTexts.map((text) => encode(text).slice(0, 6000)) },
      { weight: 1, arbitrary: oddSegments },
    ),
  )
  return fc
    .tuple(fc.tuple(...segments), fc.constantFrom(...Array(20).fill(''), '/', '//', '/x'))
    .map(([values, end]) => names.reduce((text, name, i) => text.replace(`{${name}}`, () => values[i]), path) + end)
}

function queriesOf({ parameters }: DocumentedOperation, { vocabulary }: World): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query')
  const pairs = known.map(({ name, schema }) =>
    fc
      .oneof(
        valuesOf(schema, vocabulary, name).map(String),
        hostileTexts.map((text) => text.slice(0, 1000)),
      )
      .map((text) => `${encode(name)}=${encode(text)}`),
  )
  const odd = fc.constantFrom(
    '&&',
    '=',
    'limit',
    'limit[]=1',
    'limit=1&limit=2',
    'cursor=a&cursor=b',
    'from=%zz',
    '%',
    'a=b',
  )
  const some = fc.subarray(pairs).chain((chosen) => fc.tuple(...chosen))
  return fc.oneof(
    { weight: 4, arbitrary: some.map((chosen) => chosen.join('&')) },
    { weight: 1, arbitrary: fc.tuple(some, odd).map(([chosen, text]) => [...chosen, text].join('&')) },
  )
}

function headersOf(operation: DocumentedOperation, { credentialsOf }: World): fc.Arbitrary<Record<string, string>> {
  // Usually none: with all headers, few requests would pass.
  return fc
    .tuple(
      credentialsOf(operation),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(oddHeaders, { maxLength: 2 }) },
      ),
    )
    .map(([credentials, more]) => ({ ...credentials, ...Object.fromEntries(more) }))
}

/** Characters that a header can contain. */
export const headerTexts = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0xff })), { maxLength: 300 })
  .map((codes) => String.fromCharCode(...codes).trim())

const oddHeaders = fc.oneof(
  ...Object.entries({
    'idempotency-key': fc.oneof(
      // Often the same: a key with a different request is refused.
      { weight: 6, arbitrary: fc.constantFrom('a', 'b') },
      { weight: 1, arbitrary: fc.constantFrom('', 'k'.repeat(255), 'k'.repeat(256)) },
      { weight: 1, arbitrary: headerTexts },
    ),
    'x-request-id': headerTexts,
    accept: fc.constantFrom('*/*', 'application/json', 'image/png', ''),
    'accept-encoding': fc.constantFrom('gzip', 'identity;q=0', '*;q=0'),
    'content-encoding': fc.constantFrom('identity', 'gzip', 'nonsense'),
    'if-none-match': fc.constantFrom('*', '"a"', 'W/"a", "b"'),
    'last-event-id': headerTexts,
  }).map(([name, texts]) => texts.map((text) => [name, text] as const)),
)

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
