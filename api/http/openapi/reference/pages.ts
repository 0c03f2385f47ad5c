import type { Content, DescribedOperation, ReferenceDocument, Schema, Schemas } from './document.ts'
import { describeType, listFields } from './fields.ts'
import { describeCall } from './sample-call.ts'

export interface ReferencePage {
  /** `/docs/try-on` */
  readonly path: string
  readonly markdown: string
}

interface NamedOperation {
  /** `POST /tryon/v1/try-on`, or the name of an event. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly isEvent: boolean
  readonly heading: string
  /** `/docs/try-on#start-a-try-on` */
  readonly address: string
  readonly operation: DescribedOperation
}

/** The anchor of a heading in the pages. */
export type AnchorOf = (heading: string) => string

/** The document as pages: one with what all operations share, and one for each tag. */
export function presentReference(described: object, anchorOf: AnchorOf): ReferencePage[] {
  const document = described as ReferenceDocument
  const operations = listOperations(document, anchorOf)
  const shared = findSharedErrors(operations)
  const pages = document.tags.map(({ name, description = '' }) => {
    const members = operations.filter(({ operation }) => operation.tags[0] === name)
    const sections = members.map((member) => presentOperation(member, { document, shared }))
    const list = members.length > 1 ? [presentList(members)] : []
    return { path: pathOf(name), markdown: [`# ${name}`, description, ...list, ...sections].join('\n\n') }
  })
  return [{ path: '/docs', markdown: presentStart(document, { operations, shared }) }, ...pages]
}

function listOperations({ paths, webhooks }: ReferenceDocument, anchorOf: AnchorOf): NamedOperation[] {
  const named = (operation: DescribedOperation, heading: string) => {
    const address = `${pathOf(operation.tags[0])}#${anchorOf(heading)}`
    return { operation, heading, address }
  }
  const called = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([key, operation]) => {
      const method = key.toUpperCase()
      return { ...named(operation, operation.summary), name: `${method} ${path}`, method, path, isEvent: false }
    }),
  )
  const sent = Object.entries(webhooks).map(([name, { post }]) => {
    return { ...named(post, `Event ${name}`), name, method: 'POST', path: '', isEvent: true }
  })
  return [...called, ...sent]
}

function pathOf(tag: string): string {
  return `/docs/${tag.toLowerCase().replaceAll(/\W+/g, '-')}`
}

interface ErrorRow {
  readonly status: string
  readonly code: string
  readonly condition: string
}

interface Shared {
  readonly rows: readonly ErrorRow[]
  readonly ofKeys: readonly ErrorRow[]
}

/** Errors of every operation, and those that every operation behind an API key adds. */
function findSharedErrors(operations: readonly NamedOperation[]): Shared {
  const called = operations.filter(({ isEvent }) => !isEvent)
  const common = (members: readonly NamedOperation[]) => {
    const [first, ...others] = members.map(({ operation }) => listErrors(operation))
    return first.filter(({ code }) => others.every((rows) => rows.some((row) => row.code === code)))
  }
  const rows = common(called)
  const ofKeys = common(called.filter(({ operation }) => isBehindKey(operation)))
  return { rows, ofKeys: ofKeys.filter(({ code }) => !rows.some((row) => row.code === code)) }
}

function isBehindKey({ security }: DescribedOperation): boolean {
  return security === undefined
}

function listErrors({ responses }: DescribedOperation): ErrorRow[] {
  return Object.entries(responses).flatMap(([status, { description }]) =>
    [...description.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, code, condition]) => ({ status, code, condition })),
  )
}

function presentStart(
  { info, servers, tags, components }: ReferenceDocument,
  { operations, shared }: { operations: readonly NamedOperation[]; shared: Shared },
): string {
  const groups = tags.map(({ name, description = '' }) => {
    const members = operations.filter(({ operation }) => operation.tags[0] === name)
    return `### ${name}\n\n${description}\n\n${presentList(members)}`
  })
  const credentials = Object.entries(components.securitySchemes).map(([name, { description }]) => [
    quote(name),
    toProse(description),
  ])
  return [
    `# ${info.title}`,
    info.description,
    `Version ${info.version} of the interface at \`${servers[0].url}\`. [OpenAPI document](/tryon/v1/openapi.json) for generators of clients and for other viewers. [Playground](/playground) for a try-on in the browser.`,
    '## Credentials',
    table(['Scheme', 'What to send'], credentials),
    '## Operations',
    ...groups,
    '## Errors of every operation',
    presentErrors(shared.rows),
    'Operations behind an API key have these too:',
    presentErrors(shared.ofKeys),
    'What to do about each code: [errors](/guide/errors).',
  ].join('\n\n')
}

function presentList(members: readonly NamedOperation[]): string {
  const rows = members.map(({ name, heading, address }) => [`[${toProse(heading)}](${address})`, quote(name)])
  return table(['Operation', members.some(({ isEvent }) => isEvent) ? 'Request or event' : 'Request'], rows)
}

