import { v7 as uuidv7 } from 'uuid'
import { readCursor, signCursor } from '../http/answers/cursor.ts'
import { disconnectSignal } from '../http/answers/disconnect-signal.ts'
import { reading, writing } from '../http/guards.ts'
import { route } from '../http/route.ts'
import { createTranslatingParser, type Translated } from '../http/route-body.ts'
import type { AppContext } from '../http/state.ts'
import { parseWindow } from '../http/statistics-window.ts'
import type { ProductPhotos } from '../photos/product-photos.ts'
import type { ErrorCode } from '../shared/contract/errors.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { ProductInput } from '../shared/database/product-merge.store.ts'
import { imageField, translateProduct } from './legacy.routes.ts'
import { LegacyProductBody } from './legacy.schema.ts'
import { assertUsableProduct, imagesRequired } from './products.refusals.ts'
import {
  CatalogProductBody,
  Deleted,
  Product,
  ProductList,
  ProductListQuery,
  ProductStatistics,
  StatisticsQuery,
} from './products.schema.ts'
import type { ProductName, Products } from './products.store.ts'
import { presentProduct, presentStatistics } from './products.view.ts'

export interface ProductParts {
  readonly products: Products
  readonly productPhotos: ProductPhotos
  /** Signs cursors of the product list. */
  readonly signingSecret: string
}

const tag = 'Products'
const parameters = { externalId: 'Your id of the product, or an id that the server assigned.' }
const externalId = '$response.body#/externalId'
const next = { getProduct: { externalId }, getProductStatistics: { externalId }, deleteProduct: { externalId } }
const errors: readonly ErrorCode[] = ['PRODUCT_NOT_FOUND', 'FORBIDDEN']
const translation = { translate: translateProduct, refuse: assertUsableProduct }

export const productRoutes = [
  route({
    method: 'post',
    path: '/tryon/v1/products',
    id: 'upsertProduct',
    scopes: ['products'],
    tag,
    summary: 'Create or update a product',
    description: 'Omitted fields keep their stored value. By default, a product created here never expires.',
    body: { json: CatalogProductBody, legacy: LegacyProductBody, ...translation },
    repeatable: true,
    answers: { 200: { description: 'The stored product.', schema: Product, next } },
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
    guards: writing,
    handler: postProduct,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/products',
    id: 'listProducts',
    compressed: true,
    scopes: ['products', 'read'],
    tag,
    summary: 'List products, page by page',
    description: 'The list does not include one-shot products.',
    query: ProductListQuery,
    answers: { 200: { description: 'One page.', schema: ProductList } },
    errors: ['VALIDATION_FAILED'],
    guards: reading,
    handler: listProducts,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/products/{externalId}',
    id: 'getProduct',
    compressed: true,
    scopes: ['products', 'read'],
    tag,
    summary: 'Fetch a product',
    description: 'Includes the images and the classifications that try-ons detected in them.',
    parameters,
    answers: { 200: { description: 'The stored product.', schema: Product } },
    errors,
    guards: reading,
    handler: getProduct,
  }),
  route({
    method: 'delete',
    path: '/tryon/v1/products/{externalId}',
    id: 'deleteProduct',
    scopes: ['products'],
    tag,
    summary: 'Delete a product',
    description: 'Generations keep their own copy of the product data.',
    parameters,
    answers: { 200: { description: 'Deleted.', schema: Deleted } },
    errors,
    guards: reading,
    handler: deleteProduct,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/products/{externalId}/stats',
    id: 'getProductStatistics',
    scopes: ['products', 'read'],
    tag,
    summary: 'Count the generations of a product',
    description: 'Without a window, counts all generations. A generation may be counted a few seconds late.',
    parameters,
    query: StatisticsQuery,
    ownCheck: 'query',
    answers: { 200: { description: 'Counts of the generations created in the window.', schema: ProductStatistics } },
    errors: [...errors, 'VALIDATION_FAILED'],
    guards: reading,
    handler: getStatistics,
  }),
]

interface SentProduct {
  readonly body: CatalogProductBody
  readonly translated: Translated
}

async function postProduct(
  ctx: AppContext,
  { products, productPhotos }: ProductParts,
  sent: SentProduct,
): Promise<Product> {
  const product = await products.upsert(ctx.state.account.id, await storeImages(ctx, sent, productPhotos))
  if (!product) throw imagesRequired('images')
  const { warnings } = sent.translated
  return { ...presentProduct(product), ...(warnings.length > 0 && { warnings: [...warnings] }) }
}

const parseProduct = createTranslatingParser(CatalogProductBody, translation)

/** Parses a product in any format and stores its files. */
export async function readProduct(ctx: AppContext, sent: unknown, photos: ProductPhotos): Promise<ProductInput> {
  return storeImages(ctx, parseProduct(ctx, sent), photos)
}

async function storeImages(
  ctx: AppContext,
  { body, translated: { written } }: SentProduct,
  photos: ProductPhotos,
): Promise<ProductInput> {
  const { externalId, title, description, images, validForDays, metadata } = body
  const { account, files } = ctx.state
  const fieldOf = (index: number) => imageField(['images', String(index)], written)
  return {
    id: uuidv7(),
    externalId,
    anonymous: false,
    title,
    description,
    images: images && (await photos.store(images, { account, files, fieldOf, signal: disconnectSignal(ctx) })),
    validForDays,
    metadata,
  }
}

async function listProducts(
  { state }: AppContext,
  { products, signingSecret }: ProductParts,
  { query: { limit, cursor } }: { readonly query: ProductListQuery },
): Promise<ProductList> {
  const accountId = state.account.id
  const place = { list: 'products', accountId, secret: signingSecret }
  const after = cursor === undefined ? null : readCursor(cursor, place)
  const page = await products.list({ accountId, after, limit })
  const last = page.hasMore ? page.products.at(-1) : undefined
  return {
    items: page.products.map(presentProduct),
    nextCursor: last ? signCursor(last.id, place) : null,
    hasMore: page.hasMore,
    count: page.products.length,
  }
}

interface OneProduct {
  readonly params: { readonly externalId: string }
}

async function getProduct(ctx: AppContext, { products }: ProductParts, { params }: OneProduct): Promise<Product> {
  return presentProduct(ownOf(ctx, await products.find(nameOf(ctx, params))))
}

async function deleteProduct(ctx: AppContext, { products }: ProductParts, { params }: OneProduct): Promise<Deleted> {
  const accountId = await products.delete(nameOf(ctx, params))
  ownOf(ctx, accountId === null ? null : { accountId })
  return { deleted: true }
}

async function getStatistics(
  ctx: AppContext,
  { products }: ProductParts,
  { params, query }: OneProduct & { readonly query: AppContext['query'] },
): Promise<ProductStatistics> {
  return presentStatistics(ownOf(ctx, await products.countGenerations(nameOf(ctx, params), parseWindow(query))))
}

function nameOf({ state }: AppContext, { externalId }: OneProduct['params']): ProductName {
  return { accountId: state.account.id, externalId }
}

/**
 * Returns the resource. Throws `PRODUCT_NOT_FOUND` when it does not exist and `FORBIDDEN` when it belongs to another
 * account.
 */
function ownOf<T extends { readonly accountId: string }>({ state }: AppContext, found: T | null): T {
  if (!found) throw new DrapeError('PRODUCT_NOT_FOUND', 'The product does not exist.')
  if (found.accountId !== state.account.id) {
    throw new DrapeError('FORBIDDEN', 'The product belongs to another account.')
  }
  return found
}
