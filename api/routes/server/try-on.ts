import Router from '@koa/router'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import type { GenerationWatch } from '../../generation-watch.ts'
import type { PersonPhotos } from '../../person-photos.ts'
import type { ProductPhotos } from '../../product-photos.ts'
import { DrapeError } from '../../shared/errors.ts'
import { ENGINES, type EngineName, isTerminal } from '../../shared/generation.ts'
import { compileParser, formatPath } from '../../shared/schema.ts'
import type { Generations } from '../../shared/stores/generations.ts'
import type { ProductInput } from '../../shared/stores/product-merge.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Acceptance } from '../../stores/acceptance.ts'
import type { PresentGeneration } from './generations.view.ts'
import { translateTryOn } from './legacy.ts'
import type { ProductBody } from './products.schema.ts'
import { refuseMissingParts, refuseTwoPeople } from './try-on.refusals.ts'
import { TryOnBody } from './try-on.schema.ts'

export interface TryOnOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly personPhotos: PersonPhotos
  readonly productPhotos: ProductPhotos
  /** False when the generation was accepted before. */
  readonly accept: (call: Acceptance) => Promise<boolean>
  readonly generations: Generations
  readonly watch: GenerationWatch
  readonly present: PresentGeneration
  /** Tells the relay that there is work. */
  readonly nudge: () => void
  readonly defaultEngine: EngineName
}

const parseTryOn = compileParser(TryOnBody)

/** How long a synchronous call waits for the end of its generation. */
const WAIT_MS = 60_000

/** POST /try-on, POST /try-on/sync */
export function tryOnRoutes(options: TryOnOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1' })
  const guards = options.guards as never[]
  router.post('/try-on', ...guards, (ctx: AppContext) => postTryOn(ctx, options))
  router.post('/try-on/sync', ...guards, (ctx: AppContext) => postTryOnSync(ctx, options))
  return router
}

async function postTryOn(ctx: AppContext, options: TryOnOptions): Promise<void> {
  const { generationId, productExternalId } = await acceptTryOn(ctx, options)
  ctx.status = 201
  ctx.body = { generationId, status: 'PENDING', productExternalId }
}

async function postTryOnSync(ctx: AppContext, options: TryOnOptions): Promise<void> {
  const { generationId, productExternalId } = await acceptTryOn(ctx, options)
  const generation = await options.watch.untilEnded(generationId, AbortSignal.timeout(WAIT_MS))
  if (!generation) throw new DrapeError('GENERATION_NOT_FOUND', 'There is no such generation.')
  ctx.status = isTerminal(generation.status) ? 201 : 202
  ctx.body = { ...(await options.present(generation)), productExternalId }
}

interface AcceptedTryOn {
  readonly generationId: string
  readonly productExternalId: string
}

async function acceptTryOn(ctx: AppContext, options: TryOnOptions): Promise<AcceptedTryOn> {
  const generationId = `gen_${ctx.state.resourceId}`
  const earlier = ctx.state.resumed ? await options.generations.find(generationId) : null
  if (earlier) return { generationId, productExternalId: earlier.productExternalId }
  refuseTwoPeople(ctx.state.body)
  const { body: translated, written } = translateTryOn(ctx.state.body)
  refuseMissingParts(translated)
  const input = parseTryOn(translated, written)
  const [body] = input.products
  const engine = input.output.engine ?? options.defaultEngine
  const { account, files } = ctx.state

  const product = await productOf(body, ctx.state, options.productPhotos)
  const person = await options.personPhotos.resolve(input.person.image.source, {
    account,
    files,
    externalUserId: input.externalUserId ?? null,
    keepForDays: input.output.keepForDays ?? null,
  })
  const { watermark, seed, mode, format, fullResolution } = input.output
  try {
    const isNew = await options.accept({
      generationId,
      accountId: account.id,
      externalUserId: input.externalUserId ?? null,
      imageId: person.imageId,
      imagePath: formatPath(written(['person', 'image', 'source', 'id'])),
      product,
      engine,
      cost: ENGINES[engine].cost,
      options: { watermark, seed, mode, format, fullResolution },
      deadlineSeconds: input.output.deadlineSeconds,
      keepForDays: person.uploadedNow ? (input.output.keepForDays ?? null) : null,
    })
    if (!isNew && person.uploadedNow) await options.personPhotos.discard(person.imageId)
  } catch (error) {
    if (person.uploadedNow) await options.personPhotos.discard(person.imageId)
    throw error
  }
  options.nudge()
  return { generationId, productExternalId: product.externalId }
}

async function productOf(
  body: ProductBody,
  { account, files, resourceId }: AppState,
  photos: ProductPhotos,
): Promise<ProductInput> {
  // Each by its name: a caller's unknown fields must not take the place of ours.
  const { externalId, title, description, images, validForDays, metadata } = body
  const product = {
    id: uuidv7(),
    externalId: externalId ?? `_anon_${resourceId}`,
    anonymous: externalId === undefined,
    title,
    description,
    metadata,
    // A one-shot product's lifetime cannot be chosen; what was sent is ignored.
    validForDays: externalId === undefined ? undefined : validForDays,
  }
  if (images === undefined) return product
  return { ...product, images: await photos.store(images, { accountId: account.id, files }) }
}
