import { join } from 'node:path'
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { ROUTES } from '../../api/http/core-routes.ts'
import { createDocument } from '../../api/http/openapi/document.ts'
import type { JsonSchema } from '../../api/http/openapi/json-schema.ts'
import { run } from '../stack/commands.ts'
import { replaceFile } from '../stack/replace-file.ts'
import { ROOT } from '../stack/session.ts'

const TYPES = join(ROOT, 'api/client/schemas.ts')

/** Schemas for callers with a key. Excludes deprecated schemas and those of the shop proxy. */
const NAMED = [
  'TryOn',
  'AcceptedTryOn',
  'Outfit',
  'AcceptedOutfit',
  'OutfitLayer',
  'Generation',
  'GenerationResult',
  'Appeal',
  'Upload',
  'ProductInput',
  'Product',
  'ProductList',
  'ProductStatistics',
  'ProductBatch',
  'Listener',
  'PolledEvents',
  'QueuedEvent',
  'ProductBatchItem',
  'Account',
  'Credits',
  'Analytics',
  'AnalyticsDay',
  'EngineDescription',
  'EngineList',
  'StorefrontBatch',
  'EventsAnswer',
] as const

const HEADER = '// Written by scripts/client types from the OpenAPI document; changes by hand are lost.'

/** Writes `api/client/schemas.ts`: an interface per public schema of the OpenAPI document. Returns its path. */
export async function writeSchemas(): Promise<string> {
  const definitions = describeDefinitions()
  const text = await compile({ $defs: definitions } as JSONSchema, 'Unused', {
    additionalProperties: false,
    bannerComment: HEADER,
    format: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
  })
  const options = { cwd: ROOT, input: withoutRoot(text) }
  await replaceFile(TYPES, await run('biome', ['format', '--stdin-file-path=schemas.ts'], options))
  return TYPES
}

const ROOT_SCHEMA = /export interface Unused \{[^}]*\}\n/
const MENTIONS =
  /\/\*\*\n \* This interface was referenced by [^/]*\*\/\n|\n? \*\n \* This interface was referenced by .*\n.*(?=\n)/g

/** Removes the schema that only contains the others, and the comments that name it. */
function withoutRoot(text: string): string {
  return text.replace(ROOT_SCHEMA, '').replaceAll(MENTIONS, '')
}

/** The public schemas, as `$defs`. */
export function describeDefinitions(): Record<string, JsonSchema> {
  const { components, paths, webhooks } = createDocument(ROUTES, { publicUrl: '', serviceName: 'Drape' })
  const schemas = components.schemas as Record<string, JsonSchema>
  const upload = paths['/tryon/v1/images/upload'].post
  const definitions = {
    ...Object.fromEntries(NAMED.map((name) => [name, schemas[name]])),
    ErrorBody: schemas.Error,
    UploadForm: contentOf(upload.requestBody, 'multipart/form-data'),
    ListProductsQuery: describeQuery(paths['/tryon/v1/products'].get),
    StatisticsQuery: describeQuery(paths['/tryon/v1/products/{externalId}/stats'].get),
    AnalyticsQuery: describeQuery(paths['/tryon/v1/analytics'].get),
    WebhookMessage: {
      anyOf: Object.values(webhooks).map(({ post }) =>
        contentOf((post as { requestBody: unknown }).requestBody, 'application/json'),
      ),
    },
  }
  const text = JSON.stringify(definitions).replaceAll('#/components/schemas/', '#/$defs/')
  return JSON.parse(text, (name, value) => (name === 'properties' && !isSchema(value) ? withUnknowns(value) : value))
}

/** A property can have the name of a keyword. */
function isSchema({ type }: JsonSchema): boolean {
  return typeof type === 'string'
}

function withUnknowns(properties: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, { ...schema, ...typeOf(schema) }]),
  )
}

const KINDS = ['type', '$ref', 'anyOf', 'allOf', 'enum', 'const']

/** Schemas that the compiler would treat as an object without fields. */
function typeOf(schema: JsonSchema): { tsType: string } | undefined {
  if (!KINDS.some((keyword) => keyword in schema)) return { tsType: 'unknown' }
  const isOpen = schema.type === 'object' && !('properties' in schema) && !('additionalProperties' in schema)
  return isOpen ? { tsType: 'Record<string, unknown>' } : undefined
}

function contentOf(body: unknown, contentType: string): JsonSchema {
  return (body as { content: Record<string, { schema: JsonSchema }> }).content[contentType].schema
}

function describeQuery(operation: JsonSchema): JsonSchema {
  const parameters = operation.parameters as { name: string; in: string; schema: JsonSchema; description?: string }[]
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const properties = query.map(({ name, schema, description }) => [name, { ...schema, description }])
  return { type: 'object', properties: Object.fromEntries(properties) }
}
