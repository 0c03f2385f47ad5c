import { type Database, Json, rowType, sql } from '../shared/database/database.ts'
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
  /** Who may use the photo, as images name their owner. */
  readonly ownerIds: readonly string[]
  readonly imageId: string
  /** What the product may be called in the catalog. */
  readonly externalIds: readonly string[]
}

export type Fittings = ReturnType<typeof createFittings>

/** What is there of a shopper's wish before it is accepted. */
export function createFittings(database: Database) {
  return {
    /** Whether the photo belongs to one of the owners, and those products of the catalog that have one of the names. */
    find: ({ accountId, ownerIds, imageId, externalIds }: FittingName) =>
      database.one(sql.type(Parts)`
        select exists (
            select from images
            where id = ${imageId} and account_id = ${accountId} and external_user_id = any(${sql.array([...ownerIds], 'text')})
              and expires_at > now()) as "hasImage",
          coalesce((
            select jsonb_agg(jsonb_build_object('externalId', external_id, 'metadata', metadata)) from products
            where account_id = ${accountId} and external_id = any(${sql.array([...externalIds], 'text')})
              and not anonymous and ${isLive}), '[]') as products`),
  }
}
