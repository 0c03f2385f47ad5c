import { v7 as uuidv7 } from 'uuid'
import type { AccountSettings } from '../accounts/account-settings.ts'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import { assertScope } from '../accounts/restrictions.ts'
import { checkConsent } from '../consents/check-consent.ts'
import type { Consents } from '../consents/consents.store.ts'
import { disconnectSignal } from '../http/answers/disconnect-signal.ts'
import type { Translated } from '../http/route-body.ts'
import type { AppContext } from '../http/state.ts'
import type { PersonPhotos } from '../photos/person-photos.ts'
import type { ProductPhotos } from '../photos/product-photos.ts'
import type { RegionMasks } from '../photos/region-masks.ts'
import type { ReserveStorage } from '../photos/storage-quota.ts'
import { imageField } from '../products/legacy.routes.ts'
import type { ProductBody } from '../products/products.schema.ts'
import type { Products } from '../products/products.store.ts'
import { ERRORS } from '../shared/contract/error-codes.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { formatPath } from '../shared/contract/schema.ts'
import type { ProductInput } from '../shared/database/product-merge.store.ts'
import type { Layer } from '../shared/generations/generation.ts'
import type { Generations } from '../shared/generations/generations.store.ts'
import type { NormalisedMask } from '../shared/image/image.ts'
import type { Acceptance, OutfitAcceptance } from './acceptance.store.ts'
import type { EngineChoice } from './engines/choice.ts'
import { defaultDeadline } from './engines/deadline.ts'
import type { KnownEngine } from './engines/directory.ts'
import type { Estimate } from './engines/wait-estimate.ts'
import { readTestInput } from './test-inputs.ts'
import type { TryOnBody } from './try-on.schema.ts'

export interface AcceptanceParts {
  readonly personPhotos: PersonPhotos
  readonly productPhotos: ProductPhotos
  readonly regionMasks: RegionMasks
  /** False when the generation was accepted before. */
  readonly accept: (call: Acceptance) => Promise<boolean>
  /** As `accept`. */
  readonly acceptOutfit: (call: OutfitAcceptance) => Promise<boolean>
  readonly generations: Generations
  /** Notifies the relay of new work. */
  readonly wake: () => void
  readonly chooseEngine: EngineChoice['choose']
  readonly findProduct: Products['find']
  readonly reserveStorage: ReserveStorage
  readonly consents: Consents
}

export interface SentTryOn {
  readonly body: TryOnBody
  readonly translated: Translated
  /** Present if the products of the call are an outfit. */
  readonly outfit?: {
    readonly isPartial: boolean
    /** Finds the layer of each product; throws `VALIDATION_FAILED` for products that are no outfit. */
    readonly plan: () => Promise<readonly Layer[]>
  }
}

interface AcceptedCall {
  readonly generationId: string
  readonly productExternalId: string
  /** The products of an outfit, in the order of the call; null for a single product. */
  readonly layers: readonly { readonly externalId: string; readonly layer: Layer }[] | null
  readonly engine: string
  readonly requestedEngine: string | null
  /** Null when the wait is unknown. */
  readonly estimate: Estimate | null
}

/**
 * Checks everything that the schema cannot, stores the images and accepts the call. A resumed call that was already
 * accepted stays accepted.
 */
export async function acceptTryOn(ctx: AppContext, parts: AcceptanceParts, sent: SentTryOn): Promise<AcceptedCall> {
  const generationId = `gen_${ctx.state.resourceId}`
  const earlier = ctx.state.resumed ? await parts.generations.find(generationId) : null
  if (earlier) return { ...earlier, generationId, estimate: null }
  if (sent.body.products.some(isUpsert))
    assertScope(ctx.state.key, ['products'], 'A try-on that creates or updates a product')
  if (ctx.state.account.testOf !== null) await assertTest(ctx, parts, sent)
  const consent = await readConsent(ctx, parts, sent)
  const planned = (await sent.outfit?.plan()) ?? null
  const chosen = await chooseEngine(ctx, parts, sent)
  const { engine, requestedEngine, estimating } = chosen
  const { maxWaitSeconds, output } = sent.body
  if (maxWaitSeconds !== undefined) assertWait(await estimating, maxWaitSeconds)
  const signal = disconnectSignal(ctx)
  const mask = await readMask(ctx, parts, { sent, signal })
  const products: ProductInput[] = []
  for (const index of sent.body.products.keys()) products.push(await storeProduct(ctx, parts, { sent, signal, index }))
  const [product] = products
  const person = await storePerson(ctx, parts, { sent, signal })
  const maskKey = mask && (await storeMask(ctx, parts, { sent, generationId, person, mask }))
  const call = {
    ...callOf(ctx, sent, person),
    generationId,
    ...(maskKey !== null && { maskKey, maskImageId: output.mask?.image.source.id }),
    engine: engine.name,
    garmentTypes: engine.garmentTypes,
    requestedEngine,
    reuse: mask || output.count > 1 || output.changedMask ? undefined : reuseOf(engine, ctx.state.account),
    consent,
    deadlineSeconds: output.deadlineSeconds ?? (await defaultDeadline(chosen)),
  }
  const layers = planned?.map((layer, i) => ({ layer, product: products[i] })) ?? null
  const accepting =
    layers === null
      ? parts.accept({ ...call, product, cost: engine.credits * sent.body.output.count })
      : parts.acceptOutfit({ ...call, layers, ...priceOutfit(engine, ctx.state.account.settings, layers.length) })
  await acceptOnce(accepting, parts, { ...person, maskKey })
  parts.wake()
  return {
    generationId,
    productExternalId: product.externalId,
    layers: layers?.map(({ layer, product: { externalId } }) => ({ layer, externalId })) ?? null,
    engine: engine.name,
    requestedEngine,
    estimate: await estimating,
  }
}

