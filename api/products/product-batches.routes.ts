import { createReadStream } from 'node:fs'
import { readCursor, signCursor } from '../http/answers/cursor.ts'
import { assertStorable } from '../http/bodies/bounded-json.ts'
import { reading } from '../http/guards.ts'
import { isObject } from '../http/json-object.ts'
import type { AccountLimiter } from '../http/limits/account-limiter.ts'
import { type Guards, route } from '../http/route.ts'
import type { AppContext } from '../http/state.ts'
import { ERRORS } from '../shared/contract/error-codes.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { type CatalogFormat, readEntries } from './entries.ts'
import type { CatalogEntry } from './entry.ts'
import { BatchItemsQuery, MAX_BATCH_ITEMS, ProductBatch, ProductBatchBody } from './product-batches.schema.ts'
import type { ProductBatches } from './product-batches.store.ts'
import { presentBatch } from './product-batches.view.ts'
import { imagesRequired } from './products.refusals.ts'
import { type ProductParts, readProduct } from './products.routes.ts'

export interface ProductBatchParts extends Pick<ProductParts, 'productPhotos' | 'signingSecret'> {
  /** Stream the body to a file and set `fields.type` to its format. */
  readonly writingBatch: Guards
  readonly batches: ProductBatches
  /** Limits the batches that are stored concurrently, per account and in total. */
  readonly limitBatches: AccountLimiter
}

/** Accepted content types of a batch. */
export const BATCH_TYPES: Readonly<Record<CatalogFormat, readonly string[]>> = {
  json: ['application/json'],
  ndjson: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
  csv: ['text/csv'],
}

/** Products of a batch that are stored concurrently. */
const STREAMS = 3

const tag = 'Products'

export const productBatchRoutes = [
  route({
    method: 'post',
    path: '/tryon/v1/products/batch',
    id: 'upsertProducts',
    scopes: ['products'],
    tag,
    summary: 'Create or change up to 500 products',
    description:
      'Each product is created or updated as by POST /products and has its own result. Images are fetched afterwards: GET /products/batch/{batchId} returns the progress. With an Idempotency-Key, an interrupted batch continues when it is sent again. CSV has a header row with the columns externalId, title, description, imageUrls (separated by spaces or |), validForDays (a number, or forever) and metadata (JSON). A JSON body may also be a bare array of products. At most 10 MB.',
    body: {
      json: ProductBatchBody,
      text: {
        'application/x-ndjson': 'One product as JSON per line.',
        'text/csv': 'A header row and one product per row.',
      },
    },
    repeatable: true,
    answers: {
      200: {
        description: 'Every product has its result; images may be pending.',
        schema: ProductBatch,
        next: { getProductBatch: { batchId: '$response.body#/batchId' } },
      },
    },
    errors: ['VALIDATION_FAILED', 'FILE_TOO_LARGE'],
    ownCheck: 'body',
    guards: ({ writingBatch }: Pick<ProductBatchParts, 'writingBatch'>) => writingBatch,
    handler: postBatch,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/products/batch/{batchId}',
    id: 'getProductBatch',
    compressed: true,
    scopes: ['products', 'read'],
    tag,
    summary: 'Fetch the progress of a batch',
    description: 'Batches are kept for 7 days.',
    parameters: { batchId: 'The batchId of the batch.' },
    query: BatchItemsQuery,
    answers: { 200: { description: 'One page of the results.', schema: ProductBatch } },
    errors: ['BATCH_NOT_FOUND', 'FORBIDDEN', 'VALIDATION_FAILED'],
    guards: reading,
    handler: getBatch,
  }),
]

async function postBatch(ctx: AppContext, options: ProductBatchParts): Promise<ProductBatch> {
  const { account, resourceId } = ctx.state
  const id = `batch_${resourceId}`
  await options.limitBatches(account.id, async () => {
    const entries = await readBatch(ctx)
    const done = await options.batches.begin({ id, accountId: account.id, items: entries.length })
    const streams = Map.groupBy(entries.entries(), ([, entry]) => streamOf(entry))
    const stored = [...streams.values()].map(async (stream) => {
      for (const [position, entry] of stream) {
        // Results of an earlier attempt stay: its products are not stored again.
        if (!done.has(position)) await storeEntry(ctx, { batchId: id, position, line: entry.line }, { entry, options })
      }
    })
    for (const { reason } of (await Promise.allSettled(stored)).filter(isRejected)) throw reason
  })
  return presentPage(id, { after: -1, limit: MAX_BATCH_ITEMS }, options)
}

