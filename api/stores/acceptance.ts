import { UniqueIntegrityConstraintViolationError } from 'slonik'
import { type Database, rowType, sql } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { ENGINES, type EngineName, GARMENT_TYPES, type Options, usableImages } from '../shared/generation.ts'
import { type Static, Type } from '../shared/schema.ts'
import {
  abandonReplaced,
  claimObjects,
  hasImages,
  isLive,
  lockStored,
  mergedFields,
  newFields,
  type ProductInput,
} from '../shared/stores/product-merge.ts'
import { insertDeliveries } from '../shared/stores/webhook-outbox.ts'
import { activeTraceparent, withSpan } from '../shared/telemetry.ts'
import { isOfShop, SHOP_STATES, type ShopCall, shopRefusal, shopState } from './shop-limits.ts'

export interface Acceptance {
  readonly generationId: string
  readonly accountId: string
  readonly externalUserId: string | null
  readonly imageId: string
  /** Where the caller wrote the image's id. */
  readonly imagePath?: string
  readonly product: ProductInput
  readonly engine: EngineName
  readonly cost: number
  readonly options: Options
  readonly deadlineSeconds: number
  /** Days that the result is kept; null takes the account's window. */
  readonly keepForDays: number | null
  /** Given when a shopper asks, who is the `externalUserId`: limits of the shop hold, and the photo must be of its shoppers. */
  readonly shop?: ShopCall
}

const Verdict = Type.Object({
  accepted: Type.Boolean(),
  active: Type.Boolean(),
  affordable: Type.Boolean(),
  withinQuota: Type.Boolean(),
  shop: Type.Enum([...SHOP_STATES]),
  image: Type.Enum(['mine', 'foreign', 'missing']),
  product: Type.Enum(['mine', 'foreign', 'missing']),
  usable: Type.Boolean(),
})
type Verdict = Static<typeof Verdict>

/** Days that a product made by a try-on call lives between uses. */
const INLINE_DAYS = 15
const ONE_SHOT_DAYS = 7

/**
 * Accepts a generation in ONE statement: debit, ledger, product, generation and outbox row are written together or not at all.
 * Locks are taken in the order account, product: two calls can wait for each other but never in a circle.
 * Returns false, and changes nothing, when a generation with this id was accepted before.
 * Throws `INSUFFICIENT_CREDITS`, `QUOTA_EXCEEDED`, `PRODUCT_NOT_FOUND`, `PRODUCT_IMAGES_REQUIRED`,
 * `MISSING_REQUIRED_CLASSIFICATION`, `FORBIDDEN`, `INVALID_API_KEY` or `VALIDATION_FAILED` (the person's image is unknown or
 * expired); for a shop `IMAGE_NOT_FOUND` in place of the last three, and `BILLING_NOT_ALLOWED` or `RATE_LIMIT_EXCEEDED`.
 */
export async function acceptGeneration(database: Database, call: Acceptance): Promise<boolean> {
  const { product, engine } = call
  if (product.images && usableImages(product.images, engine).length === 0) throw classificationMissing(engine)
  try {
    const attributes = {
      'db.system.name': 'postgresql',
      'drape.account.id': call.accountId,
      'drape.generation.id': call.generationId,
    }
    const verdict = await withSpan('accept generation', { kind: 'client', attributes }, () =>
      database.one(statement(call)),
    )
    if (!verdict.accepted) throw refusal(verdict, call)
    return true
  } catch (error) {
    if (isAcceptedTwice(error)) return false
    throw error
  }
}

/** Whichever of the unique names of a generation was met first. */
function isAcceptedTwice(error: unknown): boolean {
  const names = ['generations_pkey', 'ledger_once', 'outbox_pkey']
  return error instanceof UniqueIntegrityConstraintViolationError && names.includes(error.constraint ?? '')
}

function refusal(verdict: Verdict, call: Acceptance): DrapeError {
  const { product, engine, shop } = call
  if (!verdict.active)
    return shop ? shopRefusal('unpaid') : new DrapeError('INVALID_API_KEY', 'The account is not active.')
  if (verdict.image !== 'mine') return unknownImage(verdict, call)
  if (!product.images && verdict.product !== 'mine') return unknownProduct(verdict, product)
  if (!product.images && !verdict.usable) return classificationMissing(engine)
  if (verdict.shop !== 'open') return shopRefusal(verdict.shop)
  if (!verdict.affordable) return new DrapeError('INSUFFICIENT_CREDITS', 'The account has no credits left.')
  return new DrapeError(
    'QUOTA_EXCEEDED',
    'The account has reached its monthly number of generations, or of those at once.',
  )
}

