import { DEFAULT_FAILED_PER_HOUR } from '../accounts/account-settings.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { rowType, sql } from '../shared/database/database.ts'
import {
  abandonReplaced,
  claimObjects,
  hasImages,
  isChanged,
  isLive,
  isReference,
  lockStored,
  mergedFields,
  newFields,
  type ProductInput,
} from '../shared/database/product-merge.store.ts'
import {
  GARMENT_TYPES,
  type JobProduct,
  type Layer,
  type Options,
  ProductImageSchema,
} from '../shared/generations/generation.ts'
import type { Consent } from '../shared/generations/generations.store.ts'
import { isUsableBy } from '../shared/image/person-photos.store.ts'
import { INLINE_PRODUCT_DAYS, ONE_SHOT_PRODUCT_DAYS } from '../shared/retention/lifetimes.ts'
import { insertDeliveries } from '../webhooks/webhook-outbox.store.ts'
import { type Reuse, reuseParts } from './reuse.store.ts'
import { SHOP_STATES, type ShopCall, shopLimits } from './shopper-limits.store.ts'

/** A product of an outfit, as the worker will see it. */
export interface StoredLayer {
  readonly layer: Layer
  readonly externalId: string
  /** Credits that are refunded if the layer is left out. */
  readonly cost: number
  readonly product: JobProduct
}

export interface Acceptance {
  readonly generationId: string
  readonly accountId: string
  readonly externalUserId: string | null
  readonly imageId: string
  /** Owners whose photos the call may use, in addition to photos without an owner. Absent: all of the account. */
  readonly photoOwners?: readonly string[]
  /** Key of the stored mask of the photo, which the generation will own. */
  readonly maskKey?: string
  /** The upload that the mask was; absent for a mask of the call. */
  readonly maskImageId?: string
  /** JSON path of the image's ID in the request. */
  readonly imagePath?: string
  readonly product: ProductInput
  /** The stored products of an outfit, in the order of the call; `product` refers to the first. Absent: `product` alone. */
  readonly layers?: readonly StoredLayer[]
  readonly engine: string
  /** Engine that the call named, when a fallback engine replaces it. */
  readonly requestedEngine?: string | null
  /** Garment types that the engine accepts. */
  readonly garmentTypes: readonly string[]
  readonly cost: number
  /** Absent: the call gets no result of an earlier one. */
  readonly reuse?: Reuse
  readonly options: Options
  readonly deadlineSeconds: number
  /** Retention of the result in days. Null: the retention of the account, or of the photo when its upload named one. */
  readonly keepForDays: number | null
  /** Batch jobs run after the other jobs of their account. */
  readonly isBatch?: boolean
  /** Shop of the shopper `externalUserId`. Given: the limits of the shop apply. Requires `shopperHash`. */
  readonly shop?: ShopCall
  /** Keyed hash of `externalUserId`, by which the weekly limit counts: it outlives an erasure until the week ends. */
  readonly shopperHash?: string
  /** Keyed hash of the network address of a visitor who is not a customer of the shop. */
  readonly visitorAddress?: string | null
  /** Consent of the person in the photo. */
  readonly consent?: Consent | null
  /** W3C trace context that the work continues. */
  readonly traceparent?: string
  /** When its request arrived, by `performance.now()`; default: when it joins the calls to be accepted. */
  readonly receivedAt?: number
  /** Seconds since then. The call is refused if its end user was erased meanwhile. */
  readonly waitedSeconds?: number
}

const VerdictSchema = Type.Object({
  accepted: Type.Boolean(),
  active: Type.Boolean(),
  affordable: Type.Boolean(),
  shop: Type.Enum([...SHOP_STATES]),
  image: Type.Enum(['mine', 'foreign', 'missing']),
  erased: Type.Boolean(),
  product: Type.Enum(['mine', 'foreign', 'missing']),
  usable: Type.Boolean(),
  failing: Type.Boolean(),
})
/** Verdict of the statement on a call. For a refused call: the reason, given the calls accepted before it. */
export type Verdict = Static<typeof VerdictSchema>

/**
 * Statement that accepts calls of one kind and returns one row per call, in order. The decision counts under the lock
 * of the account: the `turn` of a call is its place among the calls that only credits or a quota can refuse. Only
 * accepted generations are debited.
 *
 * Each lookup per call has a `limit`, so that Postgres does not choose a generic plan that scans a whole table.
 *
 * The snapshot may be older than an erasure that completed while the statement waited for the account. The statement
 * therefore locks images in the order of their IDs, after the account, so that a deleted image is found deleted; and
 * `erased` reads past the snapshot.
 */