function isRejected(settled: PromiseSettledResult<void>): settled is PromiseRejectedResult {
  return settled.status === 'rejected'
}

/** Entries of the same product keep their order. */
function streamOf(entry: CatalogEntry): number {
  const externalId = 'product' in entry && isObject(entry.product) ? String(entry.product.externalId) : ''
  return [...externalId].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % STREAMS
}

/** Reads the whole body before storing anything: an invalid body stores nothing. */
async function readBatch({ state }: AppContext): Promise<CatalogEntry[]> {
  const format = state.fields.type as CatalogFormat
  const [{ path }] = state.files
  // No fileKey of a product may refer to the body.
  state.files = []
  const entries: CatalogEntry[] = []
  for await (const entry of readEntries(format, createReadStream(path))) {
    if (format === 'json' && 'problem' in entry) throw entry.problem
    if (entries.length === MAX_BATCH_ITEMS) throw invalidProducts(`must have at most ${MAX_BATCH_ITEMS} entries`)
    entries.push(entry)
  }
  if (entries.length === 0) throw invalidProducts('must have at least 1 entry')
  return entries
}

/** An invalid product becomes the result of that product; any other error fails the request, which can be repeated. */
async function storeEntry(
  ctx: AppContext,
  place: { batchId: string; position: number; line: number },
  { entry, options: { batches, productPhotos } }: { entry: CatalogEntry; options: ProductBatchParts },
): Promise<void> {
  const { account } = ctx.state
  try {
    if ('problem' in entry) throw entry.problem
    assertStorable(entry.product, '')
    const product = await readProduct(ctx, entry.product, productPhotos)
    const result = await batches.upsert(place, account.id, product)
    if (result === null) throw imagesRequired('images')
  } catch (error) {
    if (!(error instanceof DrapeError) || ERRORS[error.code].status >= 500) throw error
    const { code, message, details } = error
    const externalId = 'product' in entry && isObject(entry.product) ? entry.product.externalId : null
    const shown = typeof externalId === 'string' && externalId.isWellFormed() ? externalId.slice(0, 255) : null
    await batches.insertFailed(place, shown?.replaceAll('\0', '') ?? null, {
      code,
      message,
      ...(details && { details }),
    })
  }
}

async function getBatch(
  ctx: AppContext,
  options: ProductBatchParts,
  { params, query }: { readonly params: { readonly batchId: string }; readonly query: BatchItemsQuery },
): Promise<ProductBatch> {
  const { limit, cursor } = query
  const batch = await options.batches.find(params.batchId)
  if (!batch) throw new DrapeError('BATCH_NOT_FOUND', 'The batch does not exist or is older than 7 days.')
  const accountId = ctx.state.account.id
  if (batch.accountId !== accountId) throw new DrapeError('FORBIDDEN', 'The batch belongs to another account.')
  const after = cursor === undefined ? -1 : Number(readCursor(cursor, placeOf(batch, options)))
  return presentPage(batch.id, { after, limit }, options)
}

async function presentPage(
  id: string,
  { after, limit }: { after: number; limit: number },
  options: ProductBatchParts,
): Promise<ProductBatch> {
  const [batch, found] = await Promise.all([
    options.batches.find(id),
    options.batches.listItems(id, { after, limit: limit + 1 }),
  ])
  if (!batch) throw new DrapeError('BATCH_NOT_FOUND', 'The batch does not exist or is older than 7 days.')
  const last = found.length > limit ? found[limit - 1] : undefined
  const nextCursor = last ? signCursor(String(last.position), placeOf(batch, options)) : null
  return presentBatch(batch, { items: found.slice(0, limit), nextCursor })
}

function placeOf({ id, accountId }: { id: string; accountId: string }, { signingSecret }: ProductBatchParts) {
  return { list: id, accountId, secret: signingSecret }
}

function invalidProducts(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [{ path: 'products', message }] })
}
