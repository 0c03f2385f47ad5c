import Router from '@koa/router'
import type { Middleware } from 'koa'
import { HTTP_STATUS } from '../../middleware/errors.ts'
import { DrapeError, type ErrorCode } from '../../shared/errors.ts'
import { ENGINES, type EngineName } from '../../shared/generation.ts'
import { compileParser, Type } from '../../shared/schema.ts'
import type { Generations } from '../../shared/stores/generations.ts'
import type { ProductInput } from '../../shared/stores/product-merge.ts'
import { type FindProduct, namesOfProduct, type ProductGid, resolveShopProduct } from '../../shop-products.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Acceptance } from '../../stores/acceptance.ts'
import type { Fittings } from '../../stores/fittings.ts'
import { Output } from '../server/try-on.schema.ts'
import { type BlockedJob, FittingRoomBody, type FittingRoomJob } from './fitting-room.schema.ts'
import { requesterOf } from './requester.ts'

export interface FittingRoomOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly fittings: Fittings
  readonly generations: Pick<Generations, 'find'>
  /** Asks the platform of a shop. */
  readonly findProduct: FindProduct
  readonly accept: (call: Acceptance) => Promise<boolean>
  /** Tells the relay that there is work. */
  readonly nudge: () => void
  readonly defaultEngine: EngineName
}

/** Generations of a shopper in an ISO week. */
const WEEKLY_GENERATIONS = 10

const parseFitting = compileParser(FittingRoomBody)
/** What a try-on gets that says nothing of its output. */
const parseUnsaid = compileParser(Type.Object({ output: Output }))

/** POST /public/fitting-room */
export function fittingRoomRoutes(options: FittingRoomOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public' })
  const guards = [answerBlocked, ...options.guards] as never[]
  router.post('/fitting-room', ...guards, (ctx: AppContext) => postFitting(ctx, options))
  return router
}

async function postFitting(ctx: AppContext, options: FittingRoomOptions): Promise<void> {
  const { userImageId, productId, variantId = null } = parseFitting(ctx.state.body)
  const jobId = `gen_${ctx.state.resourceId}`
  const earlier = ctx.state.resumed ? await options.generations.find(jobId) : null
  ctx.body = { jobId, message: 'The picture is being made.' } satisfies FittingRoomJob
  if (earlier) return
  const product = await findParts(
    ctx,
    { imageId: userImageId, gid: { product: productId, variant: variantId } },
    options,
  )
  const engine = options.defaultEngine
  await options.accept(fittingOf(ctx, { generationId: jobId, imageId: userImageId, product, engine }))
  options.nudge()
}

/** The product, when it and the photo exist. */
async function findParts(
  ctx: AppContext,
  { imageId, gid }: { imageId: string; gid: ProductGid },
  { fittings, findProduct }: FittingRoomOptions,
): Promise<ProductInput> {
  const { shop, account } = requesterOf(ctx)
  const { hasImage, products: known } = await fittings.find({
    accountId: account.id,
    shopId: shop.id,
    imageId,
    externalIds: namesOfProduct(gid),
  })
  if (!hasImage) throw new DrapeError('IMAGE_NOT_FOUND', 'The photo does not exist, or not any more. Upload it again.')
  return resolveShopProduct(gid, { known, shop, findProduct })
}

function fittingOf(
  ctx: AppContext,
  wish: Pick<Acceptance, 'generationId' | 'imageId' | 'product'> & { engine: EngineName },
): Acceptance {
  const { shop, account, shopperId } = requesterOf(ctx)
  const { watermark, seed, mode, format, fullResolution, deadlineSeconds } = parseUnsaid({}).output
  return {
    ...wish,
    accountId: account.id,
    externalUserId: shopperId,
    shop: { id: shop.id, weeklyGenerations: WEEKLY_GENERATIONS },
    cost: ENGINES[wish.engine].cost,
    options: { watermark, seed, mode, format, fullResolution },
    deadlineSeconds,
    keepForDays: null,
  }
}

/** To a shopper it is all the same whose credits or quota are used up. */
const BLOCKS: Readonly<Partial<Record<ErrorCode, BlockedJob['code']>>> = {
  INSUFFICIENT_CREDITS: 'QUOTA_EXCEEDED',
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  BILLING_NOT_ALLOWED: 'BILLING_NOT_ALLOWED',
  RATE_LIMIT_EXCEEDED: 'RATE_LIMIT_EXCEEDED',
}

/** Stands before what remembers answers: a wish that was blocked may be granted when it comes again. */
const answerBlocked: Middleware<AppState> = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    const code = error instanceof DrapeError ? BLOCKS[error.code] : undefined
    if (!(error instanceof DrapeError) || code === undefined) throw error
    ctx.status = HTTP_STATUS[code]
    if (code === 'RATE_LIMIT_EXCEEDED') ctx.set('Retry-After', String(secondsToNextWeek(Date.now())))
    const message = code === 'QUOTA_EXCEEDED' ? 'The shop has no try-ons left for now.' : error.message
    ctx.body = { jobId: '', message, code } satisfies BlockedJob
  }
}

const WEEK_SECONDS = 7 * 86_400
/** 1970 began on a Thursday. */
const FIRST_MONDAY_SECONDS = 4 * 86_400

/** Until Monday, 00:00 UTC. `now` in ms since 1970. */
export function secondsToNextWeek(now: number): number {
  const passed = (Math.floor(now / 1000) - FIRST_MONDAY_SECONDS) % WEEK_SECONDS
  return WEEK_SECONDS - passed
}