function presentOperation(
  member: NamedOperation,
  { document, shared }: { document: ReferenceDocument; shared: Shared },
): string {
  const { name, method, path, isEvent, operation } = member
  const { schemas } = document.components
  const call = isEvent ? null : describeCall({ method, path, operation, baseUrl: document.servers[0].url, schemas })
  return joinParts([
    `## ${member.heading}`,
    isEvent ? '' : fence('http', name),
    operation.description ?? '',
    isEvent ? '' : describeAccess(operation),
    presentParameters(operation, schemas),
    presentBody(operation, schemas, call !== null),
    call === null ? '' : fence('sh', call),
    ...Object.entries(operation.responses)
      .filter(([status]) => status < '400' || isEvent)
      .map(([status, { description, content = {} }]) => presentAnswer({ status, description, content }, schemas)),
    isEvent ? '' : presentOwnErrors(operation, shared),
  ])
}

const ACCESS: Readonly<Record<string, string>> = {
  apiKey: 'an API key in the header `x-api-key`',
  publishableKey: 'a publishable key as `Authorization: Bearer`',
  appProxy: 'the signature of the app proxy of Shopify',
  pluginProxy: 'the signature of the plugin of a shop',
}

function describeAccess({ security = [{ apiKey: [] }], 'x-required-scopes': scopes = [] }: DescribedOperation): string {
  const schemes = security.flatMap((one) => Object.keys(one))
  if (schemes.length === 0) return 'Needs no credentials.'
  const scope = scopes.length === 0 ? '' : ` A restricted key needs the scope ${scopes.map(quote).join(' or ')}.`
  return `Needs ${schemes.map((scheme) => ACCESS[scheme]).join(', or ')}.${scope}`
}

function presentParameters({ parameters = [] }: DescribedOperation, schemas: Schemas): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: place, required = false, description = '', schema }) => {
    const mark = required ? ' **required**' : ''
    return [`${quote(name)}${mark}`, `${place}: ${describeType(schema, schemas)}`, toProse(description)]
  })
  return `### Parameters\n\n${table(['Name', 'Place and type', 'Meaning'], rows)}`
}

function presentBody(operation: DescribedOperation, schemas: Schemas, isCalled: boolean): string {
  const [first, ...others] = Object.entries(operation.requestBody?.content ?? {})
  if (first === undefined) return ''
  const [type, { schema, example }] = first
  const also = others.map(([other, content]) => `${quote(other)}${noteOf(content)}`)
  return joinParts([
    '### Body',
    `${[quote(type), ...also].join('; also ')}.`,
    schema === undefined ? '' : presentFields(schema, schemas, { marked: 'required' }),
    isCalled || example === undefined ? '' : fence('json', JSON.stringify(example, null, 2)),
  ])
}

function noteOf({ schema }: Content): string {
  if (schema?.properties?.data !== undefined)
    return ' with this body in the field `data`, beside the files that it names'
  return schema?.description === undefined ? '' : ` (${schema.description.replace(/\.$/, '')})`
}

/** `marked`: callers look for the fields that they have to send, and for those that an answer may lack. */
function presentFields(schema: Schema, schemas: Schemas, { marked }: { marked: 'required' | 'optional' }): string {
  const fields = listFields(schema, schemas)
  if (fields.length === 0) return toProse(schema.description ?? '')
  const rows = fields.map(({ path, isRequired, type, description }) => {
    const mark = isRequired === (marked === 'required') ? ` **${marked}**` : ''
    return [`${quote(path)}${mark}`, type, toProse(description)]
  })
  return table(['Field', 'Type', 'Meaning'], rows)
}

interface StatusAnswer {
  readonly status: string
  readonly description: string
  readonly content: Readonly<Record<string, Content>>
}

function presentAnswer({ status, description, content }: StatusAnswer, schemas: Schemas): string {
  const [type, { schema, examples = {} }] = Object.entries(content)[0] ?? ['', {}]
  const values = Object.values(examples).flatMap(({ value }) => (value === undefined ? [] : [value]))
  const language = type === 'application/json' ? 'json' : 'text'
  return joinParts([
    `### Response ${status}`,
    type === '' || type === 'application/json' ? description : `${description} As ${quote(type)}.`,
    schema === undefined ? '' : presentFields(schema, schemas, { marked: 'optional' }),
    ...values.map((value) => fence(language, typeof value === 'string' ? value : JSON.stringify(value, null, 2))),
  ])
}

function presentOwnErrors(operation: DescribedOperation, { rows, ofKeys }: Shared): string {
  const known = isBehindKey(operation) ? [...rows, ...ofKeys] : rows
  const own = listErrors(operation).filter(({ code }) => !known.some((row) => row.code === code))
  const link = 'errors of every operation](/docs#errors-of-every-operation)'
  if (own.length === 0) return `### Errors\n\nOnly the [${link}.`
  return `### Errors\n\n${presentErrors(own)}\n\nAnd the [${link}.`
}

function presentErrors(rows: readonly ErrorRow[]): string {
  const cells = rows.map(({ status, code, condition }) => [status, quote(code), toProse(condition)])
  return table(['Status', 'Code', 'When'], cells)
}

function quote(text: string): string {
  return `\`${text}\``
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((cells) => cells.map(toCell))]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function toCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
}

/** A description, in which only code is Markdown: `_anon_` stays as it is. */
function toProse(text: string): string {
  return text.replaceAll(/(`[^`]*`)|([*_[\]])/g, (_, code?: string, mark?: string) => code ?? `\\${mark}`)
}
