import Router from '@koa/router'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { hangUpOf } from '../../answers/hang-up.ts'
import type { EngineChoice } from '../../engines/choice.ts'
import type { Estimate } from '../../engines/wait-estimate.ts'
import type { GenerationWatch } from '../../generations/watch.ts'
import { assertScope } from '../../keys/restrictions.ts'
import { HTTP_STATUS } from '../../middleware/errors.ts'
import type { PersonPhotos } from '../../photos/person-photos.ts'
import type { ProductPhotos } from '../../photos/product-photos.ts'
import { DrapeError } from '../../shared/errors.ts'
import { isTerminal } from '../../shared/generation.ts'
import { compileParser, formatPath } from '../../shared/schema.ts'
import type { Generations } from '../../shared/stores/generations.ts'
import type { ProductInput } from '../../shared/stores/product-merge.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Acceptance } from '../../stores/acceptance.ts'
import type { Products } from '../../stores/products.ts'
import { readTestInput } from '../../test-mode/inputs.ts'
import { markDeprecated } from './deprecation.ts'
import type { PresentGeneration } from './generations.view.ts'
import { imageField, translateTryOn } from './legacy.ts'
import type { ProductBody } from './products.schema.ts'
import { assertParts } from './try-on.refusals.ts'
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
  /** Notifies the relay that there is work. */
  readonly nudge: () => void
  readonly chooseEngine: EngineChoice['choose']
  readonly findProduct: Products['find']
}

const parseTryOn = compileParser(TryOnBody)

/** How long a synchronous call waits for the end of its generation. */
const WAIT_MS = 60_000

/** POST /try-on, POST /try-on/sync */
export function tryOnRoutes(options: TryOnOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  const guards = options.guards as never[]
  router.post('/try-on', ...guards, (ctx: AppContext) => postTryOn(ctx, options))
  router.post('/try-on/sync', ...guards, (ctx: AppContext) => postTryOnSync(ctx, options))
  return router
}

async function postTryOn(ctx: AppContext, options: TryOnOptions): Promise<void> {
  const { generationId, productExternalId, engine, requestedEngine, warnings, estimate } = await acceptTryOn(
    ctx,
    options,
  )
  ctx.status = 201
  ctx.body = {
    generationId,
    status: 'PENDING',
    productExternalId,
    engineName: engine,
    ...(requestedEngine !== null && { requestedEngine }),
    ...estimate,
    ...(warnings.length > 0 && { warnings }),
  }
}

async function postTryOnSync(ctx: AppContext, options: TryOnOptions): Promise<void> {
  const { generationId, productExternalId, warnings } = await acceptTryOn(ctx, options)
  const generation = await options.watch.untilEnded(generationId, AbortSignal.timeout(WAIT_MS))
  if (!generation) throw new DrapeError('GENERATION_NOT_FOUND', 'The generation does not exist.')
  ctx.status = isTerminal(generation.status) ? 201 : 202
  const shown = await options.present(generation)
  const all = [...warnings, ...(shown.warnings ?? [])]
  ctx.body = { ...shown, productExternalId, ...(all.length > 0 && { warnings: all }) }
}

function isRefusal(error: unknown): boolean {
  return error instanceof DrapeError && HTTP_STATUS[error.code] < 500
}

interface AcceptedTryOn {
  readonly generationId: string
  readonly productExternalId: string
  readonly engine: string
  readonly requestedEngine: string | null
  /** Codes of older fields that were ignored. */
  readonly warnings: readonly string[]
  /** Null when nothing is known of the wait. */
  readonly estimate: Estimate | null
}

