import { ErrorBody } from '../http/openapi/error-body.ts'
import { named } from '../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { ITEM_RESULTS } from './product-batches.store.ts'
import { CatalogProductBody } from './products.schema.ts'

export const MAX_BATCH_ITEMS = 500

export const ProductBatchBody = named(
  'ProductBatchInput',
  Type.Object({
    products: Type.Array(CatalogProductBody, {
      minItems: 1,
      maxItems: MAX_BATCH_ITEMS,
      description: 'Products as in POST /products, with images by URL.',
    }),
  }),
)

export const BatchItemsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: MAX_BATCH_ITEMS, default: 100 }),
  cursor: Type.Optional(Type.String({ description: 'The nextCursor of the previous page.' })),
})
export type BatchItemsQuery = Static<typeof BatchItemsQuery>

const Count = Type.Integer({ minimum: 0 })

const BatchImageFailure = Type.Object({
  url: Type.String(),
  code: Type.String({ description: 'For example PRODUCT_IMAGE_FETCH_FAILED or QUOTA_EXCEEDED.' }),
})

export const ProductBatchItem = named(
  'ProductBatchItem',
  Type.Object({
    index: Type.Integer({ minimum: 0, description: 'Position in the batch, from 0.' }),
    line: Type.Integer({ minimum: 1, description: 'Line of the body where the product starts, from 1.' }),
    externalId: Nullable(Type.String()),
    result: Type.Enum([...ITEM_RESULTS]),
    error: Type.Optional(
      Type.Object({
        code: Type.String({ description: 'As POST /products returns it.' }),
        message: Type.String(),
        details: Type.Optional(ErrorBody.properties.details),
      }),
    ),
    images: Type.Object({
      pending: Count,
      fetched: Count,
      failures: Type.Array(BatchImageFailure),
    }),
  }),
)
export type ProductBatchItem = Static<typeof ProductBatchItem>

export const ProductBatch = named(
  'ProductBatch',
  Type.Object({
    batchId: Type.String(),
    status: Type.Enum(['processing', 'fetching', 'completed'], {
      description:
        'processing: products are being stored, or the request was interrupted (send it again with the same Idempotency-Key). fetching: all products are stored, images are being fetched.',
    }),
    createdAt: Type.String({ format: 'date-time' }),
    counts: Type.Object({
      total: Count,
      created: Count,
      updated: Count,
      unchanged: Count,
      failed: Count,
      pending: Type.Integer({ minimum: 0, description: 'Products without a result yet.' }),
    }),
    images: Type.Object({
      total: Count,
      pending: Count,
      fetched: Count,
      failed: Count,
      replaced: Type.Integer({
        minimum: 0,
        description: 'Images not fetched because the product was changed or deleted meanwhile.',
      }),
    }),
    items: Type.Array(ProductBatchItem, { description: 'Products that have a result, in the order of the batch.' }),
    nextCursor: Nullable(Type.String()),
    hasMore: Type.Boolean(),
  }),
)
export type ProductBatch = Static<typeof ProductBatch>