/** How results of the engine are reused; undefined unless the account reuses results. */
export function reuseOf(
  { card }: KnownEngine,
  { settings: { reuseCredits: credits }, testOf }: Pick<AccountRecord, 'settings' | 'testOf'>,
): Acceptance['reuse'] {
  return credits === undefined || testOf !== null ? undefined : { credits, version: card?.version ?? null }
}

/** Price of an outfit; `layerCost`: the part of the price that is refunded for a layer that is left out. */
export function priceOutfit({ credits }: KnownEngine, { outfitPricing = 'layer' }: AccountSettings, layers: number) {
  return outfitPricing === 'layer' ? { cost: credits * layers, layerCost: credits } : { cost: credits, layerCost: 0 }
}

/** Checks the consent of a call before anything of the call is stored. */
async function readConsent({ state: { account } }: AppContext, { consents }: AcceptanceParts, { body }: SentTryOn) {
  if (body.consent === undefined) return null
  const { policy, version, at } = body.consent
  return checkConsent({ policy, version, at }, { accountId: account.testOf ?? account.id, consents })
}

/** Estimated size of a result. */
const TEST_RESULT_BYTES = 1024 * 1024

/** Checks the test input and the storage quota: credits do not limit the number of results of a test key. */
async function assertTest(
  { state: { account } }: AppContext,
  { reserveStorage }: AcceptanceParts,
  { body }: SentTryOn,
): Promise<void> {
  readTestInput(body.externalUserId ?? null)
  await reserveStorage(account, TEST_RESULT_BYTES * body.output.count, async () => {})
}

function chooseEngine(
  { state: { account } }: AppContext,
  { chooseEngine: choose, findProduct }: AcceptanceParts,
  { body: { products, priority, output }, translated: { written }, outfit }: SentTryOn,
) {
  return choose(
    {
      account,
      isBatch: priority === 'batch',
      requested: output.engine,
      mayFallBack: output.fallback,
      layers: outfit && products.length,
      count: output.count,
      findImages: () => Promise.all(products.map((product) => imagesOf(product, account.id, findProduct))),
    },
    formatPath(written(['output', 'engine'])),
  )
}

type ResolvedPhoto = Awaited<ReturnType<PersonPhotos['resolve']>>

interface Storing {
  readonly sent: SentTryOn
  readonly signal: AbortSignal
}

function storePerson(
  { state: { account, files, receivedAt } }: AppContext,
  { personPhotos }: AcceptanceParts,
  { sent: { body, translated }, signal }: Storing,
): Promise<ResolvedPhoto> {
  return personPhotos.resolve(body.person.image.source, {
    account,
    files,
    receivedAt,
    signal,
    field: imageField(['person', 'image'], translated.written),
    externalUserId: body.externalUserId ?? null,
    keepForDays: body.output.keepForDays ?? null,
  })
}

/** Reads the mask of a call before anything of the call is stored; null if it has none. */
async function readMask(
  { state: { account, files } }: AppContext,
  { regionMasks }: AcceptanceParts,
  { sent: { body, translated }, signal }: Storing,
): Promise<NormalisedMask | null> {
  const { mask } = body.output
  if (mask === undefined) return null
  return regionMasks.read(mask, { account, files, signal, field: maskField(translated) })
}

function maskField({ written }: Translated): string {
  return formatPath(written(['output', 'mask', 'image']))
}

/** Returns the key of the mask. Deletes the photo of the call if the mask does not fit it. */
async function storeMask(
  { state: { account } }: AppContext,
  { regionMasks, personPhotos }: AcceptanceParts,
  {
    sent: { translated },
    generationId,
    person: { imageId, uploadedNow },
    mask,
  }: {
    readonly sent: SentTryOn
    readonly generationId: string
    readonly person: ResolvedPhoto
    readonly mask: NormalisedMask
  },
): Promise<string> {
  try {
    return await regionMasks.store(mask, {
      account,
      generationId,
      imageId,
      field: maskField(translated),
    })
  } catch (error) {
    if (uploadedNow) await personPhotos.discard(imageId)
    throw error
  }
}

