import Router from '@koa/router'
import type { Middleware } from 'koa'
import { DrapeError } from '../../shared/errors.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { GenerationRecord, Generations } from '../../shared/stores/generations.ts'
import type { AppContext, AppState } from '../../state.ts'
import { presentGeneration } from './generations.view.ts'

export interface GenerationsOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly generations: Generations
  readonly storage: ObjectStorage
}

/** Seconds that a result link works; fetching the generation again gives a fresh one. */
const RESULT_SECONDS = 3600

/** GET /generations/:id */
export function generationRoutes(options: GenerationsOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1' })
  router.get('/generations/:id', ...(options.guards as never[]), (ctx: AppContext) => getGeneration(ctx, options))
  return router
}

async function getGeneration(ctx: AppContext, { generations, storage }: GenerationsOptions): Promise<void> {
  const generation = await findOwn(ctx, generations)
  ctx.body = presentGeneration(generation, await resultUrl(generation, storage))
}

async function findOwn(ctx: AppContext, generations: Generations): Promise<GenerationRecord> {
  const generation = await generations.find(ctx.params.id)
  if (!generation) throw new DrapeError('GENERATION_NOT_FOUND', 'There is no such generation.')
  if (generation.accountId !== ctx.state.account.id) {
    throw new DrapeError('FORBIDDEN', 'The generation belongs to another account.')
  }
  return generation
}

async function resultUrl(
  { resultKey, imagesExpireAt }: GenerationRecord,
  storage: ObjectStorage,
): Promise<string | null> {
  if (resultKey === null || imagesExpireAt.getTime() <= Date.now()) return null
  return storage.signedUrl(resultKey, { expiresInSeconds: RESULT_SECONDS })
}
