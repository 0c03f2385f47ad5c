import { type Database, rowType, sql } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import type { EngineName, Options, ProductImage } from '../shared/generation.ts'
import { Type } from '../shared/schema.ts'

/** A product as a try-on call names it; absent fields keep what is stored, a null `validForDays` means forever. */
export interface ProductInput {
  /** Used when the product is new. */
  readonly id: string
  readonly externalId: string
  readonly anonymous: boolean
  readonly title?: string
  readonly description?: string
  readonly images?: readonly ProductImage[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly validForDays?: number | null
}

export interface Acceptance {
  readonly generationId: string
  readonly accountId: string
  readonly externalUserId: string | null
  readonly imageId: string
  readonly product: ProductInput
  readonly engine: EngineName
  readonly cost: number
  readonly options: Options
  readonly deadlineSeconds: number
  /** Days that the result is kept; null takes the account's window. */
  readonly keepForDays: number | null
}

const Verdict = rowType(
  Type.Object({
    accepted: Type.Boolean(),
    active: Type.Boolean(),
    affordable: Type.Boolean(),
    image: Type.Enum(['mine', 'foreign', 'missing']),
    productKnown: Type.Boolean(),
  }),
)

/** Days that a product made by a try-on call lives between uses. */
const INLINE_DAYS = 15
const ONE_SHOT_DAYS = 7

/**
 * Accepts a generation in ONE statement: debit, ledger, product, generation and outbox row are written together or not at all.
 * Locks are taken in the order account, product: two calls can wait for each other but never in a circle.
 * Throws `INSUFFICIENT_CREDITS`, `PRODUCT_NOT_FOUND`, `PRODUCT_IMAGES_REQUIRED`, `FORBIDDEN`, `INVALID_API_KEY` or
 * `VALIDATION_FAILED` (the person's image is unknown or expired).
 */
export async function acceptGeneration(database: Database, call: Acceptance): Promise<void> {
  const verdict = await database.one(statement(call))
  if (verdict.accepted) return
  throw refusal(verdict, call)
}

function refusal(
  verdict: { active: boolean; affordable: boolean; image: string; productKnown: boolean },
  call: Acceptance,
) {
  if (!verdict.active) return new DrapeError('INVALID_API_KEY', 'The account is not active.')
  if (verdict.image === 'foreign') return new DrapeError('FORBIDDEN', 'The person image belongs to another account.')
  if (verdict.image === 'missing') {
    return new DrapeError('VALIDATION_FAILED', 'The person image does not exist or has expired.', {
      details: [{ path: 'person.image.source.id', message: 'does not exist or has expired' }],
    })
  }
  if (!verdict.productKnown && !call.product.images) {
    if (isReference(call.product)) {
      return new DrapeError('PRODUCT_NOT_FOUND', `There is no product ${call.product.externalId}.`)
    }
    return new DrapeError('PRODUCT_IMAGES_REQUIRED', 'A new product needs at least one image.')
  }
  return new DrapeError('INSUFFICIENT_CREDITS', 'The account has no credits left.')
}

function isReference({ title, description, metadata, validForDays }: ProductInput): boolean {
  return [title, description, metadata, validForDays].every((field) => field === undefined)
}

function statement(call: Acceptance) {
  const { product } = call
  const images = product.images ? sql.jsonb(product.images.map((image) => ({ ...image }))) : sql.fragment`null::jsonb`
  const storedKeys = (product.images ?? []).flatMap((image) => (image.objectKey ? [image.objectKey] : []))
  const days = product.validForDays ?? (product.anonymous ? ONE_SHOT_DAYS : INLINE_DAYS)
  const newDays = product.validForDays === null ? null : days
  const keepDays = product.validForDays === undefined
  const metadata = product.metadata === undefined ? sql.fragment`null::jsonb` : sql.jsonb(product.metadata as never)
  const live = sql.fragment`(products.expires_at is null or products.expires_at > now())`
  const storedDays = keepDays
    ? sql.fragment`case when ${live} then products.valid_for_days else excluded.valid_for_days end`
    : sql.fragment`excluded.valid_for_days`
  return sql.type(Verdict)`
    with account as (
      select id, balance, is_active, retention_days from accounts where id = ${call.accountId} for update
    ), image as (
      select images.*, images.account_id = account.id as mine from account join images on images.id = ${call.imageId}
      where images.expires_at > now()
    ), existing as (
      select products.id from account join products on products.account_id = account.id
      where products.external_id = ${product.externalId} and ${live}
      for update of products
    ), allowed as (
      select account.id from account join image on image.mine
      where account.is_active and account.balance >= ${call.cost}
        and (${images} is not null or exists (select from existing))
    ), debit as (
      update accounts set balance = accounts.balance - ${call.cost} from allowed where accounts.id = allowed.id
      returning accounts.id
    ), product as (
      insert into products (id, account_id, external_id, anonymous, title, description, images, images_edition, metadata,
        valid_for_days, last_used_at, expires_at)
      select ${product.id}, debit.id, ${product.externalId}, ${product.anonymous}, ${product.title ?? null},
        ${product.description ?? null}, coalesce(${images}, '[]'), ${product.id}, ${metadata}, ${newDays}::int, now_ms(),
        now_ms() + make_interval(days => ${newDays}::int)
      from debit
      on conflict (account_id, external_id) do update set
        title = coalesce(excluded.title, case when ${live} then products.title end),
        description = coalesce(excluded.description, case when ${live} then products.description end),
        images = case when ${images} is null then products.images else excluded.images end,
        images_edition = case when ${images} is null or ${images} = products.images then products.images_edition
          else excluded.images_edition end,
        metadata = coalesce(excluded.metadata, case when ${live} then products.metadata end),
        valid_for_days = ${storedDays},
        last_used_at = now_ms(),
        expires_at = now_ms() + make_interval(days => ${storedDays}),
        updated_at = case when ${isReference(product) && !product.images} then products.updated_at else now_ms() end
      returning *
    ), kept as (
      update objects set expires_at = null from debit
      where objects.account_id = debit.id and objects.key = any(${sql.array(storedKeys, 'text')})
    ), generation as (
      insert into generations (id, account_id, product_id, product_external_id, image_id, external_user_id, cost, engine,
        options, snapshot, deadline_at, images_expire_at)
      select ${call.generationId}, product.account_id, product.id, product.external_id, image.id, ${call.externalUserId},
        ${call.cost}, ${call.engine}, ${sql.jsonb({ ...call.options })},
        jsonb_build_object('externalId', product.external_id, 'title', product.title, 'description', product.description,
          'images', product.images, 'metadata', product.metadata),
        now_ms() + make_interval(secs => ${call.deadlineSeconds}),
        now_ms() + make_interval(days => coalesce(${call.keepForDays}::int, account.retention_days))
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
        'person', jsonb_build_object('imageId', image.id, 'objectKey', image.object_key, 'cropMode', image.crop_mode,
          'crop', image.crop),
        'product', jsonb_build_object('id', product.id, 'imagesEdition', product.images_edition, 'title', product.title,
          'description', product.description, 'images', product.images))
      from generation, image, product
      returning generation_id
    )
    select exists (select from queued) as accepted,
      coalesce((select is_active from account), false) as active,
      coalesce((select balance >= ${call.cost} from account), false) as affordable,
      coalesce((select case when mine then 'mine' else 'foreign' end from image), 'missing') as image,
      exists (select from existing) as "productKnown"`
}
