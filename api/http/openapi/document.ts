import { ERROR_CODES } from '../../shared/contract/error-codes.ts'
import { codesOf, describeAnswers, describeErrorExample, HEADERS } from './answers.ts'
import { ErrorBody } from './error-body.ts'
import { describeOrRefer, describeSchema, type JsonSchema, type Names } from './json-schema.ts'
import { findNamed } from './named-schema.ts'
import type { Access, ObjectSchema, Operation } from './operation.ts'
import { describeBody } from './request-body.ts'
import { describeWebhooks } from './webhooks.ts'

/** Version of the server API. */
const API_VERSION = '1.4.0'

const DESCRIPTION = `Puts garments of a shop on photos of people.

1. Upload a photo once (\`POST /images/upload\`) and keep its \`imageId\`.
2. Start a try-on (\`POST /try-on\`) with the \`imageId\` and a product: your ID of the product, or its images.
3. Fetch the generation every 2 seconds, or follow its events, until it is \`COMPLETED\` or \`FAILED\`.

A try-on costs the credits of its engine, which are refunded if it fails. Errors are \`{ code, message, status, details? }\`: branch on
\`code\`. In a request, \`null\` in an optional field that is not nullable counts as absent, and unknown fields are ignored. Responses
may gain fields.`

export const TAGS: Readonly<Record<string, string>> = {
  'Try-on': 'Put a product on a photo of a person.',
  Generations: 'Follow a try-on from PENDING to COMPLETED or FAILED.',
  Images: 'Photos of people, uploaded once for many try-ons.',
  Products: 'The catalog of the account: products with their images, one by one or in batches.',
  Account: 'The account of the key and its credits.',
  Engines: 'Engines that render try-ons, and how long each engine takes to start.',
  Customers: 'Erasure of all stored data of an end user.',
  Webhooks: 'Events of the account, listeners of the command line, and webhooks of shop platforms.',
  Analytics: 'Events of shoppers, and the counts of visitors and orders made of them.',
  Document: 'The OpenAPI document of this API.',
  Storefront: 'Routes that the pages of a shop call through the proxy of the shop.',
}

/** The OpenAPI 3.1 document of these operations. Its schemas are those that validate requests. */
export function createDocument(
  operations: readonly Operation[],
  { publicUrl, serviceName }: { readonly publicUrl: string; readonly serviceName: string },
) {
  const names = findNamed([...operations, ErrorBody])
  return {
    openapi: '3.1.0',
    info: {
      title: `${serviceName} server API`,
      version: API_VERSION,
      description: DESCRIPTION,
      contact: { name: serviceName, url: publicUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] })),
    paths: describePaths(operations, names),
    webhooks: describeWebhooks(names),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'A secret key of the account: sk_…. A restricted key needs one of the x-required-scopes of the operation.',
        },
        publishableKey: { type: 'http', scheme: 'bearer', description: 'The publishable key of the account: pk_…' },
        appProxy: {
          type: 'apiKey',
          in: 'query',
          name: 'signature',
          description:
            'Set by the app proxy of Shopify, together with `shop`, `timestamp` and its other signed parameters.',
        },
        pluginProxy: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Drape-Signature',
          description: 'Set by the plugin of the shop, with `X-Drape-Site`, `X-Drape-Timestamp` and `X-Drape-Nonce`.',
        },
      },
      headers: mapEntries(HEADERS, (description) => ({ description, schema: { type: 'string' } })),
      examples: describeErrorExamples(operations),
      schemas: Object.fromEntries([...names].map(([schema, name]) => [name, describeSchema(schema, names)])),
    },
  }
}

/** Codes that at least one operation returns. */
function describeErrorExamples(operations: readonly Operation[]): JsonSchema {
  const answered = new Set(operations.flatMap(codesOf))
  return Object.fromEntries(
    ERROR_CODES.filter((code) => answered.has(code)).map((code) => [code, describeErrorExample(code)]),
  )
}

function describePaths(operations: readonly Operation[], names: Names): Record<string, Record<string, JsonSchema>> {
  const paths = Map.groupBy(operations, ({ path }) => path)
  return Object.fromEntries(
    [...paths].map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map((operation) => [operation.method, describeOperation(operation, names)])),
    ]),
  )
}

/** Any one of the entries is sufficient. */
const SECURITY: Readonly<Record<Access, readonly JsonSchema[]>> = {
  key: [{ apiKey: [] }],
  shop: [{ appProxy: [] }, { pluginProxy: [] }],
  events: [{ publishableKey: [] }, { appProxy: [] }, { pluginProxy: [] }],
  open: [],
}

function describeOperation(operation: Operation, names: Names): JsonSchema {
  const { id, tag, summary, description, body, access, scopes } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(access && { security: SECURITY[access] }),
    ...(scopes && { 'x-required-scopes': scopes }),
    parameters: describeParameters(operation, names),
    ...(body && { requestBody: describeBody(operation, body, names) }),
    responses: describeAnswers(operation, names),
  }
}

const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to repeat: within 24 hours the same key and body return the first response.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function describeParameters(
  { parameters = {}, query, headers = {}, repeatable }: Operation,
  names: Names,
): JsonSchema[] {
  const inPath = Object.entries(parameters).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', minLength: 1 },
  }))
  const inHeaders = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }))
  return [
    ...inPath,
    ...(query ? describeQuery(query, names) : []),
    ...inHeaders,
    ...(repeatable ? [IDEMPOTENCY_KEY] : []),
  ]
}

function describeQuery({ properties }: ObjectSchema, names: Names): JsonSchema[] {
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = describeOrRefer(property, names)
    return { name, in: 'query', description, schema }
  })
}

function mapEntries<T>(
  entries: Readonly<Record<string, T>>,
  map: (value: T) => JsonSchema,
): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, map(value)]))
}
