import Router from '@koa/router'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { readCursor, signCursor } from '../../answers/cursor.ts'
import { hangUpOf } from '../../answers/hang-up.ts'
import type { ProductPhotos } from '../../photos/product-photos.ts'
import { DrapeError } from '../../shared/errors.ts'
import { compileParser } from '../../shared/schema.ts'
import type { ProductInput } from '../../shared/stores/product-merge.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { ProductName, Products } from '../../stores/products.ts'
import { markDeprecated } from './deprecation.ts'
import { imageField, translateProduct } from './legacy.ts'
import { assertUsableProduct, imagesRequired } from './products.refusals.ts'
import { CatalogProductBody, ProductListQuery } from './products.schema.ts'
import { presentProduct, presentStatistics } from './products.view.ts'
import { parseWindow } from './statistics-window.ts'

export interface ProductsOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly products: Products
  readonly photos: ProductPhotos
  /** Signs the cursors of the list. */
  readonly signingSecret: string
}

const parseProduct = compileParser(CatalogProductBody)
const parseListQuery = compileParser(ProductListQuery)

/** POST and GET /products, GET and DELETE /products/:externalId, GET /products/:externalId/stats */
export function productRoutes(options: ProductsOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  const guards = options.guards as never[]
  router.post('/products', ...guards, (ctx: AppContext) => postProduct(ctx, options))
  router.get('/products', ...guards, (ctx: AppContext) => listProducts(ctx, options))
  router.get('/products/:externalId', ...guards, (ctx: AppContext) => getProduct(ctx, options))
  router.delete('/products/:externalId', ...guards, (ctx: AppContext) => deleteProduct(ctx, options))
  router.get('/products/:externalId/stats', ...guards, (ctx: AppContext) => getStatistics(ctx, options))
  return router
}

async function postProduct(ctx: AppContext, { products, photos }: ProductsOptions): Promise<void> {
  const product = await products.upsert(ctx.state.account.id, await readProduct(ctx, ctx.state.body, photos))
  if (!product) throw imagesRequired('images')
  ctx.body = presentProduct(product)
}

/** A product as it was sent, in whatever shape, with its files stored. */
export async function readProduct(ctx: AppContext, sent: unknown, photos: ProductPhotos): Promise<ProductInput> {
  const translation = translateProduct(sent)
  const { body, written } = translation
  markDeprecated(ctx, translation)
  assertUsableProduct(translation)
  const { externalId, title, description, images, validForDays, metadata } = parseProduct(body, written)
  const { account, files } = ctx.state
  const fieldOf = (index: number) => imageField(['images', String(index)], written)
  return {
    id: uuidv7(),
    externalId,
    anonymous: false,
    title,
    description,
    images: images && (await photos.store(images, { account, files, fieldOf, signal: hangUpOf(ctx) })),
    validForDays,
    metadata,
  }
}

async function listProducts(ctx: AppContext, { products, signingSecret }: ProductsOptions): Promise<void> {
  const { limit, cursor } = parseListQuery({ ...ctx.query, ...numberIn(ctx.query.limit) })
  const accountId = ctx.state.account.id
  const place = { list: 'products', accountId, secret: signingSecret }
  const after = cursor === undefined ? null : readCursor(cursor, place)
  const page = await products.list({ accountId, after, limit })
  const last = page.hasMore ? page.products.at(-1) : undefined
  ctx.body = {
    items: page.products.map(presentProduct),
    nextCursor: last ? signCursor(last.id, place) : null,
    hasMore: page.hasMore,
    count: page.products.length,
  }
}

async function getProduct(ctx: AppContext, { products }: ProductsOptions): Promise<void> {
  const product = await products.find(nameIn(ctx))
  assertOwn(ctx, product?.accountId)
  ctx.body = product && presentProduct(product)
}

async function deleteProduct(ctx: AppContext, { products }: ProductsOptions): Promise<void> {
  assertOwn(ctx, await products.delete(nameIn(ctx)))
  ctx.body = { deleted: true }
}

async function getStatistics(ctx: AppContext, { products }: ProductsOptions): Promise<void> {
  const statistics = await products.countGenerations(nameIn(ctx), parseWindow(ctx.query))
  assertOwn(ctx, statistics?.accountId)
  ctx.body = statistics && presentStatistics(statistics)
}

function nameIn(ctx: AppContext): ProductName {
  return { accountId: ctx.state.account.id, externalId: ctx.params.externalId }
}

function assertOwn(ctx: AppContext, owner: string | null | undefined): void {
  if (!owner) throw new DrapeError('PRODUCT_NOT_FOUND', 'The product does not exist.')
  if (owner !== ctx.state.account.id) throw new DrapeError('FORBIDDEN', 'The product belongs to another account.')
}

/** Query parameters are text. What is no number stays one, for the schema to refuse. */
function numberIn(limit: string | string[] | undefined): { limit?: unknown } {
  if (limit === undefined) return {}
  return { limit: typeof limit === 'string' && /^\d+$/.test(limit) ? Number(limit) : limit }
}
