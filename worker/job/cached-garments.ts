import { MAX_PRODUCTS, type ProductEdition, type WorkerOperations } from '../../api/shared/generations/worker-calls.ts'
import { createCache } from '../../api/shared/process/cache.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'

/** Tracks the products whose garments the inference processes may have cached. */
export interface CachedGarments {
  /**
   * Records that a garment of the product's image with this SHA-256 is being cached. Call before and after the work, because the product
   * can be deleted in between.
   */
  note(product: ProductEdition, garmentHash: string): void
  /** Evicts all garments of deleted products and of deleted images. */
  sweep(): Promise<void>
}

/** Max number of tracked hashes; older garments are evicted. Engines cache far fewer. */
const MAX_HASHES = 128

/**
 * Engines cache garments for the next try-on with the same bytes. Evicts a garment from all processes when its product or image
 * is deleted. `evict` receives hashes.
 */
export function createCachedGarments({
  calls,
  evict,
  log,
}: {
  calls: Pick<WorkerOperations, 'findChangedProducts'>
  evict: (garmentHashes: readonly string[]) => void
  log: Log
}): CachedGarments {
  const known = createCache<Map<string, ProductEdition>>({ max: MAX_HASHES, onEvict: (oldest) => evict([oldest]) })
  let isSweeping = false
  return {
    note: (product, garmentHash) => {
      const editions = known.get(garmentHash) ?? new Map<string, ProductEdition>()
      editions.set(nameOf(product), product)
      known.set(garmentHash, editions)
    },
    sweep: async () => {
      const products = [...known.entries()].flatMap(([, editions]) =>
        [...editions.values()].map(({ id, imagesEdition }) => ({ id, imagesEdition })),
      )
      if (isSweeping || products.length === 0) return
      isSweeping = true
      try {
        const changed = new Set<string>()
        // Any number of products can share the bytes of an image.
        for (let i = 0; i < products.length; i += MAX_PRODUCTS)
          for (const product of await calls.findChangedProducts({ products: products.slice(i, i + MAX_PRODUCTS) }))
            changed.add(nameOf(product))
        const hashes = [...known.entries()].flatMap(([hash, editions]) =>
          [...editions.keys()].some((name) => changed.has(name)) ? [hash] : [],
        )
        // Other products with the same bytes are prepared again.
        for (const hash of hashes) known.delete(hash)
        if (hashes.length > 0) evict(hashes)
      } catch (error) {
        log.warn({ err: error }, 'changed products could not be read')
      } finally {
        isSweeping = false
      }
    },
  }
}

function nameOf({ id, imagesEdition }: ProductEdition): string {
  return `${id} ${imagesEdition}`
}