export function acceptanceStatement(calls: readonly Acceptance[]) {
  const [{ accountId, product, engine, requestedEngine = null, garmentTypes, cost, shop }] = calls
  const limits = shopLimits(shop)
  const reuse = reuseParts(calls[0], safetyLevel)
  const rows = sql.jsonb(calls.map(rowOf))
  return sql.type(rowType(VerdictSchema))`
    with account as (
      select id, balance, is_active, retention_days, settings, logo_key, credits_low_since
      from accounts where id = ${accountId} for no key update
    ), call as materialized (
      select * from jsonb_to_recordset(${rows}) as call (place int, id text, image_id text, photo_owners text[], external_id text,
        external_user_id text, shopper_hash text, visitor_address text, options jsonb, deadline_seconds float8, keep_for_days int,
        is_batch boolean, traceparent text, waited_seconds float8, consent jsonb, layers jsonb, layer_products jsonb, mask_key text, mask_image_id text)
    ), erased as materialized (
      select call.id from account cross join call
      where was_erased_since(account.id, external_user_id, now() - make_interval(secs => waited_seconds))
    ), quota as (
      -- Counted after the account is locked, so that concurrent calls count each other; see the SQL functions. Null without a quota.
      select least(
          case when settings->>'concurrentGenerations' is not null
            then (settings->>'concurrentGenerations')::bigint - count_unfinished(id) end,
          case when settings->>'monthlyGenerations' is not null
            then (settings->>'monthlyGenerations')::bigint - count_since(id, date_trunc('month', now(), 'UTC')) end) as room,
        ${shop ? sql.fragment`false` : sql.fragment`fails_too_often(id, ${failedPerHour})`} as failing
      from account
    ), ${limits.rooms}, image as (
      select images.* from account cross join (select distinct image_id from call order by image_id) as named
        cross join lateral (
          select images.*, images.account_id = account.id as mine from images
          where images.id = named.image_id and images.expires_at > now()
          limit 1 for key share of images) as images
    ), ${lockStored(externalIdsOf(calls))}, usable as (
      select external_id from stored where live and ${isUsable(product, garmentTypes)}
    ), possible as (
      select call.* from call join image on image.id = call.image_id and image.mine and ${isAllowed} cross join locked
      where (${hasImages(product)} or call.external_id in (select external_id from usable))
        and call.id not in (select id from erased)
    ), waiting as (
      select possible.*, row_number() over (order by place) as turn from ${limits.possible}
    ), allowed as (
      select waiting.* from waiting, account, quota, shop
      where is_active and is_paid and not failing and turn * ${cost} <= balance and coalesce(turn <= least(quota.room, shop.room), true)
    ), ${isReference(product) ? useProducts : upsertProduct(product)}, ${reuse.ctes} generation as (
      insert into generations (id, account_id, product_id, product_external_id, image_id, mask_image_id, external_user_id, photo_user_id, shop_id,
        shopper_hash, visitor_address, cost, engine, requested_engine, options, snapshot, deadline_at, images_expire_at, consent, layers
        ${reuse.columns})
      select allowed.id, product.account_id, product.id, product.external_id, allowed.image_id, allowed.mask_image_id, allowed.external_user_id,
        nullif(image.external_user_id, allowed.external_user_id), ${shop?.id ?? null}, allowed.shopper_hash, allowed.visitor_address,
        ${reuse.cost}, ${engine}, ${requestedEngine}, allowed.options,
        jsonb_build_object('externalId', product.external_id, 'title', product.title, 'description', product.description,
          -- What share pages show: each generation stores its own.
          'images', case when product.images = '[]' then '[]' else jsonb_build_array((product.images->0) - 'classifications') end),
        now_ms() + make_interval(secs => allowed.deadline_seconds),
        -- A shopper's result expires no later than the shopper's photo.
        case
          when coalesce(allowed.keep_for_days, image.keep_for_days) is null and account.settings->>'resultDays' is not null
            then now_ms() + make_interval(hours => 24 * (account.settings->>'resultDays')::int)
          when allowed.keep_for_days is null then image.expires_at
          else now_ms() + make_interval(hours => 24 * allowed.keep_for_days) end,
        allowed.consent, allowed.layers ${reuse.values}
      from allowed join product using (external_id) join image on image.id = allowed.image_id ${reuse.join} cross join account
      order by place
      returning *
    ), charge as (
      select amount, credits_low_since is null and amount > 0 and balance - amount <= ${creditsLowAt} as falls
      from account cross join (select count(*) as calls, sum(cost) as amount from generation) as made
      where calls > 0
    ), debit as (
      update accounts
      set balance = accounts.balance - amount, credits_low_since = case when falls then now_ms() else credits_low_since end
      from charge where accounts.id = ${accountId}
      returning accounts.id, accounts.balance, settings, falls
    ), notified as (
      -- Sent once when a debit brings the balance to the account's threshold or below, and again only after a top-up.
      ${insertDeliveries(sql.fragment`
        select id as account_id, 'evt_' || gen_random_uuid() as id, 'credits.low' as type, now_ms() as happened_at,
          jsonb_build_object('creditBalance', balance, 'creditsLowAt', ${creditsLowAt}) as data
        from debit where falls`)}
    ), entry as (
      insert into ledger (account_id, amount, kind, generation_id)
      select account_id, -cost, 'reserve', id from generation where cost > 0
    ), queued as (
      insert into outbox (generation_id, account_id, queue, engine_name, is_batch, payload)
      select generation.id, generation.account_id, 'try-on', generation.engine, call.is_batch, jsonb_build_object(
        'generationId', generation.id, 'attempt', generation.attempt, 'accountId', generation.account_id,
        'externalUserId', generation.external_user_id, 'engine', generation.engine,
        'garmentTypes', ${sql.jsonb([...garmentTypes])}, 'options', generation.options,
        'minQuality', (account.settings->>'minQualityPercent')::float8 / 100,
        -- The shop's own settings override those of the account.
        'safety', case when ${safetyLevel} <> 'off' then jsonb_build_object('level', ${safetyLevel},
          'allowsSwimwear', coalesce(shop.allows_swimwear, (account.settings->>'allowsSwimwear')::boolean, false)) end,
        'deadlineAt', floor(extract(epoch from generation.deadline_at) * 1000)::bigint,
        'acceptedAt', floor(extract(epoch from generation.created_at) * 1000)::bigint,
        'imagesExpireAt', floor(extract(epoch from generation.images_expire_at) * 1000)::bigint,
        'logoKey', case when (generation.options->>'watermark')::boolean then account.logo_key end,
        'person', jsonb_build_object('imageId', image.id, 'objectKey', image.object_key, 'cropMode', image.crop_mode,
          'crop', image.crop),
        'product', jsonb_build_object('id', product.id, 'imagesEdition', product.images_edition, 'title', product.title,
          'description', product.description, 'images', product.images),
        'layers', call.layer_products, 'maskKey', call.mask_key, 'traceparent', call.traceparent ${reuse.payload})
      from generation join call on call.id = generation.id join image on image.id = generation.image_id
        join product on product.id = generation.product_id cross join account cross join shop
      returning generation_id
    )${calls.some(({ maskKey }) => maskKey !== undefined) ? claimMasks : sql.fragment``}
    select queued.generation_id is not null as accepted,
      coalesce((select is_active from account), false) as active,
      coalesce((select balance >= ${cost} * (1 + (select count(*) from allowed)) from account), false) as affordable,
      ${limits.state} as shop,
      coalesce((select case when mine and ${isAllowed} then 'mine' else 'foreign' end from image where image.id = call.image_id), 'missing')
        as image,
      call.id in (select id from erased) as erased,
      case when exists (select from stored where live and stored.external_id = call.external_id) then 'mine'
        when ${isForeign(accountId, product)} then 'foreign' else 'missing' end as product,
      call.external_id in (select external_id from usable) as usable,
      coalesce((select failing from quota), false) as failing
    from call left join queued on queued.generation_id = call.id
    order by place`
}

