import type { Operation } from '../../openapi/operation.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { LegacyProductBody } from './legacy.schema.ts'
import {
  CatalogProductBody,
  Deleted,
  Product,
  ProductList,
  ProductListQuery,
  ProductStatistics,
  StatisticsQuery,
} from './products.schema.ts'

const tag = 'Products'
const parameters = { externalId: 'Your id of the product, or one that the server gave.' }
const externalId = '$response.body#/externalId'
const next = { getProduct: { externalId }, getProductStatistics: { externalId }, deleteProduct: { externalId } }
const errors: readonly ErrorCode[] = ['PRODUCT_NOT_FOUND', 'FORBIDDEN']

export const productOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/tryon/v1/products',
    id: 'upsertProduct',
    scopes: ['products'],
    tag,
    summary: 'Make or change a product',
    description:
      'A field that is left out keeps what is stored. A product that is made here is kept for ever by default.',
    body: { json: CatalogProductBody, legacy: LegacyProductBody },
    repeatable: true,
    answers: { 200: { description: 'As it is stored now.', schema: Product, next } },
    errors: [
      'VALIDATION_FAILED',
      'EXTERNAL_ID_REQUIRED',
      'PRODUCT_IMAGES_REQUIRED',
      'MULTIPART_FILE_NOT_FOUND',
      'INVALID_IMAGE_INPUT',
      'INVALID_IMAGE',
      'UNSUPPORTED_IMAGE_TYPE',
      'FILE_TOO_LARGE',
      'RESERVED_EXTERNAL_ID',
      'QUOTA_EXCEEDED',
    ],
  },
  {
    method: 'get',
    path: '/tryon/v1/products',
    id: 'listProducts',
    scopes: ['products', 'read'],
    tag,
    summary: 'List products, page by page',
    description: 'One-shot products are not in the list.',
    query: ProductListQuery,
    answers: { 200: { description: 'One page.', schema: ProductList } },
    errors: ['VALIDATION_FAILED'],
  },
  {
    method: 'get',
    path: '/tryon/v1/products/{externalId}',
    id: 'getProduct',
    scopes: ['products', 'read'],
    tag,
    summary: 'Fetch a product',
    parameters,
    answers: { 200: { description: 'As it is stored now.', schema: Product } },
    errors,
  },
  {
    method: 'delete',
    path: '/tryon/v1/products/{externalId}',
    id: 'deleteProduct',
    scopes: ['products'],
    tag,
    summary: 'Delete a product',
    description: 'Generations keep what they know of it.',
    parameters,
    answers: { 200: { description: 'It is gone.', schema: Deleted } },
    errors,
  },
  {
    method: 'get',
    path: '/tryon/v1/products/{externalId}/stats',
    id: 'getProductStatistics',
    scopes: ['products', 'read'],
    tag,
    summary: 'Count the generations of a product',
    description: 'Without a window all of them. A generation may take seconds to be counted.',
    parameters,
    query: StatisticsQuery,
    answers: { 200: { description: 'Those created in the window.', schema: ProductStatistics } },
    errors: [...errors, 'VALIDATION_FAILED'],
  },
]
