import { UniqueIntegrityConstraintViolationError } from 'slonik'
import { erasedMeanwhile } from '../photos/person-photos.ts'
import { createProducts } from '../products/products.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { type Database, withinTransaction } from '../shared/database/database.ts'
import { translateDatabaseError } from '../shared/database/errors.ts'
import { isReference, type ProductInput } from '../shared/database/product-merge.store.ts'
import { type Layer, usableImages } from '../shared/generations/generation.ts'
import {
  type Acceptance,
  acceptanceStatement,
  layerStatement,
  type StoredLayer,
  type Verdict,
} from './acceptance-statement.ts'
import { shopRefusal } from './shopper-limits.store.ts'

export type { Acceptance } from './acceptance-statement.ts'

/**
 * True: the call was accepted. False: a generation with this ID was accepted before. Error: the reason for the refusal.
 */
export type Outcome = boolean | Error

/**
 * Key of calls that one statement can accept. Such calls differ in photo, options and, unless they send a product, in
 * the product.
 */
export function kindOf({
  accountId,
  engine,
  requestedEngine,
  garmentTypes,
  cost,
  reuse,
  shop,
  product,
}: Acceptance): string {
  const sent = isReference(product) ? null : { ...product, id: null }
  return JSON.stringify([accountId, engine, requestedEngine, garmentTypes, cost, reuse, shop, sent])
}

/**
 * Accepts generations of one kind in ONE statement: debit, ledger, products, generations and outbox rows are written
 * atomically. The outcomes, in the order of the calls, equal those of accepting the calls one after the other: when the
 * credits do not suffice for all, the first calls are accepted. An invalid call does not affect the others.
 *
 * Locks are taken in the order account, products, so that concurrent calls cannot deadlock.
 *
 * Outcomes are `INSUFFICIENT_CREDITS`, `QUOTA_EXCEEDED`, `RATE_LIMITED`, `PRODUCT_NOT_FOUND`,
 * `PRODUCT_IMAGES_REQUIRED`, `MISSING_REQUIRED_CLASSIFICATION`, `FORBIDDEN`, `INVALID_API_KEY` or `VALIDATION_FAILED`
 * (the person image does not exist or has expired); for a shop `IMAGE_NOT_FOUND` instead of the last three, and
 * `BILLING_NOT_ALLOWED` or `RATE_LIMIT_EXCEEDED`. Throws when the database is unavailable, which may happen after the
 * calls were accepted.
 */
export async function acceptGenerations(database: Database, calls: readonly Acceptance[]): Promise<readonly Outcome[]> {
  const [{ product, garmentTypes }] = calls
  if (product.images && usableImages(product.images, garmentTypes).length === 0)
    return calls.map((call) => classificationMissing(call))
  try {
    const verdicts = await database.any(acceptanceStatement(calls))
    return calls.map((call, i) => verdicts[i].accepted || refusal(verdicts[i], call))
  } catch (error) {
    if (translateDatabaseError(error) instanceof DrapeError) throw error
    if (calls.length > 1) return acceptOneByOne(database, calls)
    return [isAcceptedTwice(error) ? false : asError(error)]
  }
}

/** Accepts one generation like `acceptGenerations`, and throws the reason for a refusal. */
export async function acceptGeneration(database: Database, call: Acceptance): Promise<boolean> {
  const [outcome] = await acceptGenerations(database, [call])
  if (outcome instanceof Error) throw outcome
  return outcome
}

/** A call with 2 or more products, in the order of the call. */
export interface OutfitAcceptance extends Omit<Acceptance, 'product' | 'layers'> {
  readonly layers: readonly { readonly layer: Layer; readonly product: ProductInput }[]
  /** Credits that are refunded for each layer that is left out. */
  readonly layerCost: number
}

/** Accepts an outfit as `acceptGeneration` accepts a try-on: in one transaction, so that a refused call stores no product. */
export function acceptOutfit(database: Database, { layers, layerCost, ...call }: OutfitAcceptance): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const within = withinTransaction(database, transaction)
    const stored: StoredLayer[] = []
    for (const [i, { layer, product }] of layers.entries()) {
      const row = await within.maybeOne(layerStatement(call.accountId, product))
      if (row === null) throw await unknownLayer(within, call.accountId, { product, path: `products[${i}]` })
      if (usableImages(row.images, call.garmentTypes).length === 0)
        throw classificationMissing(call, product.externalId)
      stored.push({ layer, externalId: product.externalId, cost: layerCost, product: row })
    }
    const [{ externalId, product }] = stored
    const first = { id: product.id, externalId, anonymous: false }
    return acceptGeneration(within, { ...call, product: first, layers: stored })
  })
}

