import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp, withinTransaction } from '../shared/database/database.ts'
import type { ProductInput } from '../shared/database/product-merge.store.ts'
import { createProducts, type ProductRecord } from './products.store.ts'

export const ITEM_RESULTS = ['created', 'updated', 'unchanged', 'failed'] as const
export type ItemResult = (typeof ITEM_RESULTS)[number]

/** Position of an item: its index in the batch from 0, and its line in the request body. */
export interface ItemPlace {
  readonly batchId: string
  readonly position: number
  readonly line: number
}

export interface ItemError {
  readonly code: string
  readonly message: string
  readonly details?: unknown
}

const Batch = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  items: Type.Integer(),
  createdAt: Timestamp,
  results: Type.Record(Type.String(), Type.Integer()),
  images: Type.Record(Type.String(), Type.Integer()),
})
export type BatchRecord = Static<typeof Batch>

const Item = Type.Object({
  position: Type.Integer(),
  line: Type.Integer(),
  externalId: Nullable(Type.String()),
  result: Type.Enum([...ITEM_RESULTS]),
  error: Json,
  pending: Type.Integer(),
  fetched: Type.Integer(),
  /** Images that could not be fetched. */
  failures: Type.Array(Type.Object({ url: Type.String(), code: Type.String() })),
})
export type BatchItem = Static<typeof Item>

const Position = rowType(Type.Object({ position: Type.Integer() }))
const Claimed = Type.Object({
  batchId: Type.String(),
  position: Type.Integer(),
  image: Type.Integer(),
  accountId: Type.String(),
  productId: Type.String(),
  edition: Type.String(),
  url: Type.String(),
  attempts: Type.Integer(),
  isCurrent: Type.Boolean(),
})
export type ClaimedImage = Static<typeof Claimed>

export interface ImageClaim {
  readonly limit: number
  readonly perAccount: number
  readonly leaseSeconds: number
  readonly inFlight: Readonly<Record<string, number>>
}

export type ProductBatches = ReturnType<typeof createProductBatches>

/** Store of product batches, their results and the images to fetch for them. */
export function createProductBatches(database: Database) {
  return {
    /** Creates the batch unless an earlier attempt did. Returns the positions that are done. */
    begin: async ({ id, accountId, items }: { id: string; accountId: string; items: number }): Promise<Set<number>> => {
      await database.query(sql.unsafe`
        insert into product_batches (id, account_id, items) values (${id}, ${accountId}, ${items})
        on conflict (id) do nothing`)
      return new Set(
        await database.anyFirst(sql.type(Position)`
          select position from product_batch_items where batch_id = ${id}`),
      )
    },

    /**
     * Creates or changes a product and records the result, with the images to fetch, in one transaction. Returns null and records
     * nothing when the product would be new and without images.
     */
    upsert: (place: ItemPlace, accountId: string, product: ProductInput) =>
      upsertItem(database, place, { accountId, product }),

    insertFailed: async (place: ItemPlace, externalId: string | null, error: ItemError): Promise<void> => {
      await database.query(sql.unsafe`${insertItem(place, { externalId, result: 'failed', error })}`)
    },

    /** A batch of any account; null when it does not exist. */
    find: (id: string): Promise<BatchRecord | null> =>
      database.maybeOne(sql.type(rowType(Batch))`
        select id, account_id as "accountId", items, created_at as "createdAt",
          coalesce((select jsonb_object_agg(result, count) from (
            select result, count(*)::int as count from product_batch_items where batch_id = product_batches.id group by result
          ) as results), '{}') as results,
          coalesce((select jsonb_object_agg(state, count) from (
            select state, count(*)::int as count from product_batch_images where batch_id = product_batches.id group by state
          ) as states), '{}') as images
        from product_batches where id = ${id}`),

    /** Items in order, after the given position. */
    listItems: (id: string, { after, limit }: { after: number; limit: number }) =>
      database.any(sql.type(rowType(Item))`
        select position, line, external_id as "externalId", result, error,
          (select count(*)::int from product_batch_images as images
            where images.batch_id = ${id} and images.position = items.position and state = 'pending') as pending,
          (select count(*)::int from product_batch_images as images
            where images.batch_id = ${id} and images.position = items.position and state = 'fetched') as fetched,
          coalesce((select jsonb_agg(jsonb_build_object('url', url, 'code', error_code) order by image)
            from product_batch_images as images
            where images.batch_id = ${id} and images.position = items.position and state = 'failed'), '[]') as failures
        from product_batch_items as items where batch_id = ${id} and position > ${after} order by position limit ${limit}`),

    /**
     * Claims images to fetch for `leaseSeconds`. Each account gets at most `perAccount` images, including its images in
     * `inFlight`.
     */
    claimImages: (claim: ImageClaim) => claimImages(database, claim),

    /** Records the result of a claimed image. The last image completes the batch. */
    endImage: async (
      { batchId, position, image }: ClaimedImage,
      { state, code = null }: { state: 'fetched' | 'failed' | 'replaced'; code?: string | null },
    ): Promise<void> => {
      await database.query(sql.unsafe`
        update product_batch_images set state = ${state}, error_code = ${code}
        where batch_id = ${batchId} and position = ${position} and image = ${image}`)
    },

    /** Makes a claimed image claimable again after `seconds`. */
    delayImage: async ({ batchId, position, image }: ClaimedImage, seconds: number): Promise<void> => {
      await database.query(sql.unsafe`
        update product_batch_images set available_at = now() + make_interval(secs => ${seconds})
        where batch_id = ${batchId} and position = ${position} and image = ${image}`)
    },

    /**
     * Marks batches without images to fetch, so that claims skip them. Skips recent batches, which may still get items.
     */
    endFetched: async (): Promise<void> => {
      await database.query(sql.unsafe`
        update product_batches set is_fetching = false
        where is_fetching and created_at < now() - interval '1 hour'
          and not exists (select from product_batch_images where batch_id = id and state = 'pending')`)
    },
  }
}

