import type { Scope } from '../../accounts/restrictions.ts'
import type { PresentGeneration } from '../../generations/generations.view.ts'
import { eventId, type GenerationWatch } from '../../generations/watch.ts'
import { streamEvents } from '../../http/answers/event-stream.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { GenerationRecord, Generations } from '../../shared/generations/generations.store.ts'
import type { BudgetedGuards } from '../../shops/behind-proxy.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { readableOwners, requesterOf, SERVER_KEY_HEADER, type ServerKeyCheck } from '../../shops/requester.ts'
import { ShopperGeneration } from './generation.schema.ts'

export interface ShopperGenerationParts extends ServerKeyCheck {
  readonly generations: Pick<Generations, 'find' | 'fail'>
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
}

const shared = {
  tag: 'Storefront',
  access: 'shop',
  parameters: { id: 'The jobId that fitting-room returned.' },
  headers: SERVER_KEY_HEADER,
  errors: ['GENERATION_NOT_FOUND', 'INVALID_API_KEY', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
} as const

export const shopperGenerationRoutes = [
  route({
    ...shared,
    method: 'get',
    path: '/public/generation/{id}',
    id: 'getShopperGeneration',
    summary: 'Fetch a generation of a shopper',
    description: `Returns only generations of the same visitor: the customer, the visitor token, the anonymous ID or, without any of them, the network address that the proxy forwarded to fitting-room. Poll every 2 seconds, or follow its events. ${describeBudget('generation')}`,
    answers: { 200: { description: 'The current state.', schema: ShopperGeneration } },
    guards: ({ fromShop, budgets }: BudgetedGuards) => [fromShop, budgets.limit('generation')],
    handler: getGeneration,
  }),
  route({
    ...shared,
    method: 'get',
    path: '/public/generation/{id}/events',
    id: 'followShopperGeneration',
    summary: 'Follow a generation of a shopper',
    description: `Server-sent events: the current generation and every change, as JSON. The stream closes when the generation has ended. Belongs to the same visitor as the generation; \`EventSource\` of browsers cannot send the headers of a visitor, so read the stream with \`fetch\`.
${describeBudget('generation-events')} Open streams of each replica of the service: 10 of a visitor, 60 of a network address.`,
    answers: {
      200: {
        description: 'The data of each event is a ShopperGeneration.',
        schema: Type.String(),
        contentType: 'text/event-stream',
      },
    },
    guards: ({ fromShop, budgets }: BudgetedGuards) => [fromShop, budgets.limit('generation-events')],
    handler: getEvents,
  }),
  route({
    ...shared,
    method: 'post',
    path: '/public/generation/{id}/cancel',
    id: 'cancelShopperGeneration',
    summary: 'Cancel a generation of a shopper',
    description: `Send no body. The generation fails with \`GENERATION_CANCELLED\`, and its credits are refunded. A generation that has ended stays unchanged. Belongs to the same visitor as the generation. ${describeBudget('fitting-room')}`,
    answers: { 200: { description: 'The current state.', schema: ShopperGeneration } },
    guards: ({ fromShop, budgets }: BudgetedGuards) => [fromShop, budgets.limit('fitting-room')],
    handler: postCancel,
  }),
]

interface OneGeneration {
  readonly params: { readonly id: string }
}

async function getGeneration(
  ctx: AppContext,
  options: ShopperGenerationParts,
  { params }: OneGeneration,
): Promise<ShopperGeneration> {
  const generation = await findOwn(ctx, options, params.id)
  return presentToShopper(generation, options)
}

async function getEvents(ctx: AppContext, options: ShopperGenerationParts, { params }: OneGeneration): Promise<void> {
  const { id } = await findOwn(ctx, options, params.id)
  streamEvents(ctx, async function* (disconnected) {
    for await (const generation of options.watch.follow(id, disconnected)) {
      yield { id: eventId(generation), data: await presentToShopper(generation, options) }
    }
  })
}

async function postCancel(
  ctx: AppContext,
  options: ShopperGenerationParts,
  { params }: OneGeneration,
): Promise<ShopperGeneration> {
  const { id } = await findOwn(ctx, options, params.id, ['try-on'])
  const message = 'The generation was cancelled.'
  await options.generations.fail({ id, attempt: null, code: 'GENERATION_CANCELLED', message })
  return getGeneration(ctx, options, { params })
}

async function presentToShopper(
  generation: GenerationRecord,
  { present }: ShopperGenerationParts,
): Promise<ShopperGeneration> {
  const {
    generationId,
    status,
    resultImageUrl,
    imagesExpired,
    errorMessage,
    errorCode,
    appealUrl,
    createdAt,
    updatedAt,
  } = await present(generation)
  return {
    generationId,
    status,
    ...(resultImageUrl !== undefined && { resultImageUrl }),
    ...(imagesExpired && { imagesExpired }),
    errorMessage: errorMessage ?? null,
    errorCode: errorCode ?? null,
    appealUrl: appealUrl ?? null,
    createdAt,
    updatedAt,
  }
}

const ID = /^gen_[\w-]{1,100}$/

/** Finds only generations of this shopper. */
async function findOwn(
  ctx: AppContext,
  parts: ShopperGenerationParts,
  id: string,
  scopes?: readonly Scope[],
): Promise<GenerationRecord> {
  const { shop } = requesterOf(ctx)
  const owners = await readableOwners(ctx, parts, scopes)
  const generation = ID.test(id) ? await parts.generations.find(id) : null
  const isOwn = owners?.includes(generation?.externalUserId ?? '') ?? true
  if (generation?.shopId === shop.id && isOwn) return generation
  throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
}
