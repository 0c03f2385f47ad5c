import { createCache } from '../api/shared/cache.ts'
import { type Database, sql } from '../api/shared/database/database.ts'
import type { Log } from '../api/shared/log.ts'
import { rowType, Type } from '../api/shared/schema.ts'

/** A product with the images that it had when something was made of one of them. */
interface Edition {
  readonly id: string
  readonly imagesEdition: string
}

/** Which products the inference processes may have kept something of. */
export interface KeptGarments {
  /** Something is made of an image of this SHA-256 for the product. To be called before and after, since it may be gone in between. */
  note(product: Edition, garmentHash: string): void
  /** Has everything forgotten that was made for products that are gone, or of images that they do not have any more. */
  sweep(): Promise<void>
}

/** How many hashes are known; what was made of older ones is dropped. Engines keep far less. */
const MAX_HASHES = 2048
const Gone = rowType(Type.Object({ hash: Type.String() }))

/**
 * Engines keep what they have made of product images for the next try-on with the same bytes. What is kept goes with its product,
 * by any process. `forget` gets hashes.
 */
export function createKeptGarments({
  database,
  forget,
  log,
}: {
  database: Database
  forget: (garmentHashes: readonly string[]) => void
  log: Log
}): KeptGarments {
  const known = createCache<Map<string, Edition>>({ max: MAX_HASHES, onEvict: (oldest) => forget([oldest]) })
  let isSweeping = false
  return {
    note: (product, garmentHash) => {
      const editions = known.get(garmentHash) ?? new Map<string, Edition>()
      editions.set(`${product.id} ${product.imagesEdition}`, product)
      known.set(garmentHash, editions)
    },
    sweep: async () => {
      // A slow database is not asked again meanwhile: leases are renewed over the same connection.
      if (isSweeping) return
      const rows = [...known.entries()].flatMap(([hash, editions]) =>
        [...editions.values()].map((edition) => ({ hash, id: edition.id, edition: edition.imagesEdition })),
      )
      if (rows.length === 0) return
      isSweeping = true
      try {
        const gone = await database.any(sql.type(Gone)`
          select wanted.hash
          from jsonb_to_recordset(${sql.jsonb(rows)}) as wanted (hash text, id text, edition text)
          where not exists (
            select from products
            where products.id = wanted.id and images_edition = wanted.edition
              and (expires_at is null or expires_at > now())
          )`)
        const hashes = [...new Set(gone.map(({ hash }) => hash))]
        // Others with the same bytes have it made again.
        for (const hash of hashes) known.delete(hash)
        if (hashes.length > 0) forget(hashes)
      } catch (error) {
        log.warn({ err: error }, 'deleted products could not be read')
      } finally {
        isSweeping = false
      }
    },
  }
}
