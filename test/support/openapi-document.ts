import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ErrorCode } from '../../api/shared/contract/errors.ts'

export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

export interface DocumentedParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: JsonSchema
}

/** The operation of one method and path in an OpenAPI document. */
export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isOpen: boolean
  readonly parameters: readonly DocumentedParameter[]
  /** Of the body, by content type. */
  readonly bodies: ReadonlyMap<string, JsonSchema>
  readonly answers: ReadonlyMap<number, DocumentedAnswer>
  /** Every schema in it. */
  readonly schemas: readonly JsonSchema[]
}

export interface DocumentedAnswer {
  /** By content type; empty when there is no body. */
  readonly bodies: ReadonlyMap<string, JsonSchema>
  /** Error codes. */
  readonly codes: readonly ErrorCode[]
}

export interface OpenDocument {
  readonly operations: readonly DocumentedOperation[]
  /** The schema of a reference; any other schema unchanged. */
  resolve(schema: JsonSchema): JsonSchema
  /** A validator of the schema, which stores its problems in `errors`. */
  compile(schema: JsonSchema): ReturnType<Ajv2020['compile']>
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface RawOperation {
  readonly operationId: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly DocumentedParameter[]
  readonly requestBody?: { readonly content: RawContent }
  readonly responses: Readonly<Record<string, { readonly content?: RawContent }>>
}

type RawContent = Readonly<Record<string, { readonly schema: JsonSchema }>>

/** A parsed OpenAPI 3.1 document. */
export function openDocument(document: object): OpenDocument {
  const { paths, components } = document as RawDocument
  // OpenAPI has formats and keywords that validators do not know.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, logger: false })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'document', components })
  return {
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => openOperation(operation, { method, path })),
    ),
    resolve: (schema) => {
      const ref = typeof schema === 'object' && typeof schema.$ref === 'string' ? schema.$ref : null
      return ref === null ? schema : components.schemas[ref.split('/').at(-1) ?? '']
    },
    compile: (schema) => ajv.compile(absolute(schema) as JsonSchema),
  }
}

function openOperation(raw: RawOperation, place: { method: string; path: string }): DocumentedOperation {
  const bodies = schemasOf(raw.requestBody?.content)
  const parameters = raw.parameters ?? []
  const answers = new Map(
    Object.entries(raw.responses).map(([status, { content }]) => {
      const schemas = schemasOf(content)
      return [Number(status), { bodies: schemas, codes: codesOf(schemas.get('application/json')) }]
    }),
  )
  return {
    ...place,
    id: raw.operationId,
    isOpen: raw.security?.length === 0,
    parameters,
    bodies,
    answers,
    schemas: [
      ...bodies.values(),
      ...parameters.map(({ schema }) => schema),
      ...[...answers.values()].flatMap((answer) => [...answer.bodies.values()]),
    ],
  }
}

function schemasOf(content: RawContent = {}): Map<string, JsonSchema> {
  return new Map(Object.entries(content).map(([type, { schema }]) => [type, schema]))
}

function codesOf(schema: JsonSchema | undefined): ErrorCode[] {
  const { properties } = (schema ?? {}) as { properties?: { code?: { enum?: ErrorCode[] } } }
  return properties?.code?.enum ?? []
}

/** References within the document, for a schema that was extracted from it. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === '$ref' && typeof inner === 'string' ? inner.replace(/^#/, 'document#') : absolute(inner),
    ]),
  )
}
