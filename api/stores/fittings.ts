import { type Database, Json, rowType, sql } from '../shared/database.ts'
import { Type } from '../shared/schema.ts'
import { isLive } from '../shared/stores/product-merge.ts'

const Parts = rowType(
  Type.Object({
    hasImage: Type.Boolean(),
    products: Type.Array(Type.Object({ externalId: Type.String(), metadata: Json })),
  }),
)

export interface FittingName {
  readonly accountId: string
  readonly shopId: string
  readonly imageId: string
  /** What the product may be called in the catalog. */
  readonly externalIds: readonly string[]
}

export type Fittings = ReturnType<typeof createFittings>

/** What is there of a shopper's wish before it is accepted. */
export function createFittings(database: Database) {
  return {
    /** Whether the photo is one of a shopper of the shop, and those products of the catalog that have one of the names. */
    find: ({ accountId, shopId, imageId, externalIds }: FittingName) =>
      database.one(sql.type(Parts)`
        select exists (
            select from images
            where id = ${imageId} and account_id = ${accountId} and starts_with(external_user_id, ${`${shopId}:`})
              and expires_at > now()) as "hasImage",
          coalesce((
            select jsonb_agg(jsonb_build_object('externalId', external_id, 'metadata', metadata)) from products
            where account_id = ${accountId} and external_id = any(${sql.array([...externalIds], 'text')})
              and not anonymous and ${isLive}), '[]') as products`),
  }
}