/** The call as input of the acceptance. */
function callOf(
  { state: { account, receivedAt } }: AppContext,
  { body, translated: { written }, outfit }: SentTryOn,
  { imageId, uploadedNow }: ResolvedPhoto,
) {
  const { watermark, seed, count, mask, changedMask, mode, format, fullResolution, keepForDays = null } = body.output
  return {
    accountId: account.id,
    receivedAt,
    externalUserId: body.externalUserId ?? null,
    imageId,
    imagePath: formatPath(written(['person', 'image', 'source', 'id'])),
    options: {
      ...{ watermark, seed, mode, format, fullResolution },
      ...(count > 1 && { count }),
      ...(mask && { mask: mask.keep ? ('keep' as const) : ('allow' as const) }),
      ...(changedMask && { changedMask }),
      ...(outfit?.isPartial && { partial: true }),
    },
    keepForDays: uploadedNow && account.testOf === null ? keepForDays : null,
    isBatch: body.priority === 'batch',
  }
}

/** Awaits the acceptance. Deletes the photo and the mask of the call if it was refused or was accepted before. */
async function acceptOnce(
  accepting: Promise<boolean>,
  { personPhotos, regionMasks }: AcceptanceParts,
  { imageId, uploadedNow, maskKey }: ResolvedPhoto & { readonly maskKey: string | null },
): Promise<void> {
  const discard = async () => {
    if (uploadedNow) await personPhotos.discard(imageId)
    if (maskKey !== null) await regionMasks.discard(maskKey)
  }
  try {
    const isNew = await accepting
    if (!isNew) await discard()
  } catch (error) {
    // After any other error the call may have been accepted, and the generation may need the photo.
    if (isRefusal(error)) await discard()
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof DrapeError && ERRORS[error.code].status < 500
}

/** Maximum `Retry-After` in seconds. The delay equals the time by which the backlog must shrink. */
const MAX_RETRY_SECONDS = 3600

/** Throws `SERVICE_UNAVAILABLE` when the estimated start is later. */
function assertWait(estimate: Estimate | null, maxWaitSeconds: number): void {
  if (estimate === null || estimate.estimatedStartSeconds <= maxWaitSeconds) return
  const { estimatedStartSeconds, estimatedSeconds } = estimate
  throw new DrapeError(
    'SERVICE_UNAVAILABLE',
    `The try-on would start in about ${estimatedStartSeconds} seconds, later than maxWaitSeconds (${maxWaitSeconds}). Send the call again after the seconds in Retry-After, raise maxWaitSeconds or choose another engine.`,
    {
      details: [
        {
          path: 'maxWaitSeconds',
          message: `must be at least ${estimatedStartSeconds} now`,
          estimatedStartSeconds,
          estimatedSeconds,
        },
      ],
      retryable: true,
      retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, estimatedStartSeconds - maxWaitSeconds),
    },
  )
}

/** Classifications of a product's images: from the call, else from the catalog. */
async function imagesOf({ externalId, images }: ProductBody, accountId: string, findProduct: Products['find']) {
  if (images === undefined)
    return externalId === undefined ? null : ((await findProduct({ accountId, externalId }))?.images ?? null)
  return images.map(({ classifications = null }, order) => ({ order, classifications }))
}

/** Whether the call creates or updates a product of the catalog. */
function isUpsert({ externalId, title, description, images, validForDays, metadata }: ProductBody): boolean {
  const written = [title, description, images, validForDays, metadata]
  return externalId !== undefined && written.some((value) => value !== undefined)
}

async function storeProduct(
  { state: { account, files, resourceId } }: AppContext,
  { productPhotos }: AcceptanceParts,
  { sent: { body, translated }, signal, index }: Storing & { readonly index: number },
): Promise<ProductInput> {
  // Named individually, so that unknown fields of a caller cannot override ours.
  const { externalId, title, description, images, validForDays, metadata } = body.products[index]
  const product = {
    id: uuidv7(),
    externalId: externalId ?? `_anon_${resourceId}${index === 0 ? '' : `-${index}`}`,
    anonymous: externalId === undefined,
    title,
    description,
    metadata,
    // The lifetime of a one-shot product is fixed; a sent value is ignored.
    validForDays: externalId === undefined ? undefined : validForDays,
  }
  if (images === undefined) return product
  const fieldOf = (image: number) =>
    imageField(['products', String(index), 'images', String(image)], translated.written)
  return { ...product, images: await productPhotos.store(images, { account, files, signal, fieldOf }) }
}