const JobProductRow = rowType(
  Type.Object({
    id: Type.String(),
    imagesEdition: Type.String(),
    title: Nullable(Type.String()),
    description: Nullable(Type.String()),
    images: Type.Array(ProductImageSchema),
  }),
)

/**
 * Statement that uses one product of an outfit as `acceptanceStatement` uses the product of its calls. Returns no row for a product that
 * does not exist, or for a new one without images. Locks the account first, so that acceptances cannot deadlock.
 */
export function layerStatement(accountId: string, product: ProductInput) {
  return sql.type(JobProductRow)`
    with account as (
      select id from accounts where id = ${accountId} for no key update
    ), ${lockStored([product.externalId])}, allowed as (
      select ${product.externalId}::text as external_id from locked
      where ${hasImages(product)} or exists (select from stored where live)
    ), ${isReference(product) ? useProducts : upsertProduct(product)}
    select id, images_edition as "imagesEdition", title, description, images from product`
}

/** Masks live as long as the photos that they are of. A copy of another end user's upload is erased with either of them. */
const claimMasks = sql.fragment`, masked as (
      update objects set external_user_id = coalesce(upload.external_user_id, generation.external_user_id), expires_at = image.expires_at
      from generation join call on call.id = generation.id join image on image.id = generation.image_id
        left join images as upload on upload.id = call.mask_image_id
      where objects.key = call.mask_key
    )`

/** Whether a `call` may use its `image`. */
const isAllowed = sql.fragment`(call.photo_owners is null or ${isUsableBy(sql.fragment`call.photo_owners`, 'image')})`

