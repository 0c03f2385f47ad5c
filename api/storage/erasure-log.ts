import { ERASURE_FOLDER } from '../shared/reconcile-storage.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'

/** Record of the erasure of an end user, without the end user's ID. */
export interface ErasureEntry {
  /** SHA-256 of account and end user, as computed by the database function `customer_hash`: 64 hex digits. */
  readonly customer: string
  readonly erasedAt: Date
}

const KEY = /^erasures\/[\d-]+\/(\d{4}-\d\d-\d\dT\d{2})-(\d\d)-(\d\d)-(\d{3})Z-([0-9a-f]{64})\.bin$/

/**
 * Append-only log of erasures in the object storage. Stored outside of the database, so that it survives a restore of
 * the database.
 */
export function createErasureLog(storage: Pick<ObjectStorage, 'put' | 'list'>) {
  return {
    /**
     * Adds an entry. Returns the key of its object.
     * @throws DrapeError SERVICE_UNAVAILABLE when the storage is unavailable
     */
    record: async (entry: ErasureEntry): Promise<string> => {
      const key = keyOf(entry)
      await storage.put(key, Buffer.from(presentEntry(entry)), { contentType: 'application/octet-stream' })
      return key
    },

    /** Every entry, oldest first. The key contains the whole entry, so no object is read. */
    async *read(): AsyncGenerator<ErasureEntry> {
      for await (const page of storage.list(ERASURE_FOLDER)) {
        for (const { key } of page) {
          const [, hour, minute, second, millisecond, customer] = KEY.exec(key) ?? []
          if (customer === undefined) continue
          yield { customer, erasedAt: new Date(`${hour}:${minute}:${second}.${millisecond}Z`) }
        }
      }
    },
  }
}

/** One line of JSON. */
export function presentEntry({ customer, erasedAt }: ErasureEntry): string {
  return JSON.stringify({ erasedAt: erasedAt.toISOString(), customer })
}

function keyOf({ customer, erasedAt }: ErasureEntry): string {
  const time = erasedAt.toISOString()
  return `${ERASURE_FOLDER}${time.slice(0, 10)}/${time.replaceAll(/[:.]/g, '-')}-${customer}.bin`
}
