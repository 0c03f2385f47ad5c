import { streamEvents } from '../../answers/event-stream.ts'
import { eventId, type GenerationWatch } from '../../generations/watch.ts'
import { DrapeError } from '../../shared/errors.ts'
import { Type } from '../../shared/schema.ts'
import type { GenerationRecord, Generations } from '../../shared/stores/generations.ts'
import type { AppContext } from '../../state.ts'
import { route } from '../route.ts'
import type { PresentGeneration } from '../server/generations.view.ts'
import { behindProxy } from './behind-proxy.ts'
import { ShopperGeneration } from './generation.schema.ts'
import { requesterOf } from './requester.ts'

export interface ShopperGenerationParts {
  readonly generations: Pick<Generations, 'find'>
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
}

const shared = {
  method: 'get',
  tag: 'Storefront',
  access: 'shop',
  parameters: { id: 'The jobId that fitting-room returned.' },
  errors: ['GENERATION_NOT_FOUND'],
} as const

export const shopperGenerationRoutes = [
  route({
    ...shared,
    path: '/public/generation/{id}',
    id: 'getShopperGeneration',
    summary: 'Fetch a generation of a shopper',
    description: 'Returns only generations of the shop itself. Poll every 2 seconds, or follow its events.',
    answers: { 200: { description: 'The current state.', schema: ShopperGeneration } },
    guards: behindProxy,
    handler: getGeneration,
  }),
  route({
    ...shared,
    path: '/public/generation/{id}/events',
    id: 'followShopperGeneration',
    summary: 'Follow a generation of a shopper',
    description:
      'Server-sent events: the current generation and every change, as JSON. The stream closes when the generation has ended.',
    answers: {
      200: {
        description: 'The data of each event is a ShopperGeneration.',
        schema: Type.String(),
        contentType: 'text/event-stream',
      },
    },
    guards: behindProxy,
    handler: getEvents,
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
  ctx.set('Cache-Control', 'no-store')
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

async function presentToShopper(
  generation: GenerationRecord,
  { present }: ShopperGenerationParts,
): Promise<ShopperGeneration> {
  const { generationId, status, resultImageUrl, errorMessage, errorCode, appealUrl, createdAt, updatedAt } =
    await present(generation)
  return {
    generationId,
    status,
    resultImageUrl: resultImageUrl ?? null,
    errorMessage: errorMessage ?? null,
    errorCode: errorCode ?? null,
    appealUrl: appealUrl ?? null,
    createdAt,
    updatedAt,
  }
}

const ID = /^gen_[\w-]{1,100}$/

/** Finds only generations of the shop's own shoppers. */
async function findOwn(
  ctx: AppContext,
  { generations }: ShopperGenerationParts,
  id: string,
): Promise<GenerationRecord> {
  const { shop } = requesterOf(ctx)
  const generation = ID.test(id) ? await generations.find(id) : null
  if (generation?.shopId !== shop.id) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
  return generation
}
