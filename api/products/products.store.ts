import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import {
  abandonReplaced,
  claimObjects,
  hasImages,
  isChanged,
  isLive,
  lockStored,
  mergedFields,
  newFields,
  type ProductInput,
  releaseAbandoned,
} from '../shared/database/product-merge.store.ts'
import { DetectedSchema, ProductImageSchema } from '../shared/generations/generation.ts'

const ProductRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  externalId: Type.String(),
  title: Nullable(Type.String()),
  description: Nullable(Type.String()),
  images: Type.Array(ProductImageSchema),
  /** Changes with every change of the images. */
  imagesEdition: Type.String(),
  /** Classes that workers detected in the current images, by index. */
  detected: Nullable(Type.Record(Type.String(), DetectedSchema)),
  metadata: Json,
  validForDays: Nullable(Type.Integer()),
  lastUsedAt: Type.Unsafe<Date | null>({}),
  expiresAt: Type.Unsafe<Date | null>({}),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type ProductRecord = Static<typeof ProductRow>

const ListedRow = Type.Object({ ...ProductRow.properties, hasMore: Type.Boolean() })

const StatisticsRow = Type.Object({
  accountId: Type.String(),
  total: Type.Integer(),
  completed: Type.Integer(),
  failed: Type.Integer(),
  averageMs: Type.Integer(),
})

export type ProductStatistics = Static<typeof StatisticsRow>

/**
 * A product of the account, or a server-made product of any account. Only a server-made product can be recognised as
 * another account's.
 */
export interface ProductName {
  readonly accountId: string
  readonly externalId: string
}

const Owner = rowType(Type.Object({ accountId: Type.String() }))

/** Memory for a page of products is a multiple of this. */
const MAX_PAGE_BYTES = 2_000_000

const columns = sql.fragment`
  id, account_id as "accountId", external_id as "externalId", title, description, images, images_edition as "imagesEdition",
  case when detected->>'edition' = images_edition then detected->'images' end as detected, metadata,
  valid_for_days as "validForDays", last_used_at as "lastUsedAt", expires_at as "expiresAt", created_at as "createdAt",
  updated_at as "updatedAt"`

const isNamed = ({ accountId, externalId }: ProductName) => sql.fragment`
  products.external_id = ${externalId} and (products.account_id = ${accountId} or products.anonymous) and ${isLive}`

export type Products = ReturnType<typeof createProducts>

/** Store of the catalog: products that were registered or sent in try-on calls. */
export function createProducts(database: Database) {
  return {
    find: (name: ProductName): Promise<ProductRecord | null> =>
      database.maybeOne(sql.type(rowType(ProductRow))`select ${columns} from products where ${isNamed(name)}`),

    /**
     * A page of products with an external ID, newest first, after the product with the ID `after`: at most `limit`
     * products, fewer when they are large.
     */
    list: async ({ accountId, after, limit }: { accountId: string; after: string | null; limit: number }) => {
      const rows = await database.any(sql.type(rowType(ListedRow))`
        with candidates as (
          select id, octet_length(concat(description, images, metadata)) as bytes from products
          where account_id = ${accountId} and not anonymous and ${isLive} and (${after}::text is null or id < ${after})
          order by id desc limit ${limit + 1}
        ), page as (
          select id from (
            select id, row_number() over newest as place, sum(bytes) over newest - bytes as before
            from candidates window newest as (order by id desc)
          ) as placed
          where place <= ${limit} and (place = 1 or before < ${MAX_PAGE_BYTES})
        )
        select ${columns}, (select count(*) from candidates) > (select count(*) from page) as "hasMore"
        from products join page using (id) order by id desc`)
      return { products: rows, hasMore: rows[0]?.hasMore ?? false }
    },

    /** Creates or updates a product and returns it; null for a new product without images. */
    upsert: (accountId: string, product: ProductInput): Promise<ProductRecord | null> =>
      database.maybeOne(upsert(accountId, product)),

    /**
     * Deletes a product and releases its stored objects. Generations keep their own snapshot of it. Returns the owner;
     * if the owner is another account, nothing was deleted. Returns null if the product does not exist.
     */
    delete: (name: ProductName) =>
      database.maybeOneFirst(sql.type(Owner)`
        with named as (
          select id, account_id from products where ${isNamed(name)}
        ), abandoned as (
          delete from products using named where products.id = named.id and named.account_id = ${name.accountId}
          returning products.id, products.account_id, products.images
        ), ${releaseAbandoned([])}
        select account_id as "accountId" from named
        where account_id <> ${name.accountId} or exists (select from abandoned)`),

    /**
     * Counts the generations of a product, including those of earlier products with the same external ID. Times in ms
     * since 1970.
     */
    countGenerations: (name: ProductName, { from, to }: { from: number | null; to: number | null }) =>
      database.maybeOne(sql.type(rowType(StatisticsRow))`
        select products.account_id as "accountId", count(generations.id) as total,
          count(*) filter (where status = 'COMPLETED' and not left_out) as completed,
          count(*) filter (where status = 'FAILED' or left_out) as failed,
          coalesce(round(extract(epoch from avg(finished_at - generations.created_at) filter (where status = 'COMPLETED' and not left_out))
            * 1000), 0)::bigint as "averageMs"
        from products left join lateral (
            select *, ${isLeftOut} as left_out from generations
            where account_id = products.account_id and product_external_id = products.external_id
            union all
            select *, ${isLeftOut} as left_out from generations
            where account_id = products.account_id and product_external_id <> products.external_id
              and layers is not null and layers @> jsonb_build_array(jsonb_build_object('externalId', products.external_id))
          ) as generations on (${from}::float8 is null or generations.created_at >= to_timestamp(${from}::float8 / 1000))
          and (${to}::float8 is null or generations.created_at <= to_timestamp(${to}::float8 / 1000))
        where ${isNamed(name)}
        group by products.id`),
  }
}

/** Whether the outfit, which may have completed, is without the product. */
const isLeftOut = sql.fragment`coalesce(
  layers @> jsonb_build_array(jsonb_build_object('externalId', products.external_id, 'applied', false)), false)`

function upsert(accountId: string, product: ProductInput) {
  const days = product.validForDays ?? null
  const keepsDays = product.validForDays === undefined
  const newDays = sql.fragment`case when ${keepsDays} and ${isLive} then products.valid_for_days else excluded.valid_for_days end`
  return sql.type(rowType(ProductRow))`
    with account as (select ${accountId}::text as id), ${lockStored([product.externalId])}, product as (
      insert into products (id, account_id, external_id, title, description, images, images_edition, metadata,
        valid_for_days, expires_at)
      select ${newFields(product)}, ${days}::int, now_ms() + make_interval(days => ${days}::int)
      from account, locked where ${hasImages(product)} or exists (select from stored where live)
      on conflict (account_id, external_id) do update set
        ${mergedFields(product)},
        valid_for_days = ${newDays},
        expires_at = case when ${isLive} and ${newDays} is not distinct from products.valid_for_days then products.expires_at
          else excluded.expires_at end,
        last_used_at = case when ${isLive} then products.last_used_at end,
        updated_at = case when ${isChanged(product, newDays)} then now_ms() else products.updated_at end
      returning *
    ), ${claimObjects(product)}, ${abandonReplaced(product)}
    select ${columns} from product`
}
