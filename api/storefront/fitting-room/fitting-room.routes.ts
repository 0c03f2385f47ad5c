import type { Middleware } from 'koa'
import { priceOutfit, reuseOf } from '../../generations/accept-try-on.ts'
import { type Acceptance, type OutfitAcceptance, unknownPhoto } from '../../generations/acceptance.store.ts'
import type { ChosenEngine, EngineChoice } from '../../generations/engines/choice.ts'
import { defaultDeadline } from '../../generations/engines/deadline.ts'
import { planLayers } from '../../generations/plan-layers.ts'
import { Output } from '../../generations/try-on.schema.ts'
import { route } from '../../http/route.ts'
import type { AppContext, AppState } from '../../http/state.ts'
import type { Products } from '../../products/products.store.ts'
import { ERRORS } from '../../shared/contract/error-codes.ts'
import { DrapeError, type ErrorCode } from '../../shared/contract/errors.ts'
import { compileParser, type Static, Type } from '../../shared/contract/schema.ts'
import type { ProductInput } from '../../shared/database/product-merge.store.ts'
import type { Generations } from '../../shared/generations/generations.store.ts'
import { hashText, type SigningSecret } from '../../shared/signing/signing.ts'
import type { BudgetedGuards } from '../../shops/behind-proxy.ts'
import { SHARED_ADDRESS_MESSAGE } from '../../shops/limit-public-routes.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { requesterOf } from '../../shops/requester.ts'
import {
  DEFAULT_ADDRESS_GENERATIONS,
  DEFAULT_VISITOR_GENERATIONS,
  WEEKLY_GENERATIONS,
} from '../../shops/shop-settings.ts'
import type { FindProductFor } from '../shops/product-finder.ts'
import { namesOfProduct, type ProductGid, resolveShopProduct } from '../shops/products.ts'
import { type BlockedJob, EarlyJob, FittingRoomBody, FittingRoomJob, UnpaidJob } from './fitting-room.schema.ts'
import type { Fittings } from './fittings.store.ts'
import { type ConsentGuard, findConsent } from './require-consent.ts'

export interface FittingRoomParts extends ConsentGuard {
  readonly fittings: Fittings
  readonly generations: Pick<Generations, 'find'>
  /** Finds products on the shop's platform. */
  readonly findProductFor: FindProductFor
  readonly accept: (call: Acceptance) => Promise<boolean>
  readonly acceptOutfit: (call: OutfitAcceptance) => Promise<boolean>
  readonly hasFeature: (name: string) => boolean
  /** Notifies the relay of new work. */
  readonly wake: () => void
  readonly signingSecret: SigningSecret
  readonly chooseEngine: EngineChoice['choose']
  readonly findProduct: Products['find']
}

interface FittingRoomGuards extends BudgetedGuards {
  readonly parse: Middleware<AppState>
  readonly idempotent: Middleware<AppState>
}

/** Output defaults of a try-on. */
const parseDefaults = compileParser(Type.Object({ output: Output }))

const id = '$response.body#/jobId'

export const fittingRoomRoutes = [
  route({
    method: 'post',
    path: '/public/fitting-room',
    id: 'enterFittingRoom',
    tag: 'Storefront',
    summary: 'Create an image of a shopper wearing a product of the shop',
    description: `The product is looked up in the catalog of the account under the whole \`productId\`, then under the part after
its last slash; then on the shop's platform, from where it is stored in the catalog under the whole \`productId\` for 15 days after
its last use. Limit: 10 generations per shopper and ISO week (UTC), without failed ones;
at most 3 attempts per generation. The shopper is the customer that the proxy
has signed, else the visitor of \`X-Service-Visitor-Token\`, else the browser of \`X-Service-Anonymous-Id\`, else the network address.
Shoppers without a customer account share a limit per network address (default: 30 generations per day, UTC) and a limit per shop
(default: 1,000 per day); operators set both limits for each shop. Requests that are blocked count too: ${describeBudget('fitting-room')}
The photo is an upload of the same shopper, or of the server of the account without \`externalUserId\` or with the ID of the customer
that the proxy has signed. A network address identifies a shopper only if the proxy forwards it and the request has none of these headers.
A try-on fails with \`GENERATION_TIMEOUT\` after 300 seconds, or after up to 3600 if the queue or the start of a worker takes longer.`,
    access: 'shop',
    body: { json: FittingRoomBody },
    repeatable: true,
    answers: {
      200: {
        description: 'Accepted. The credits are reserved.',
        schema: FittingRoomJob,
        next: { getShopperGeneration: { id }, followShopperGeneration: { id } },
      },
      402: {
        description: `Blocked. \`QUOTA_EXCEEDED\`: the shop or its account has reached its limit of generations per
month or of concurrent generations, or has too few credits. \`BILLING_NOT_ALLOWED\`: the plan of the shop does not allow generations.`,
        schema: UnpaidJob,
      },
      429: {
        description:
          'Blocked. `RATE_LIMIT_EXCEEDED`: the weekly limit of the shopper, the daily limit of the address or of the visitors of the shop, or a limit per minute is exhausted. `Retry-After`: seconds until the next period.',
        schema: EarlyJob,
      },
    },
    errors: [
      'VALIDATION_FAILED',
      'VISITOR_TOKEN_REQUIRED',
      'CONSENT_REQUIRED',
      'IMAGE_NOT_FOUND',
      'PRODUCT_NOT_FOUND',
      'MISSING_REQUIRED_CLASSIFICATION',
      'SERVICE_UNAVAILABLE',
    ],
    guards: ({ fromShop, budgets, parse, idempotent }: FittingRoomGuards) => [
      answerBlocked,
      fromShop,
      budgets.limit('fitting-room'),
      parse,
      idempotent,
      requireVisitor,
    ],
    handler: postFitting,
  }),
]

