import type { Operation } from '../../openapi/operation.ts'
import { BatchItemsQuery, ProductBatch, ProductBatchBody } from './product-batches.schema.ts'

const tag = 'Products'

export const productBatchOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/tryon/v1/products/batch',
    id: 'upsertProducts',
    scopes: ['products'],
    tag,
    summary: 'Create or change up to 500 products',
    description:
      'Each product is created or changed as by POST /products and has a result of its own. Images are fetched afterwards: GET /products/batch/{batchId} returns the progress. With an Idempotency-Key a batch that broke off continues when it is sent again. CSV has a header row with the columns externalId, title, description, imageUrls (separated by spaces or |), validForDays (a number, or forever) and metadata (JSON). A JSON body may also be the array of products alone. At most 10 MB.',
    body: {
      json: ProductBatchBody,
      text: {
        'application/x-ndjson': 'A product in JSON on each line.',
        'text/csv': 'A header row and a product in each row.',
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
  },
  {
    method: 'get',
    path: '/tryon/v1/products/batch/{batchId}',
    id: 'getProductBatch',
    scopes: ['products', 'read'],
    tag,
    summary: 'Fetch the progress of a batch',
    description: 'Batches are kept for 7 days.',
    parameters: { batchId: 'The batchId of the batch.' },
    query: BatchItemsQuery,
    answers: { 200: { description: 'One page of the results.', schema: ProductBatch } },
    errors: ['BATCH_NOT_FOUND', 'FORBIDDEN', 'VALIDATION_FAILED'],
  },
]