function unknownImage({ image }: Verdict, { shop, imagePath = 'person.image.source.id' }: Acceptance): DrapeError {
  if (shop) return new DrapeError('IMAGE_NOT_FOUND', 'The photo does not exist, or not any more. Upload it again.')
  if (image === 'foreign') return new DrapeError('FORBIDDEN', 'The person image belongs to another account.')
  return new DrapeError('VALIDATION_FAILED', 'The person image does not exist or has expired.', {
    details: [{ path: imagePath, message: 'does not exist or has expired' }],
  })
}

function unknownProduct(verdict: Verdict, product: ProductInput): DrapeError {
  if (!isReference(product)) {
    return new DrapeError('PRODUCT_IMAGES_REQUIRED', 'A new product needs at least one image.')
  }
  if (verdict.product === 'foreign') return new DrapeError('FORBIDDEN', 'The product belongs to another account.')
  return new DrapeError('PRODUCT_NOT_FOUND', `There is no product ${product.externalId}.`)
}

function classificationMissing(engine: EngineName): DrapeError {
  const [key] = ENGINES[engine].garmentTypes
  const message = `The engine ${engine} needs an image classified as ${key}, or one without a classification.`
  return new DrapeError('MISSING_REQUIRED_CLASSIFICATION', message, { details: { key } })
}

function isReference({ title, description, metadata, validForDays }: ProductInput): boolean {
  return [title, description, metadata, validForDays].every((field) => field === undefined)
}

// Counted after the account was locked, so that calls at the same time count each other; see the functions.
const isWithinQuota = sql.fragment`
  case when settings->>'concurrentGenerations' is null then true
    else count_unfinished(id) < (settings->>'concurrentGenerations')::bigint end
  and case when settings->>'monthlyGenerations' is null then true
    else count_since(id, date_trunc('month', now(), 'UTC')) < (settings->>'monthlyGenerations')::bigint end`

/** Null when the account is not to be told. */
const creditsLowAt = sql.fragment`(settings->>'creditsLowAt')::bigint`

/** Told once, when a debit leaves no more than the account's threshold, and again only after a top-up. */
const lowCredits = sql.fragment`
      select id as account_id, 'evt_' || gen_random_uuid() as id, 'credits.low' as type, now_ms() as happened_at,
        jsonb_build_object('creditBalance', balance, 'creditsLowAt', ${creditsLowAt}) as data
      from debit where falls`