async function acceptTryOn(ctx: AppContext, options: TryOnOptions): Promise<AcceptedTryOn> {
  const generationId = `gen_${ctx.state.resourceId}`
  const earlier = ctx.state.resumed ? await options.generations.find(generationId) : null
  const translation = translateTryOn(ctx.state.body)
  const { body: translated, written, warnings } = translation
  markDeprecated(ctx, translation)
  if (earlier) return { ...earlier, generationId, warnings, estimate: null }
  assertParts(translation)
  const input = parseTryOn(translated, written)
  const [body] = input.products
  if (isUpsert(body)) assertScope(ctx.state.key, ['products'], 'A try-on that creates or changes a product')
  const { account, files } = ctx.state
  if (account.testOf !== null) readTestInput(input.externalUserId ?? null)
  const isBatch = input.priority === 'batch'
  const { engine, requestedEngine, estimating } = await options.chooseEngine(
    {
      ...{ account, isBatch, requested: input.output.engine, mayFallBack: input.output.fallback },
      findImages: () => imagesOf(body, account.id, options),
    },
    formatPath(written(['output', 'engine'])),
  )
  if (input.maxWaitSeconds !== undefined) assertWait(await estimating, input.maxWaitSeconds)

  const signal = hangUpOf(ctx)
  const fieldOf = (index: number) => imageField(['products', '0', 'images', String(index)], written)
  const product = await productOf(body, { ...ctx.state, signal, fieldOf }, options.productPhotos)
  const person = await options.personPhotos.resolve(input.person.image.source, {
    account,
    files,
    signal,
    field: imageField(['person', 'image'], written),
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
      engine: engine.name,
      requestedEngine,
      garmentTypes: engine.garmentTypes,
      cost: engine.credits,
      options: { watermark, seed, mode, format, fullResolution },
      deadlineSeconds: input.output.deadlineSeconds,
      keepForDays: person.uploadedNow && account.testOf === null ? (input.output.keepForDays ?? null) : null,
      isBatch,
    })
    if (!isNew && person.uploadedNow) await options.personPhotos.discard(person.imageId)
  } catch (error) {
    // Any other error leaves open whether the call was accepted: the generation may need the photo.
    if (person.uploadedNow && isRefusal(error)) await options.personPhotos.discard(person.imageId)
    throw error
  }
  options.nudge()
  return {
    ...{ generationId, productExternalId: product.externalId, engine: engine.name, requestedEngine },
    ...{ warnings, estimate: await estimating },
  }
}

/** Seconds in `Retry-After`: a backlog shrinks by as many, if nothing else comes in. */
const MAX_RETRY_SECONDS = 3600

/** Throws `SERVICE_UNAVAILABLE` when the start is estimated to be later. */
function assertWait(estimate: Estimate | null, maxWaitSeconds: number): void {
  if (estimate === null || estimate.estimatedStartSeconds <= maxWaitSeconds) return
  const { estimatedStartSeconds, estimatedSeconds } = estimate
  throw new DrapeError(
    'SERVICE_UNAVAILABLE',
    `The try-on would start in about ${estimatedStartSeconds} seconds, later than maxWaitSeconds (${maxWaitSeconds}). Send the call again after the seconds in Retry-After, raise maxWaitSeconds or choose another engine.`,
    {
      details: { estimatedStartSeconds, estimatedSeconds },
      retryable: true,
      retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, estimatedStartSeconds - maxWaitSeconds),
    },
  )
}

/** What the images of a product show: those of the call, else those of the catalog. */
async function imagesOf({ externalId, images }: ProductBody, accountId: string, { findProduct }: TryOnOptions) {
  if (images === undefined)
    return externalId === undefined ? null : ((await findProduct({ accountId, externalId }))?.images ?? null)
  return images.map(({ classifications = null }, order) => ({ order, classifications }))
}

/** Whether the call writes to the catalog, beside using it. */
function isUpsert({ externalId, title, description, images, validForDays, metadata }: ProductBody): boolean {
  const written = [title, description, images, validForDays, metadata]
  return externalId !== undefined && written.some((value) => value !== undefined)
}

async function productOf(
  body: ProductBody,
  {
    account,
    files,
    resourceId,
    ...call
  }: Pick<AppState, 'account' | 'files' | 'resourceId'> & {
    readonly signal: AbortSignal
    readonly fieldOf: (index: number) => string
  },
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
  return { ...product, images: await photos.store(images, { account, files, ...call }) }
}
