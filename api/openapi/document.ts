import type { Scope } from '../keys/restrictions.ts'
import { accountOperations } from '../routes/server/account.operations.ts'
import { Account, Credits } from '../routes/server/account.schema.ts'
import { customerOperations } from '../routes/server/customers.operations.ts'
import { engineOperations } from '../routes/server/engines.operations.ts'
import { EngineDescription, EngineList } from '../routes/server/engines.schema.ts'
import { generationOperations } from '../routes/server/generations.operations.ts'
import { Generation } from '../routes/server/generations.schema.ts'
import { imageOperations } from '../routes/server/images.operations.ts'
import { Upload } from '../routes/server/images.schema.ts'
import { LegacyProductBody, LegacyTryOnBody } from '../routes/server/legacy.schema.ts'
import { openApiOperations } from '../routes/server/openapi.operations.ts'
import { productBatchOperations } from '../routes/server/product-batches.operations.ts'
import { ProductBatch, ProductBatchBody, ProductBatchItem } from '../routes/server/product-batches.schema.ts'
import { productOperations } from '../routes/server/products.operations.ts'
import { CatalogProductBody, Product, ProductList, ProductStatistics } from '../routes/server/products.schema.ts'
import { tryOnOperations } from '../routes/server/try-on.operations.ts'
import { AcceptedTryOn, AwaitedTryOn, TryOnBody } from '../routes/server/try-on.schema.ts'
import { webhookOperations } from '../routes/server/webhooks.operations.ts'
import { Listener, PolledEvents, QueuedEvent } from '../routes/server/webhooks.schema.ts'
import { checkCreditsOperations } from '../routes/storefront/check-credits.operations.ts'
import { downloadOperations } from '../routes/storefront/download.operations.ts'
import { emailOperations } from '../routes/storefront/email.operations.ts'
import { eventOperations } from '../routes/storefront/events.operations.ts'
import { EventsAnswer, StorefrontBatch, TrackingBatch } from '../routes/storefront/events.schema.ts'
import { fittingRoomOperations } from '../routes/storefront/fitting-room.operations.ts'
import { shopperGenerationOperations } from '../routes/storefront/generation.operations.ts'
import { ShopperGeneration } from '../routes/storefront/generation.schema.ts'
import { shareOperations } from '../routes/storefront/share.operations.ts'
import { SharedTryOn, ShareLink } from '../routes/storefront/share.schema.ts'
import { shopifyWebhookOperations } from '../routes/storefront/shopify-webhooks.operations.ts'
import { shopperUploadOperations } from '../routes/storefront/uploads.operations.ts'
import { ShopperPhoto } from '../routes/storefront/uploads.schema.ts'
import { visitorOperations } from '../routes/storefront/visitor.operations.ts'
import type { ErrorCode } from '../shared/errors.ts'
import type { TSchema } from '../shared/schema.ts'
import { codesOf, describeAnswers, HEADERS } from './answers.ts'
import { ErrorBody } from './error-body.ts'
import { describeOrRefer, describeSchema, type JsonSchema, type Names } from './json-schema.ts'
import type { Access, ObjectSchema, Operation } from './operation.ts'
import { describeBody } from './request-body.ts'
import { describeWebhooks } from './webhooks.ts'

/** The version of the interface that the server API keeps to. */
const API_VERSION = '1.4.0'

const OPERATIONS: readonly Operation[] = [
  ...tryOnOperations,
  ...generationOperations,
  ...imageOperations,
  ...productOperations,
  ...productBatchOperations,
  ...accountOperations,
  ...engineOperations,
  ...customerOperations,
  ...webhookOperations,
  ...openApiOperations,
  ...visitorOperations,
  ...shopperUploadOperations,
  ...fittingRoomOperations,
  ...shopperGenerationOperations,
  ...checkCreditsOperations,
  ...shareOperations,
  ...downloadOperations,
  ...emailOperations,
  ...eventOperations,
  ...shopifyWebhookOperations,
]

/** The scopes of which an API key needs one, by route. */
export const SCOPES_OF_ROUTES: ReadonlyMap<string, readonly Scope[]> = new Map(
  OPERATIONS.flatMap(({ method, path, scopes }) =>
    scopes === undefined ? [] : [[`${method.toUpperCase()} ${path}`, scopes] as const],
  ),
)

/** The codes that a route behind an API key may answer with. */
export const CODES_OF_ROUTES: ReadonlyMap<string, readonly ErrorCode[]> = new Map(
  OPERATIONS.filter(({ access = 'key' }) => access === 'key').map(
    (operation) => [`${operation.method.toUpperCase()} ${operation.path}`, codesOf(operation)] as const,
  ),
)

const SCHEMAS: Readonly<Record<string, TSchema>> = {
  TryOn: TryOnBody,
  LegacyTryOn: LegacyTryOnBody,
  AcceptedTryOn,
  AwaitedTryOn,
  Generation,
  Upload,
  ProductInput: CatalogProductBody,
  LegacyProductInput: LegacyProductBody,
  Product,
  ProductList,
  ProductStatistics,
  ProductBatchInput: ProductBatchBody,
  ProductBatch,
  ProductBatchItem,
  Account,
  Credits,
  EngineDescription,
  EngineList,
  Listener,
  PolledEvents,
  QueuedEvent,
  ShopperPhoto,
  ShopperGeneration,
  ShareLink,
  SharedTryOn,
  StorefrontBatch,
  TrackingBatch,
  EventsAnswer,
  Error: ErrorBody,
}

const DESCRIPTION = `Puts garments of a shop on photos of people.

1. Upload a photo once (\`POST /images/upload\`) and keep its \`imageId\`.
2. Ask for a try-on (\`POST /try-on\`): that photo, and a product by your own id or with its images.
3. Fetch the generation every 2 seconds, or follow its events, until it is \`COMPLETED\` or \`FAILED\`.

A generation costs 1 credit, which comes back if it fails. Errors are \`{ code, message, status, details? }\`: branch on
\`code\`. In a request, \`null\` for an optional field that may not be null is the same as leaving it out, and fields beyond those
described are ignored; answers may grow fields.`

/** The OpenAPI 3.1 document of the server API: the schemas in it are those that validate requests. */
export function createDocument({ publicUrl, serviceName }: { publicUrl: string; serviceName: string }) {
  const names = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]))
  return {
    openapi: '3.1.0',
    info: { title: `${serviceName} server API`, version: API_VERSION, description: DESCRIPTION },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: describePaths(names),
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
          description: 'Set by the app proxy of Shopify, with `shop`, `timestamp` and the others that it signs.',
        },
        pluginProxy: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Drape-Signature',
          description: 'Set by the plugin of the shop, with `X-Drape-Site`, `X-Drape-Timestamp` and `X-Drape-Nonce`.',
        },
      },
      headers: mapEntries(HEADERS, (description) => ({ description, schema: { type: 'string' } })),
      schemas: mapEntries(SCHEMAS, (schema) => describeSchema(schema, names)),
    },
  }
}

function describePaths(names: Names): Record<string, Record<string, JsonSchema>> {
  const paths = Map.groupBy(OPERATIONS, ({ path }) => path)
  return Object.fromEntries(
    [...paths].map(([path, operations]) => [
      path,
      Object.fromEntries(operations.map((operation) => [operation.method, describeOperation(operation, names)])),
    ]),
  )
}

/** Any one of the entries is enough. */
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
    ...(body && { requestBody: describeBody(body, names) }),
    responses: describeAnswers(operation, names),
  }
}

const IDEMPOTENCY_KEY: JsonSchema = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to repeat: within 24 hours the same key and body get the first answer again.',
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