async function postFitting(
  ctx: AppContext,
  options: FittingRoomParts,
  { body }: { readonly body: FittingRoomBody },
): Promise<FittingRoomJob> {
  const jobId = `gen_${ctx.state.resourceId}`
  const earlier = ctx.state.resumed ? await options.generations.find(jobId) : null
  const job = { jobId, message: 'The image is being generated.' }
  if (earlier) return job
  const consent = await findConsent(ctx, options)
  const products = await findParts(ctx, body, options)
  const { account, shop } = requesterOf(ctx)
  const { findProduct } = options
  const fieldOf = (index: number) => (index === 0 ? 'productId' : `withProductIds[${index - 1}]`)
  const planned =
    products.length === 1 ? null : await planLayers(products, { accountId: account.id, findProduct, fieldOf })
  const findImages = () =>
    Promise.all(
      products.map(
        async ({ externalId, images }) =>
          images ?? (await findProduct({ accountId: account.id, externalId }))?.images ?? null,
      ),
    )
  const chosen = await options.chooseEngine(
    { account, shop, mayFallBack: true, isBatch: false, findImages, layers: planned?.length },
    'engine',
  )
  const wish = { generationId: jobId, imageId: body.userImageId, consent }
  const deadlineSeconds = await defaultDeadline(chosen)
  const call = { ...fittingOf(ctx, { wish, chosen }, options), deadlineSeconds }
  if (planned === null) await options.accept({ ...call, product: products[0], cost: chosen.engine.credits })
  else {
    const layers = planned.map((layer, i) => ({ layer, product: products[i] }))
    await options.acceptOutfit({ ...call, layers, ...priceOutfit(chosen.engine, account.settings, layers.length) })
  }
  options.wake()
  return job
}

/** Throws `VISITOR_TOKEN_REQUIRED` if the shop requires a visitor token and the request has none. */
const requireVisitor: Middleware<AppState> = (ctx, next) => {
  const { customerId, visitorId } = ctx.state.shopper
  if (!requesterOf(ctx).shop.requiresVisitorToken || customerId !== null || visitorId !== null) return next()
  throw new DrapeError(
    'VISITOR_TOKEN_REQUIRED',
    'Get a token of POST /public/visitor and send it in X-Service-Visitor-Token.',
  )
}

/** Finds the products if they and the photo exist. Throws `VALIDATION_FAILED` for several products without outfits. */
async function findParts(
  ctx: AppContext,
  body: FittingRoomBody,
  { fittings, findProductFor, hasFeature }: FittingRoomParts,
): Promise<readonly ProductInput[]> {
  const { userImageId: imageId, productId, variantId = null, withProductIds = [] } = body
  if (withProductIds.length > 0 && !hasFeature('outfits')) throw withoutOutfits()
  const { shop, account } = requesterOf(ctx)
  const findProduct = findProductFor(ctx.state.shopper)
  const gids: ProductGid[] = [
    { product: productId, variant: variantId },
    ...withProductIds.map((product) => ({ product, variant: null })),
  ]
  const { hasImage, products: known } = await fittings.find({
    accountId: account.id,
    photoOwners: photoOwnersOf(ctx),
    imageId,
    externalIds: gids.flatMap(namesOfProduct),
  })
  if (!hasImage) throw unknownPhoto()
  return Promise.all(gids.map((gid) => resolveShopProduct(gid, { known, shop, findProduct })))
}

function withoutOutfits(): DrapeError {
  const [path, message] = ['withProductIds', 'must be absent: this installation makes no outfits']
  return new DrapeError('VALIDATION_FAILED', `${path} ${message}.`, { details: [{ path, message }] })
}