const safetyLevel = sql.fragment`coalesce(shop.safety_level, account.settings->>'safetyLevel', 'off')`

const failedPerHour = sql.fragment`coalesce((settings->>'failedGenerationsPerHour')::bigint, ${DEFAULT_FAILED_PER_HOUR})`

/** Null when no event is due. */
const creditsLowAt = sql.fragment`(settings->>'creditsLowAt')::bigint`

function rowOf(call: Acceptance, place: number) {
  return {
    place,
    id: call.generationId,
    image_id: call.imageId,
    photo_owners: call.photoOwners === undefined ? null : [...call.photoOwners],
    external_id: call.product.externalId,
    external_user_id: call.externalUserId,
    shopper_hash: call.shopperHash ?? null,
    visitor_address: call.visitorAddress ?? null,
    options: { ...call.options },
    deadline_seconds: call.deadlineSeconds,
    keep_for_days: call.keepForDays,
    is_batch: call.isBatch ?? false,
    traceparent: call.traceparent ?? null,
    consent: call.consent ?? null,
    layers:
      call.layers?.map(({ layer, externalId, cost, product }) => ({ layer, externalId, cost, title: product.title })) ??
      null,
    layer_products: call.layers?.map(({ layer, product }) => ({ layer, product })) ?? null,
    mask_key: call.maskKey ?? null,
    mask_image_id: call.maskImageId ?? null,
    waited_seconds: call.waitedSeconds ?? 0,
  }
}

function externalIdsOf(calls: readonly Acceptance[]): string[] {
  return [...new Set(calls.map(({ product }) => product.externalId))]
}

/**
 * Products that calls reference by ID: extends their expiry. Found by external ID, because the locked row may have a
 * new ID since the statement began.
 */
const useProducts = sql.fragment`product as (
      update products set last_used_at = now_ms(), expires_at = now_ms() + make_interval(days => valid_for_days)
      from stored
      where products.account_id = stored.account_id and products.external_id = stored.external_id
        and stored.external_id in (select external_id from allowed)
      returning products.*
    )`

function upsertProduct(product: ProductInput) {
  const days = product.validForDays ?? (product.anonymous ? ONE_SHOT_PRODUCT_DAYS : INLINE_PRODUCT_DAYS)
  const newDays = product.validForDays === null ? null : days
  const storedDays =
    product.validForDays === undefined
      ? sql.fragment`case when ${isLive} then products.valid_for_days else excluded.valid_for_days end`
      : sql.fragment`excluded.valid_for_days`
  return sql.fragment`product as (
      insert into products (id, account_id, external_id, title, description, images, images_edition, metadata, anonymous,
        valid_for_days, last_used_at, expires_at)
      select ${newFields(product)}, ${product.anonymous}, ${newDays}::int, now_ms(),
        now_ms() + make_interval(days => ${newDays}::int)
      from account where exists (select from allowed)
      on conflict (account_id, external_id) do update set
        ${mergedFields(product)},
        valid_for_days = ${storedDays},
        last_used_at = now_ms(),
        expires_at = now_ms() + make_interval(days => ${storedDays}),
        updated_at = case when ${isChanged(product, storedDays)} then now_ms() else products.updated_at end
      returning *
    ), ${settleObjects(product)}`
}

/** Only images sent with the call replace stored images. */
function settleObjects(product: ProductInput) {
  if (product.anonymous || !product.images) return claimObjects(product)
  return sql.fragment`${claimObjects(product)}, ${abandonReplaced(product)}`
}

/** Whether the product of a `call` is a server-made product of another account. */
function isForeign(accountId: string, { images }: ProductInput) {
  if (images) return sql.fragment`false`
  return sql.fragment`coalesce((
          select account_id <> ${accountId} from products
          where products.external_id = call.external_id and anonymous and ${isLive} limit 1), false)`
}

/** Whether a `stored` product has an image that the engine can use: the SQL equivalent of `usableImages`. */
function isUsable(product: ProductInput, garmentTypes: readonly string[]) {
  if (product.images) return sql.fragment`true`
  const types = sql.array([...GARMENT_TYPES], 'text')
  const accepted = sql.array([...garmentTypes], 'text')
  return sql.fragment`exists (
        select from jsonb_array_elements(stored.images) as image
        where coalesce(
          (select type from unnest(${types}) as known (type)
            where type = lower(image #>> '{classifications,type}')
              and jsonb_typeof(image #> '{classifications,type}') = 'string'),
          (select type from unnest(${types}) with ordinality as known (type, place)
            where image #> array['classifications', type] = 'true' order by place limit 1),
          (${accepted})[1]) = any(${accepted}))`
}
