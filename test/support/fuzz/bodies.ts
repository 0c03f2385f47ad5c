import fc from 'fast-check'
import type { DocumentedOperation, JsonSchema } from '../openapi-document.ts'
import { hostileTexts, hostileValues, spoiled } from './hostile-values.ts'
import { type Vocabulary, valuesOf } from './schema-values.ts'

export interface Body {
  readonly contentType: string | null
  readonly bytes: Buffer
}

const BOUNDARY = 'x-boundary-x'
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

/** Bodies of an operation: valid, almost valid and arbitrary; null for an operation without a body. */
export function bodiesOf(
  { bodies }: DocumentedOperation,
  { vocabulary, files }: { vocabulary: Vocabulary; files: readonly Buffer[] },
): fc.Arbitrary<Body | null> {
  const json = bodies.get('application/json')
  const form = bodies.get('multipart/form-data')
  if (bodies.has('application/octet-stream')) return bareBytes(files)
  if (!form) return json ? jsonBodies(json, vocabulary) : fc.constant(null)
  const parts = json ? dataParts(json, vocabulary, files) : formParts(form, vocabulary, files)
  const arbitraries = [
    { weight: 6, arbitrary: parts.map(assemble) },
    { weight: 2, arbitrary: fc.tuple(parts.map(assemble), damages).map(([body, damage]) => damaged(body, damage)) },
    { weight: 1, arbitrary: garbage },
    { weight: 1, arbitrary: fc.constant(null) },
  ]
  if (!json) return fc.oneof(...arbitraries)
  return fc.oneof({ weight: 12, arbitrary: jsonBodies(json, vocabulary) }, ...arbitraries)
}

function jsonBodies(schema: JsonSchema, vocabulary: Vocabulary): fc.Arbitrary<Body | null> {
  const texts = jsonTexts(schema, vocabulary).map((text) => ({
    contentType: 'application/json',
    bytes: Buffer.from(text),
  }))
  return fc.oneof(
    { weight: 8, arbitrary: texts },
    { weight: 3, arbitrary: fc.tuple(texts, damages).map(([body, damage]) => damaged(body, damage)) },
    { weight: 1, arbitrary: fc.tuple(texts, contentTypes).map(([body, contentType]) => ({ ...body, contentType })) },
    { weight: 1, arbitrary: garbage },
    { weight: 1, arbitrary: fc.constant(null) },
  )
}

function bareBytes(files: readonly Buffer[]): fc.Arbitrary<Body | null> {
  const whole = fc.record({
    contentType: fc.constantFrom('image/jpeg', 'application/octet-stream', null),
    bytes: fc.constantFrom(...files),
  })
  return fc.oneof(
    { weight: 4, arbitrary: whole },
    { weight: 2, arbitrary: fc.tuple(whole, damages).map(([body, damage]) => damaged(body, damage)) },
    { weight: 1, arbitrary: garbage },
    { weight: 1, arbitrary: fc.constant(null) },
  )
}

