import type { ProductImage } from '../generations/generation.ts'
import { sql } from './database.ts'

// SQL fragments of the statements that write products: one statement creates or updates a product and settles its
// stored objects. The fragments refer to earlier CTEs by name: `account` (id), `stored`, `product` (the current row),
// `abandoned` (objects no longer in use).

/** A product as a caller sends it. Absent fields keep the stored value; a null `validForDays` means no expiry. */
export interface ProductInput {
  /** Used for a new product. */
  readonly id: string
  readonly externalId: string
  readonly anonymous: boolean
  readonly title?: string
  readonly description?: string
  readonly images?: readonly ProductImage[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly validForDays?: number | null
}

/** An expired product counts as deleted, even while its row exists. */
export const isLive = sql.fragment`(products.expires_at is null or products.expires_at > now())`

/** Whether a product is only referenced by ID. */
export function isReference({ title, description, images, metadata, validForDays }: ProductInput): boolean {
  return [title, description, images, metadata, validForDays].every((field) => field === undefined)
}

/**
 * `stored`: existing rows of products with these external IDs, live or expired, locked after the rows that `account`
 * locks. The statement that writes the products must join `locked`: rows that the statement itself changed cannot be
 * locked or read.
 */
export function lockStored(externalIds: readonly string[]) {
  return sql.fragment`stored as (
      select products.id, products.account_id, products.external_id, products.images, ${isLive} as live
      from account join products on products.account_id = account.id
      where products.external_id = any(${sql.array([...externalIds], 'text')})
      order by products.external_id for update of products
    ), locked as (
      select count(*) from stored
    )`
}

/** Whether the call sent images. */
export function hasImages({ images }: ProductInput) {
  return images ? sql.fragment`true` : sql.fragment`false`
}

/**
 * Values from `account` for id, account_id, external_id, title, description, images, images_edition, metadata of a new
 * row.
 */
export function newFields(product: ProductInput) {
  const { id, externalId, title = null, description = null, metadata } = product
  const json = metadata === undefined ? sql.fragment`null::json` : sql.json(metadata as never)
  return sql.fragment`${id}, account.id, ${externalId}, ${title}, ${description}, coalesce(${imagesOf(product)}, '[]'),
        ${id}, ${json}`
}

/**
 * Merged values of a stored row: fields that were not sent stay; a list of images is replaced as a whole. Nothing of an
 * expired product stays. The edition changes only with the images.
 */
export function mergedFields(product: ProductInput) {
  const images = imagesOf(product)
  return sql.fragment`
        id = case when ${isLive} then products.id else excluded.id end,
        title = coalesce(excluded.title, case when ${isLive} then products.title end),
        description = coalesce(excluded.description, case when ${isLive} then products.description end),
        images = case when ${images} is null then products.images else excluded.images end,
        images_edition = case when ${images} is null or ${images} = products.images then products.images_edition
          else excluded.images_edition end,
        metadata = coalesce(excluded.metadata, case when ${isLive} then products.metadata end),
        created_at = case when ${isLive} then products.created_at else now_ms() end`
}

/** Whether an update changes the stored row. `days` is its lifetime afterwards. */
export function isChanged(product: ProductInput, days: ReturnType<typeof sql.fragment>) {
  const images = imagesOf(product)
  return sql.fragment`(not ${isLive} or coalesce(excluded.title <> products.title, excluded.title is not null)
          or coalesce(excluded.description <> products.description, excluded.description is not null)
          or coalesce(${images} <> products.images, false)
          or coalesce(excluded.metadata::jsonb <> products.metadata::jsonb, excluded.metadata is not null)
          or ${days} is distinct from products.valid_for_days)`
}

/** Keeps the product's stored images, which would expire if the call had been refused. */
export function claimObjects(product: ProductInput) {
  return sql.fragment`claimed as (
      update objects set expires_at = null from product
      where objects.account_id = product.account_id and objects.key = any(${sql.array(keysOf(product), 'text')})
    )`
}

/** Releases images that the product no longer has. */
export function abandonReplaced(product: ProductInput) {
  return sql.fragment`abandoned as (
      select stored.id, stored.account_id, stored.images from stored, product
      where stored.images <> product.images or stored.id <> product.id
    ), ${releaseAbandoned(keysOf(product))}`
}

/**
 * Expires the objects of the products in `abandoned`, except the keys in `kept` and objects that another product of the
 * account uses. A generation that was accepted before may read them until its deadline, at most 1 hour. The comparison
 * of `xmin` skips objects that another call has claimed since this statement began.
 */
export function releaseAbandoned(kept: readonly string[]) {
  return sql.fragment`released as (
      select objects.key, objects.xmin as version
      from abandoned, jsonb_array_elements(abandoned.images) as image, objects
      where objects.key = image->>'objectKey' and objects.key <> all(${sql.array([...kept], 'text')})
        and not exists (
          select from products
          where products.account_id = abandoned.account_id and products.id not in (select id from abandoned)
            and jsonb_path_exists(products.images, '$[*].objectKey')
            and products.images @> jsonb_build_array(jsonb_build_object('objectKey', objects.key)))
      union all
      select objects.key, objects.xmin from abandoned join objects on objects.account_id = abandoned.account_id
      where objects.kind = 'product'
        and objects.key collate "C" >= concat('products/', abandoned.account_id, '/', abandoned.id, '/')
        and objects.key collate "C" < concat('products/', abandoned.account_id, '/', abandoned.id, '0')
    ), dated as (
      update objects set expires_at = greatest(objects.expires_at, now_ms() + interval '1 hour') from released
      where objects.key = released.key and objects.xmin = released.version
    )`
}

function imagesOf({ images }: ProductInput) {
  return images ? sql.jsonb(images.map((image) => ({ ...image }))) : sql.fragment`null::jsonb`
}

function keysOf({ images = [] }: ProductInput): string[] {
  return images.flatMap(({ objectKey }) => (objectKey === undefined ? [] : [objectKey]))
}
