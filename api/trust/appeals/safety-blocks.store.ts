import { randomUUID } from 'node:crypto'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, sql, Timestamp } from '../../shared/database/database.ts'
import { createListing } from '../../shared/database/listing.ts'
import { toBits } from '../../shared/image/image-hashes.store.ts'

const BlockRow = Type.Object({
  id: Type.String(),
  /** `pair`: a photo together with a product. */
  kind: Type.Enum(['person', 'product', 'pair']),
  /** Start of the perceptual hash, to distinguish blocks. */
  hash: Type.String(),
  /** Account whose appeal led to the block. */
  accountId: Type.String(),
  accountName: Type.String(),
  createdAt: Timestamp,
  expiresAt: Nullable(Timestamp),
})
export type Block = Static<typeof BlockRow>

export type SafetyBlocks = ReturnType<typeof createSafetyBlocks>

/** Images that operators blocked after an appeal. */
export function createSafetyBlocks(database: Database) {
  return {
    /**
     * Blocks the refused image of a generation; after a refused result the pair of photo and product image. An active block is
     * extended. `days` null: without an end.
     */
    insert: async ({ generationId, days }: { generationId: string; days: number | null }): Promise<void> => {
      await database.query(sql.unsafe`
        insert into safety_blocks as known (id, hash, product_hash, image, account_id, expires_at)
        select distinct ${`blk_${randomUUID()}`}, ${toBits(sql.fragment`hex`)},
          case when image is null then ${toBits(sql.fragment`product_hashes[1]`)} end, image, account_id,
          now_ms() + make_interval(days => ${days}::int)
        from safety_refusals
        cross join unnest(case when image = 'product' then product_hashes else person_hashes end) as named (hex)
        where generation_id = ${generationId}
        on conflict (hash, (coalesce(product_hash, hash))) do update set id = excluded.id, image = excluded.image,
          account_id = excluded.account_id, created_at = now_ms(), expires_at = case
            when known.expires_at is not null and excluded.expires_at is not null then greatest(known.expires_at, excluded.expires_at) end`)
    },

    /** Active blocks, newest first. */
    listing: createListing(database, {
      row: BlockRow,
      rows: sql.fragment`
        select distinct on (id) safety_blocks.id, case when product_hash is null then image else 'pair' end as kind,
          left(hash::text, 32) as hash, account_id as "accountId", accounts.name as "accountName",
          safety_blocks.created_at as "createdAt", expires_at as "expiresAt"
        from safety_blocks join accounts on accounts.id = account_id
        where expires_at is null or expires_at > now() order by id`,
      texts: ['id', 'kind', 'accountName'],
      order: sql.fragment`"createdAt" desc, id`,
    }),

    /** Removes a block; false when it does not exist. MUST be called in the transaction that records it. */
    delete: async (id: string): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`delete from safety_blocks where id = ${id}`)
      return rowCount > 0
    },
  }
}
