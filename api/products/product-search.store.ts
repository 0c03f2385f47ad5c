import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
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

export interface ProductSearch {
  readonly accountId: string | null
  /** Part of a title, or an external ID. */
  readonly text: string
  readonly before: string | null
  readonly limit: number
}

export type ProductSearches = ReturnType<typeof createProductSearches>

/** Searches products with an external ID in all accounts. */
export function createProductSearches(database: Database) {
  return {
    /** Newest first: IDs sort by time. */
    search: ({ accountId, text, before, limit }: ProductSearch): Promise<readonly FoundProduct[]> =>
      database.any(sql.type(rowType(FoundRow))`
        select products.id, account_id as "accountId", accounts.name as "accountName", external_id as "externalId", title,
          images, last_used_at as "lastUsedAt", expires_at as "expiresAt", products.created_at as "createdAt"
        from products join accounts on accounts.id = account_id
        where not anonymous and (${accountId}::text is null or account_id = ${accountId})
          and (external_id = ${text} or strpos(lower(coalesce(title, '')), lower(${text})) > 0)
          and (${before}::text is null or products.id < ${before})
        order by products.id desc limit ${limit}`),
  }
}