/** Owners whose photos the request may use: the shopper, and the signed customer as the server of the account names them. */
function photoOwnersOf(ctx: AppContext): readonly string[] {
  const { customerId } = ctx.state.shopper
  return [...requesterOf(ctx).ownerIds, ...(customerId === null ? [] : [customerId])]
}

function fittingOf(
  ctx: AppContext,
  {
    wish,
    chosen: { engine, requestedEngine },
  }: { wish: Pick<Acceptance, 'generationId' | 'imageId' | 'consent'>; chosen: ChosenEngine },
  { signingSecret }: FittingRoomParts,
): Omit<Acceptance, 'deadlineSeconds' | 'product' | 'cost'> {
  const { shop, account, shopperId } = requesterOf(ctx)
  const { customerId, addressHash, isAddressShared } = ctx.state.shopper
  const visitorGenerations = shop.visitorGenerations ?? DEFAULT_VISITOR_GENERATIONS
  const { watermark, seed, mode, format, fullResolution } = parseDefaults({}).output
  return {
    ...wish,
    receivedAt: ctx.state.receivedAt,
    accountId: account.id,
    externalUserId: shopperId,
    photoOwners: photoOwnersOf(ctx),
    shopperHash: hashText(signingSecret, `shopper:${shopperId}`),
    visitorAddress: customerId === null ? addressHash : null,
    shop: {
      id: shop.id,
      weeklyGenerations: WEEKLY_GENERATIONS,
      // The address is that of the shop's server and shared by all visitors: only the budget of all visitors applies.
      addressGenerations: isAddressShared
        ? visitorGenerations
        : (shop.addressGenerations ?? DEFAULT_ADDRESS_GENERATIONS),
      visitorGenerations,
    },
    engine: engine.name,
    requestedEngine,
    reuse: reuseOf(engine, account),
    garmentTypes: engine.garmentTypes,
    options: { watermark, seed, mode, format, fullResolution },
    keepForDays: null,
  }
}

/** Shoppers need not know whose credits or quota are used up. */
const BLOCKS: Readonly<Partial<Record<ErrorCode, BlockedJob['code']>>> = {
  INSUFFICIENT_CREDITS: 'QUOTA_EXCEEDED',
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  BILLING_NOT_ALLOWED: 'BILLING_NOT_ALLOWED',
  RATE_LIMIT_EXCEEDED: 'RATE_LIMIT_EXCEEDED',
}

/** Runs before the idempotency middleware: a blocked request may succeed when it is repeated. */
const answerBlocked: Middleware<AppState> = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    const code = error instanceof DrapeError ? BLOCKS[error.code] : undefined
    if (!(error instanceof DrapeError) || code === undefined) throw error
    ctx.status = ERRORS[code].status
    const message = messageOf(error, { code, isAddressShared: ctx.state.shopper?.isAddressShared ?? false })
    if (code !== 'RATE_LIMIT_EXCEEDED') {
      ctx.body = { jobId: '', message, code } satisfies BlockedJob
      return
    }
    const period = periodOf(error)
    ctx.set('Retry-After', String(error.retryAfterSeconds ?? secondsToNext(period ?? 'week')))
    ctx.body = { jobId: '', message, code, ...(period && { period }) } satisfies BlockedJob
  }
}

function messageOf(
  error: DrapeError,
  { code, isAddressShared }: { code: ErrorCode; isAddressShared: boolean },
): string {
  if (code === 'QUOTA_EXCEEDED') return 'The shop has no try-ons left for now.'
  return isAddressShared && periodOf(error) === 'day' ? SHARED_ADDRESS_MESSAGE : error.message
}

type Period = NonNullable<Static<typeof EarlyJob>['period']>

/** Period of the exhausted limit. */
function periodOf({ details }: DrapeError): Period | undefined {
  return details !== undefined && 'period' in details ? (details.period as Period) : undefined
}

function secondsToNext(period: Period): number {
  return period === 'day' ? secondsToNextDay(Date.now()) : secondsToNextWeek(Date.now())
}

const DAY_SECONDS = 86_400
const WEEK_SECONDS = 7 * DAY_SECONDS
/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY_SECONDS = 4 * 86_400

/** Seconds until midnight UTC. `now` in ms since 1970. */
function secondsToNextDay(now: number): number {
  return DAY_SECONDS - (Math.floor(now / 1000) % DAY_SECONDS)
}

/** Seconds until Monday, 00:00 UTC. `now` in ms since 1970. */
export function secondsToNextWeek(now: number): number {
  const passed = (Math.floor(now / 1000) - FIRST_MONDAY_SECONDS) % WEEK_SECONDS
  return WEEK_SECONDS - passed
}
