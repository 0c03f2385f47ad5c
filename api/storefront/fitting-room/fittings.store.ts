import { Type } from '../../shared/contract/schema.ts'
import { type Database, Json, rowType, sql } from '../../shared/database/database.ts'
import { isLive } from '../../shared/database/product-merge.store.ts'
import { isUsableBy } from '../../shared/image/person-photos.store.ts'

const Parts = rowType(
  Type.Object({
    hasImage: Type.Boolean(),
    products: Type.Array(Type.Object({ externalId: Type.String(), metadata: Json })),
  }),
)

export interface FittingName {
  readonly accountId: string
  /** Owners whose photos the request may use, in the form in which images name their owner. */
  readonly photoOwners: readonly string[]
  readonly imageId: string
  /** External IDs that the product may have in the catalog. */
  readonly externalIds: readonly string[]
}

export type Fittings = ReturnType<typeof createFittings>

/** Looks up the photo and the product of a shopper's request before acceptance. */
export function createFittings(database: Database) {
  return {
    /** Whether the photo is usable, and the products of the catalog with one of the external IDs. */
    find: ({ accountId, photoOwners, imageId, externalIds }: FittingName) =>
      database.one(sql.type(Parts)`
        select exists (
            select from images
            where id = ${imageId} and account_id = ${accountId} and expires_at > now()
              and ${isUsableBy(sql.array([...photoOwners], 'text'), 'images')}) as "hasImage",
          coalesce((
            select jsonb_agg(jsonb_build_object('externalId', external_id, 'metadata', metadata)) from products
            where account_id = ${accountId} and external_id = any(${sql.array([...externalIds], 'text')})
              and not anonymous and ${isLive}), '[]') as products`),
  }
}
