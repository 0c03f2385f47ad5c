import type { ObjectStorage } from '../shared/storage/object.ts'
import { ERASURE_FOLDER } from '../shared/storage/reconcile-storage.ts'

/** Record of the erasure of an end user, without the end user's ID. */
export interface ErasureEntry {
  /** SHA-256 of account and end user, as computed by the database function `customer_hash`: 64 hex digits. */
  readonly customer: string
  /** By the clock of the database. */
  readonly erasedAt: Date
}

export interface StoredErasure extends ErasureEntry {
  /** Of its object. */
  readonly key: string
}

const KEY = /^erasures\/[\d-]+\/(\d{4}-\d\d-\d\dT\d{2})-(\d\d)-(\d\d)-(\d{3})Z-([0-9a-f]{64})\.bin$/

export type ErasureLog = ReturnType<typeof createErasureLog>

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

    /**
     * Every entry with a key after `after`, oldest first. The key contains the whole entry, so no object is read. Calls
     * `onRefused` with the key of an object that is not an entry.
     */
    async *read({ after, onRefused = () => {} }: ReadOptions = {}): AsyncGenerator<StoredErasure> {
      for await (const page of storage.list(ERASURE_FOLDER, { after })) {
        for (const { key } of page) {
          const entry = readKey(key)
          if (entry === null) onRefused(key)
          else yield { key, ...entry }
        }
      }
    },
  }
}

export interface ReadOptions {
  readonly after?: string
  readonly onRefused?: (key: string) => void
}

/** One line of JSON. */
export function presentEntry({ customer, erasedAt }: ErasureEntry): string {
  return JSON.stringify({ erasedAt: erasedAt.toISOString(), customer })
}

/** Null unless `keyOf` makes this key: a day that does not exist, or in the folder of another day, is not an entry. */
function readKey(key: string): ErasureEntry | null {
  const [, hour, minute, second, millisecond, customer] = KEY.exec(key) ?? []
  if (customer === undefined) return null
  const entry = { customer, erasedAt: new Date(`${hour}:${minute}:${second}.${millisecond}Z`) }
  return !Number.isNaN(entry.erasedAt.getTime()) && keyOf(entry) === key ? entry : null
}

function keyOf({ customer, erasedAt }: ErasureEntry): string {
  const time = erasedAt.toISOString()
  return `${ERASURE_FOLDER}${time.slice(0, 10)}/${time.replaceAll(/[:.]/g, '-')}-${customer}.bin`
}