function upsertItem(
  database: Database,
  place: ItemPlace,
  { accountId, product }: { accountId: string; product: ProductInput },
): Promise<ItemResult | null> {
  return database.transaction(async (transaction) => {
    const products = createProducts(withinTransaction(database, transaction))
    const before = await products.find({ accountId, externalId: product.externalId })
    const after = await products.upsert(accountId, product)
    if (after === null) return null
    const result = before === null ? 'created' : isSame(before, after) ? 'unchanged' : 'updated'
    const urls = after.images.filter(({ objectKey }) => objectKey === undefined)
    await transaction.query(sql.unsafe`
      with item as (
        ${insertItem(place, { externalId: product.externalId, result, error: null })} returning batch_id, position
      )
      insert into product_batch_images (batch_id, position, image, account_id, product_id, edition, url)
      select batch_id, position, image, ${accountId}, ${after.id}, ${after.imagesEdition}, url
      from item, ${sql.unnest(
        urls.map(({ order, sourceUrl }) => [order, sourceUrl]),
        ['int4', 'text'],
      )} as urls (image, url)`)
    return result
  })
}

function claimImages(database: Database, { limit, perAccount, leaseSeconds, inFlight }: ImageClaim) {
  return database.any(sql.type(rowType(Claimed))`
    with due as (
      select image.* from (select distinct account_id from product_batches where is_fetching) as owners,
      lateral (
        select batch_id, position, image from product_batch_images as waiting
        where waiting.account_id = owners.account_id and state = 'pending' and available_at <= now()
        order by batch_id, position, image
        limit greatest(0, ${perAccount}::int - coalesce((${sql.jsonb({ ...inFlight })}->>owners.account_id)::int, 0))
        for update skip locked
      ) as image limit ${limit}
    )
    update product_batch_images as images
    set available_at = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    from due where images.batch_id = due.batch_id and images.position = due.position and images.image = due.image
    returning images.batch_id as "batchId", images.position, images.image, images.account_id as "accountId",
      product_id as "productId", edition, url, attempts,
      exists (select from products where products.id = product_id and images_edition = edition) as "isCurrent"`)
}

function insertItem(
  { batchId, position, line }: ItemPlace,
  { externalId, result, error }: { externalId: string | null; result: ItemResult; error: ItemError | null },
) {
  return sql.fragment`
    insert into product_batch_items (batch_id, position, line, external_id, result, error)
    values (${batchId}, ${position}, ${line}, ${externalId}, ${result}, ${error === null ? null : JSON.stringify(error)}::json)
    on conflict (batch_id, position) do nothing`
}

/** Whether an update changed nothing that the caller can see. */
function isSame(before: ProductRecord, after: ProductRecord): boolean {
  const seen = ({ title, description, images, metadata, validForDays }: ProductRecord) =>
    JSON.stringify([title, description, images, metadata, validForDays])
  return before.id === after.id && seen(before) === seen(after)
}