async function unknownLayer(
  database: Database,
  accountId: string,
  { product, path }: { readonly product: ProductInput; readonly path: string },
): Promise<DrapeError> {
  const found = isReference(product) ? await createProducts(database).find({ accountId, ...product }) : null
  return unknownProduct({ product: found === null ? 'missing' : 'foreign' }, product, path)
}

async function acceptOneByOne(database: Database, calls: readonly Acceptance[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const call of calls) outcomes.push(await acceptGeneration(database, call).catch(asError))
  return outcomes
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('The database threw a value that is not an Error.', { cause })
}

/** True for any unique key of a generation: which key the database reports first is undefined. */
function isAcceptedTwice(error: unknown): boolean {
  const names = ['generations_pkey', 'ledger_once', 'outbox_pkey']
  return error instanceof UniqueIntegrityConstraintViolationError && names.includes(error.constraint ?? '')
}

function refusal(verdict: Verdict, call: Acceptance): DrapeError {
  const { product, shop } = call
  if (!verdict.active)
    return shop ? shopRefusal('unpaid') : new DrapeError('INVALID_API_KEY', 'The account is not active.')
  if (verdict.image !== 'mine') return unknownImage(verdict, call)
  if (verdict.erased) return call.shop ? unknownPhoto() : erasedMeanwhile()
  if (!product.images && verdict.product !== 'mine') return unknownProduct(verdict, product)
  if (!product.images && !verdict.usable) return classificationMissing(call)
  if (verdict.shop !== 'open') return shopRefusal(verdict.shop)
  if (verdict.failing) return failedTooOften()
  if (!verdict.affordable) return new DrapeError('INSUFFICIENT_CREDITS', 'The account has too few credits.')
  return new DrapeError(
    'QUOTA_EXCEEDED',
    'The account has reached its limit of generations per month or of concurrent generations.',
  )
}

/** A client that follows `Retry-After` retries once a minute. */
const FAILING_RETRY_SECONDS = 60

function failedTooOften(): DrapeError {
  return new DrapeError(
    'RATE_LIMITED',
    'Too many try-ons of the account failed within the last hour. Check their errorCode and retry the call after the seconds in Retry-After.',
    { retryable: true, retryAfterSeconds: FAILING_RETRY_SECONDS },
  )
}

function unknownImage({ image }: Verdict, { shop, imagePath = 'person.image.source.id' }: Acceptance): DrapeError {
  if (shop) return unknownPhoto()
  if (image === 'foreign')
    return new DrapeError('FORBIDDEN', 'The person image belongs to another account.', {
      details: [{ path: imagePath, message: 'belongs to another account' }],
    })
  return new DrapeError('VALIDATION_FAILED', 'The person image does not exist or has expired.', {
    details: [{ path: imagePath, message: 'does not exist or has expired' }],
  })
}

/** For shoppers. `userImageId` is the field of POST /public/fitting-room. */
export function unknownPhoto(): DrapeError {
  return new DrapeError('IMAGE_NOT_FOUND', 'The photo does not exist or has expired. Upload it again.', {
    details: [{ path: 'userImageId', message: 'does not exist or has expired' }],
  })
}

export function unknownProduct(
  verdict: Pick<Verdict, 'product'>,
  product: ProductInput,
  path = 'products[0]',
): DrapeError {
  if (!isReference(product)) {
    return new DrapeError('PRODUCT_IMAGES_REQUIRED', 'A new product needs at least one image.', {
      details: [{ path: `${path}.images`, message: 'must have at least 1 item' }],
    })
  }
  if (verdict.product === 'foreign') return new DrapeError('FORBIDDEN', 'The product belongs to another account.')
  return new DrapeError('PRODUCT_NOT_FOUND', `The product ${product.externalId} does not exist.`)
}

function classificationMissing(
  { engine, garmentTypes }: Pick<Acceptance, 'engine' | 'garmentTypes'>,
  product?: string,
): DrapeError {
  const [key] = garmentTypes
  const image = product === undefined ? 'an image' : `an image of the product ${product}`
  const message = `The engine ${engine} needs ${image} classified as ${key}, or one without a classification.`
  return new DrapeError('MISSING_REQUIRED_CLASSIFICATION', message, { details: { key } })
}
