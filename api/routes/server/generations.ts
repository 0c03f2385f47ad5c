import Router from '@koa/router'
import type { Middleware } from 'koa'
import { streamEvents } from '../../answers/event-stream.ts'
import { eventId, type GenerationWatch } from '../../generations/watch.ts'
import { DrapeError } from '../../shared/errors.ts'
import type { GenerationRecord, Generations } from '../../shared/stores/generations.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { PresentGeneration } from './generations.view.ts'

export interface GenerationsOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly generations: Generations
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
}

/** GET /generations/:id, GET /generations/:id/events, POST /generations/:id/cancel */
export function generationRoutes(options: GenerationsOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  const guards = options.guards as never[]
  router.get('/generations/:id', ...guards, (ctx: AppContext) => getGeneration(ctx, options))
  router.get('/generations/:id/events', ...guards, (ctx: AppContext) => getEvents(ctx, options))
  router.post('/generations/:id/cancel', ...guards, (ctx: AppContext) => postCancel(ctx, options))
  return router
}

async function getGeneration(ctx: AppContext, { generations, present }: GenerationsOptions): Promise<void> {
  ctx.body = await present(await findOwn(ctx, generations))
}

async function getEvents(ctx: AppContext, { generations, watch, present }: GenerationsOptions): Promise<void> {
  const { id } = await findOwn(ctx, generations)
  streamEvents(ctx, async function* (gone) {
    for await (const generation of watch.follow(id, gone)) {
      yield { id: eventId(generation), data: await present(generation) }
    }
  })
}

async function postCancel(ctx: AppContext, { generations, present }: GenerationsOptions): Promise<void> {
  const { id } = await findOwn(ctx, generations)
  const message = 'The generation was cancelled.'
  await generations.fail({ id, attempt: null, code: 'GENERATION_CANCELLED', message })
  ctx.body = await present(await findOwn(ctx, generations))
}

const ID = /^gen_[\w-]{1,100}$/

async function findOwn(ctx: AppContext, generations: Generations): Promise<GenerationRecord> {
  const generation = ID.test(ctx.params.id) ? await generations.find(ctx.params.id) : null
  if (!generation) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
  if (generation.accountId !== ctx.state.account.id) {
    throw new DrapeError('FORBIDDEN', 'The generation belongs to another account.')
  }
  return generation
}
