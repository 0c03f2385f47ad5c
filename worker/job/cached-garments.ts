import { rowType, Type } from '../../api/shared/contract/schema.ts'
import { type Database, sql } from '../../api/shared/database/database.ts'
import { createCache } from '../../api/shared/process/cache.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'

/** A product and the version of its images. */
interface Edition {
  readonly id: string
  readonly imagesEdition: string
}

/** Tracks the products whose garments the inference processes may have cached. */
export interface CachedGarments {
  /**
   * Records that a garment of the product's image with this SHA-256 is being cached. Call before and after the work, because the product
   * can be deleted in between.
   */
  note(product: Edition, garmentHash: string): void
  /** Evicts all garments of deleted products and of deleted images. */
  sweep(): Promise<void>
}

/** Max number of tracked hashes; older garments are evicted. Engines cache far fewer. */
const MAX_HASHES = 2048
const Evicted = rowType(Type.Object({ hash: Type.String() }))

/**
 * Engines cache garments for the next try-on with the same bytes. Evicts a garment from all processes when its product or image
 * is deleted. `evict` receives hashes.
 */
export function createCachedGarments({
  database,
  evict,
  log,
}: {
  database: Database
  evict: (garmentHashes: readonly string[]) => void
  log: Log
}): CachedGarments {
  const known = createCache<Map<string, Edition>>({ max: MAX_HASHES, onEvict: (oldest) => evict([oldest]) })
  let isSweeping = false
  return {
    note: (product, garmentHash) => {
      const editions = known.get(garmentHash) ?? new Map<string, Edition>()
      editions.set(`${product.id} ${product.imagesEdition}`, product)
      known.set(garmentHash, editions)
    },
    sweep: async () => {
      // Do not query a slow database again: lease renewals share the connection.
      if (isSweeping) return
      const rows = [...known.entries()].flatMap(([hash, editions]) =>
        [...editions.values()].map((edition) => ({ hash, id: edition.id, edition: edition.imagesEdition })),
      )
      if (rows.length === 0) return
      isSweeping = true
      try {
        const evicted = await database.any(sql.type(Evicted)`
          select wanted.hash
          from jsonb_to_recordset(${sql.jsonb(rows)}) as wanted (hash text, id text, edition text)
          where not exists (
            select from products
            where products.id = wanted.id and images_edition = wanted.edition
              and (expires_at is null or expires_at > now())
          )`)
        const hashes = [...new Set(evicted.map(({ hash }) => hash))]
        // Other products with the same bytes are prepared again.
        for (const hash of hashes) known.delete(hash)
        if (hashes.length > 0) evict(hashes)
      } catch (error) {
        log.warn({ err: error }, 'deleted products could not be read')
      } finally {
        isSweeping = false
      }
    },
  }
}
