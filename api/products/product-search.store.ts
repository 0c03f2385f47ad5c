import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'
import { ProductImageSchema } from '../shared/generations/generation.ts'

const FoundRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  accountName: Type.String(),
  externalId: Type.String(),
  title: Nullable(Type.String()),
  images: Type.Array(ProductImageSchema),
  lastUsedAt: Nullable(Timestamp),
  expiresAt: Nullable(Timestamp),
  createdAt: Timestamp,
})
export type FoundProduct = Static<typeof FoundRow>

export type ProductSearches = ReturnType<typeof createProductSearches>

/** Searches products with an external ID in all accounts. */
export function createProductSearches(database: Database) {
  return createListing(database, {
    row: FoundRow,
    rows: sql.fragment`
      select products.id, account_id as "accountId", accounts.name as "accountName", external_id as "externalId", title,
        images, last_used_at as "lastUsedAt", expires_at as "expiresAt", products.created_at as "createdAt"
      from products join accounts on accounts.id = account_id where not anonymous`,
    texts: ['externalId', 'title', 'accountName'],
  })
}
