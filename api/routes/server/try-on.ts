import Router from '@koa/router'
import type { Middleware } from 'koa'
import { v7 as uuidv7 } from 'uuid'
import type { PersonPhotos } from '../../person-photos.ts'
import type { ProductPhotos } from '../../product-photos.ts'
import { ENGINES, type EngineName } from '../../shared/generation.ts'
import { compileParser, formatPath } from '../../shared/schema.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Acceptance } from '../../stores/acceptance.ts'
import type { ProductInput } from '../../stores/product-merge.ts'
import { translateTryOn } from './legacy.ts'
import type { ProductBody } from './products.schema.ts'
import { refuseMissingParts } from './try-on.refusals.ts'
import { TryOnBody } from './try-on.schema.ts'

export interface TryOnOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly personPhotos: PersonPhotos
  readonly productPhotos: ProductPhotos
  readonly accept: (call: Acceptance) => Promise<void>
  /** Tells the relay that there is work. */
  readonly nudge: () => void
  readonly defaultEngine: EngineName
}

const parseTryOn = compileParser(TryOnBody)

/** POST /try-on */
export function tryOnRoutes(options: TryOnOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1' })
  router.post('/try-on', ...(options.guards as never[]), (ctx: AppContext) => postTryOn(ctx, options))
  return router
}

async function postTryOn(ctx: AppContext, options: TryOnOptions): Promise<void> {
  const { body: translated, written } = translateTryOn(ctx.state.body)
  refuseMissingParts(translated)
  const input = parseTryOn(translated, written)
  const [body] = input.products
  const engine = input.output.engine ?? options.defaultEngine
  const { account, files } = ctx.state

  const product = await productOf(body, { account: account.id, files, photos: options.productPhotos })
  const person = await options.personPhotos.resolve(input.person.image.source, {
    account,
    files,
    externalUserId: input.externalUserId ?? null,
    keepForDays: input.output.keepForDays ?? null,
  })
  const generationId = `gen_${uuidv7()}`
  const { watermark, seed, mode, format, fullResolution } = input.output
  try {
    await options.accept({
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
  } catch (error) {
    if (person.uploadedNow) await options.personPhotos.discard(person.imageId)
    throw error
  }
  options.nudge()
  ctx.status = 201
  ctx.body = { generationId, status: 'PENDING', productExternalId: product.externalId }
}

async function productOf(
  body: ProductBody,
  { account, files, photos }: { account: string; files: AppState['files']; photos: ProductPhotos },
): Promise<ProductInput> {
  const { externalId, images, validForDays, ...fields } = body
  const product = {
    id: uuidv7(),
    externalId: externalId ?? `_anon_${uuidv7()}`,
    anonymous: externalId === undefined,
    ...fields,
    // A one-shot product's lifetime cannot be chosen; what was sent is ignored.
    validForDays: externalId === undefined ? undefined : validForDays,
  }
  if (images === undefined) return product
  return { ...product, images: await photos.store(images, { accountId: account, files }) }
}
