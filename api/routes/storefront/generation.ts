import Router from '@koa/router'
import type { Middleware } from 'koa'
import { streamEvents } from '../../answers/event-stream.ts'
import { eventId, type GenerationWatch } from '../../generations/watch.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { GenerationRecord, Generations } from '../../shared/stores/generations.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { PresentGeneration } from '../server/generations.view.ts'
import type { ShopperGeneration } from './generation.schema.ts'
import { requesterOf } from './requester.ts'

export interface ShopperGenerationOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly generations: Pick<Generations, 'find'>
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
}

/** GET /public/generation/:id, GET /public/generation/:id/events */
export function shopperGenerationRoutes(options: ShopperGenerationOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public', sensitive: true })
  const guards = options.guards as never[]
  router.get('/generation/:id', ...guards, (ctx: AppContext) => getGeneration(ctx, options))
  router.get('/generation/:id/events', ...guards, (ctx: AppContext) => getEvents(ctx, options))
  return router
}

async function getGeneration(ctx: AppContext, options: ShopperGenerationOptions): Promise<void> {
  const generation = await findOwn(ctx, options)
  ctx.set('Cache-Control', 'no-store')
  ctx.body = await presentToShopper(generation, options)
}

async function getEvents(ctx: AppContext, options: ShopperGenerationOptions): Promise<void> {
  const { id } = await findOwn(ctx, options)
  streamEvents(ctx, async function* (gone) {
    for await (const generation of options.watch.follow(id, gone)) {
      yield { id: eventId(generation), data: await presentToShopper(generation, options) }
    }
  })
}

async function presentToShopper(
  generation: GenerationRecord,
  { present }: ShopperGenerationOptions,
): Promise<ShopperGeneration> {
  const { generationId, status, resultImageUrl, errorMessage, errorCode, createdAt, updatedAt } =
    await present(generation)
  return {
    generationId,
    status,
    resultImageUrl: resultImageUrl ?? null,
    errorMessage: errorMessage ?? null,
    errorCode: errorCode ?? null,
    createdAt,
    updatedAt,
  }
}

const ID = /^gen_[\w-]{1,100}$/

/** To a shop there are no generations but those of its own shoppers. */
async function findOwn(ctx: AppContext, { generations }: ShopperGenerationOptions): Promise<GenerationRecord> {
  const { shop } = requesterOf(ctx)
  const generation = ID.test(ctx.params.id) ? await generations.find(ctx.params.id) : null
  if (generation?.shopId !== shop.id) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
  return generation
}
