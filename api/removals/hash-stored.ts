import { hashImage } from '../shared/image-hash.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { ImageHashes } from '../shared/stores/image-hashes.ts'

export interface HashedObjects {
  /** Objects that have a hash now, or are known to have too little detail for one. */
  readonly hashed: number
  /** Objects whose bytes are missing or damaged. */
  readonly skipped: number
}

const PAGE = 100

/** Hashes stored photos and results without a hash, one by one. Can be stopped and run again at any time. */
export async function hashStoredImages({
  hashes,
  storage,
}: {
  hashes: ImageHashes
  storage: Pick<ObjectStorage, 'get'>
}): Promise<HashedObjects> {
  let [hashed, skipped] = [0, 0]
  for (let after = ''; ; ) {
    const keys = await hashes.findMissing(after, PAGE)
    for (const key of keys) {
      const bytes = await storage.get(key)
      // A damaged image must not keep the others from their hash.
      const found = bytes && (await hashImage(bytes).catch(() => undefined))
      if (bytes === null || found === undefined) {
        skipped++
        continue
      }
      await hashes.insert(key, found?.hash ?? null)
      hashed++
    }
    if (keys.length < PAGE) return { hashed, skipped }
    after = keys[keys.length - 1]
  }
}