function statement(call: Acceptance) {
  const { product } = call
  const days = product.validForDays ?? (product.anonymous ? ONE_SHOT_DAYS : INLINE_DAYS)
  const newDays = product.validForDays === null ? null : days
  const keepDays = product.validForDays === undefined
  const storedDays = keepDays
    ? sql.fragment`case when ${isLive} then products.valid_for_days else excluded.valid_for_days end`
    : sql.fragment`excluded.valid_for_days`
  return sql.type(rowType(Verdict))`
    with account as (
      select id, balance, is_active, retention_days, settings, logo_key,
        credits_low_since is null and ${call.cost} > 0 and balance - ${call.cost} <= ${creditsLowAt} as falls
      from accounts where id = ${call.accountId} for no key update
    ), quota as (
      select ${isWithinQuota} as holds, ${shopState(call)} as shop from account
    ), image as (
      select images.*, images.account_id = account.id and ${isOfShop(call.shop)} as mine from account join images on images.id = ${call.imageId}
      where images.expires_at > now()
    ), ${lockStored(product)}, usable as (
      select from stored where live and ${isUsable(call)}
    ), allowed as (
      select account.id, account.falls from account join quota on holds and shop = 'open' join image on image.mine cross join locked
      where account.is_active and account.balance >= ${call.cost} and (${hasImages(product)} or exists (select from usable))
    ), debit as (
      update accounts
      set balance = accounts.balance - ${call.cost}, credits_low_since = case when falls then now_ms() else credits_low_since end
      from allowed where accounts.id = allowed.id
      returning accounts.id, accounts.balance, settings, falls
    ), told as (${insertDeliveries(lowCredits)}
    ), product as (
      insert into products (id, account_id, external_id, title, description, images, images_edition, metadata, anonymous,
        valid_for_days, last_used_at, expires_at)
      select ${newFields(product)}, ${product.anonymous}, ${newDays}::int, now_ms(),
        now_ms() + make_interval(days => ${newDays}::int)
      from debit as account
      on conflict (account_id, external_id) do update set
        ${mergedFields(product)},
        valid_for_days = ${storedDays},
        last_used_at = now_ms(),
        expires_at = now_ms() + make_interval(days => ${storedDays}),
        updated_at = case when ${isReference(product) && !product.images} then products.updated_at else now_ms() end
      returning *
    ), ${settleObjects(product)}, generation as (
      insert into generations (id, account_id, product_id, product_external_id, image_id, external_user_id, shop_id, cost, engine,
        options, snapshot, deadline_at, images_expire_at)
      select ${call.generationId}, product.account_id, product.id, product.external_id, image.id, ${call.externalUserId},
        ${call.shop?.id ?? null}, ${call.cost}, ${call.engine}, ${sql.jsonb({ ...call.options })},
        jsonb_build_object('externalId', product.external_id, 'title', product.title, 'description', product.description,
          'images', product.images, 'metadata', product.metadata),
        now_ms() + make_interval(secs => ${call.deadlineSeconds}),
        now_ms() + make_interval(hours => 24 * coalesce(${call.keepForDays}::int, account.retention_days))
      from product, image, account
      returning *
    ), entry as (
      insert into ledger (account_id, amount, kind, generation_id)
      select account_id, -cost, 'reserve', id from generation where cost > 0
    ), queued as (
      insert into outbox (generation_id, account_id, queue, payload)
      select generation.id, generation.account_id, 'try-on', jsonb_build_object(
        'generationId', generation.id, 'attempt', generation.attempt, 'accountId', generation.account_id,
        'externalUserId', generation.external_user_id, 'engine', generation.engine, 'options', generation.options,
        'deadlineAt', floor(extract(epoch from generation.deadline_at) * 1000)::bigint,
        'acceptedAt', floor(extract(epoch from generation.created_at) * 1000)::bigint,
        'imagesExpireAt', floor(extract(epoch from generation.images_expire_at) * 1000)::bigint,
        'logoKey', case when ${call.options.watermark} then (select logo_key from account) end,
        'person', jsonb_build_object('imageId', image.id, 'objectKey', image.object_key, 'cropMode', image.crop_mode,
          'crop', image.crop),
        'product', jsonb_build_object('id', product.id, 'imagesEdition', product.images_edition, 'title', product.title,
          'description', product.description, 'images', product.images),
        'traceparent', ${activeTraceparent() ?? null}::text)
      from generation, image, product
      returning generation_id
    )
    select exists (select from queued) as accepted,
      coalesce((select is_active from account), false) as active,
      coalesce((select balance >= ${call.cost} from account), false) as affordable,
      coalesce((select holds from quota), false) as "withinQuota",
      coalesce((select shop from quota), 'unpaid') as shop,
      coalesce((select case when mine then 'mine' else 'foreign' end from image), 'missing') as image,
      case when exists (select from stored where live) then 'mine' when ${isForeign(call)} then 'foreign' else 'missing' end
        as product,
      exists (select from usable) as usable`
}

/** Only images that came with the call can take the place of others. */
function settleObjects(product: ProductInput) {
  if (product.anonymous || !product.images) return claimObjects(product)
  return sql.fragment`${claimObjects(product)}, ${abandonReplaced(product)}`
}

/** Whether the product is a server-made one of another account. */
function isForeign({ accountId, product }: Acceptance) {
  if (product.images) return sql.fragment`false`
  return sql.fragment`exists (
        select from products
        where external_id = ${product.externalId} and anonymous and account_id <> ${accountId} and ${isLive})`
}

/** Whether a `stored` product has an image that the engine can work from: the rule of `usableImages`, for rows. */
function isUsable({ product, engine }: Acceptance) {
  if (product.images) return sql.fragment`true`
  const types = sql.array([...GARMENT_TYPES], 'text')
  const accepted = sql.array([...ENGINES[engine].garmentTypes], 'text')
  return sql.fragment`exists (
        select from jsonb_array_elements(stored.images) as image
        where coalesce(
          case when jsonb_typeof(image #> '{classifications,type}') = 'string' then image #>> '{classifications,type}'
          else (
            select type from unnest(${types}) with ordinality as known (type, place)
            where image #> array['classifications', type] = 'true' order by place limit 1)
          end, (${accepted})[1]) = any(${accepted}))`
}
