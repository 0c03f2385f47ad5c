import { type Database, Json, rowType, sql } from '../shared/database/database.ts'
import { Type } from '../shared/schema.ts'
import { isLive } from '../shared/stores/product-merge.ts'
import { isOfNoVisitor } from './shop-limits.ts'

const Parts = rowType(
  Type.Object({
    hasImage: Type.Boolean(),
    products: Type.Array(Type.Object({ externalId: Type.String(), metadata: Json })),
  }),
)

export interface FittingName {
  readonly accountId: string
  readonly shopId: string
  /** Owners that may use the photo, in the form in which images name their owner. */
  readonly ownerIds: readonly string[]
  /** Hash of the network address of a request without any name of a visitor; null: the request has one. */
  readonly namelessAddress: string | null
  readonly imageId: string
  /** External IDs that the product may have in the catalog. */
  readonly externalIds: readonly string[]
}

export type Fittings = ReturnType<typeof createFittings>

/** Looks up the photo and the product of a shopper's request before acceptance. */
export function createFittings(database: Database) {
  return {
    /**
     * Whether the photo is usable: it belongs to one of the owners or to no visitor of a shop, or a browser of the shop sent it from
     * the address of a request without a name. And the products of the catalog with one of the external IDs.
     */
    find: ({ accountId, shopId, ownerIds, namelessAddress, imageId, externalIds }: FittingName) =>
      database.one(sql.type(Parts)`
        select exists (
            select from images
            where id = ${imageId} and account_id = ${accountId} and expires_at > now()
              and (${isOfNoVisitor} or external_user_id = any(${sql.array([...ownerIds], 'text')})
                or visitor_address = ${namelessAddress} and starts_with(external_user_id, ${`${shopId}:`}))) as "hasImage",
          coalesce((
            select jsonb_agg(jsonb_build_object('externalId', external_id, 'metadata', metadata)) from products
            where account_id = ${accountId} and external_id = any(${sql.array([...externalIds], 'text')})
              and not anonymous and ${isLive}), '[]') as products`),
  }
}