const contentTypes = fc.constantFrom(
  null,
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'application/json; charset=nonsense',
  'application/vnd.api+json',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/mixed; boundary=${BOUNDARY}`,
  MULTIPART,
)

function jsonTexts(schema: JsonSchema, vocabulary: Vocabulary): fc.Arbitrary<string> {
  const valid = valuesOf(schema, vocabulary)
  const values = fc.oneof(
    { weight: 4, arbitrary: valid },
    { weight: 6, arbitrary: spoiled(valid) },
    { weight: 1, arbitrary: hostileValues },
  )
  return values.map((value) => JSON.stringify(value) ?? 'null')
}

interface Part {
  readonly disposition: string
  readonly contentType: string | null
  readonly bytes: Buffer
}

const filePart = (files: readonly Buffer[]) => ({
  name: fc.constantFrom('me', 'shirt', 'file', 'data'),
  filename: fc.constantFrom(
    '; filename="a.jpg"',
    '; filename="../../a"',
    "; filename*=UTF-8''%00%ff",
    '; filename=""',
    '',
  ),
  contentType: fc.constantFrom('image/jpeg', 'image/png', 'text/plain', 'application/octet-stream', null),
  bytes: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...files) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  ),
})

function fileParts(files: readonly Buffer[]): fc.Arbitrary<Part[]> {
  const part = fc
    .record(filePart(files))
    .map(({ name, filename, ...rest }) => ({ disposition: `name="${name}"${filename}`, ...rest }))
  const whole = ['me', 'shirt', 'file'].map((name) => ({
    disposition: `name="${name}"; filename="a.jpg"`,
    contentType: 'image/jpeg',
    bytes: files[0],
  }))
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(whole) },
    { weight: 2, arbitrary: fc.array(part, { maxLength: 14 }) },
  )
}

function dataParts(schema: JsonSchema, vocabulary: Vocabulary, files: readonly Buffer[]): fc.Arbitrary<Part[]> {
  const data = fc
    .tuple(jsonTexts(schema, vocabulary), fc.constantFrom(null, 'application/json'))
    .map(([text, contentType]) => ({ disposition: 'name="data"', contentType, bytes: Buffer.from(text) }))
  return fc.tuple(data, fileParts(files)).map(([part, others]) => [part, ...others])
}

function formParts(schema: JsonSchema, vocabulary: Vocabulary, files: readonly Buffer[]): fc.Arbitrary<Part[]> {
  const { properties } = schema as { properties: Record<string, JsonSchema> }
  const field = fc
    .constantFrom(...Object.keys(properties), 'extra', '')
    .chain((name) =>
      fc
        .oneof(valuesOf(properties[name] ?? {}, vocabulary, name).map(asText), hostileTexts)
        .map((text) => ({ disposition: `name="${name}"`, contentType: null, bytes: Buffer.from(text) })),
    )
  return fc.tuple(fileParts(files), fc.array(field, { maxLength: 4 })).map((parts) => parts.flat())
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function assemble(parts: readonly Part[]): Body {
  const chunks = parts.flatMap(({ disposition, contentType, bytes }) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n`),
    Buffer.from(contentType === null ? '\r\n' : `Content-Type: ${contentType}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
  return { contentType: MULTIPART, bytes: Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]) }
}

const garbage: fc.Arbitrary<Body> = fc.record({
  contentType: contentTypes,
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    hostileTexts.map((text) => Buffer.from(text)),
    fc
      .constantFrom('[', '{"a":', '{"a":1}{"a":1}', '{"a":1e999}', "{'a':1}", '[1,]', '\ufeff{}', '"\\ud800"')
      .map((text) => Buffer.from(text)),
    fc.constantFrom('[', '{"a":').map((text) => Buffer.from(text.repeat(5000))),
  ),
})

const damages = fc.record({
  kind: fc.constantFrom('cut', 'flip', 'insert', 'repeat' as const),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('\r\n', '\r\n\r\n', `--${BOUNDARY}`, '"', '{', '\0', '\ufeff', '"a":1,')
      .map((text) => Buffer.from(text)),
  ),
})
type Damage = typeof damages extends fc.Arbitrary<infer T> ? T : never

/** The body with one part removed, changed, added or duplicated. */
function damaged({ contentType, bytes }: Body, { kind, at, bytes: more }: Damage): Body {
  const middle = Math.floor(at * bytes.length)
  const [before, after] = [bytes.subarray(0, middle), bytes.subarray(middle)]
  switch (kind) {
    case 'cut':
      return { contentType, bytes: before }
    case 'flip':
      return { contentType, bytes: Buffer.concat([before, more, after.subarray(more.length)]) }
    case 'insert':
      return { contentType, bytes: Buffer.concat([before, more, after]) }
    case 'repeat':
      return { contentType, bytes: Buffer.concat([bytes, after]) }
  }
}
