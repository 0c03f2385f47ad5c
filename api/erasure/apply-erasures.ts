import { type EraseParts, eraseCustomer } from '../shared/retention/erase.ts'
import { DeletionRefused, type ObjectStorage } from '../shared/storage/object.ts'
import type { ErasureEntry } from './erasure-log.ts'

/** Max customers per statement. */
const BATCH_SIZE = 10_000

/**
 * Erases, for each entry, the data of the person that is older than the entry; keeps newer data. Safe to repeat. Objects that
 * the storage does not delete, whatever the fault, lose their owner and are left to sweeps: a storage that cannot delete must
 * not stop the start of the API.
 * Returns the number of people of whom the database had data, even if all of it was newer.
 */
export async function applyErasures(
  entries: readonly ErasureEntry[],
  parts: Omit<EraseParts, 'recordErasure'>,
  signal?: AbortSignal,
): Promise<number> {
  const { retention } = parts
  const storage = { ...parts.storage, delete: deleteOrRefuse(parts.storage) }
  const latest = new Map<string, Date>()
  for (const { customer, erasedAt } of entries) {
    const known = latest.get(customer)
    if (known === undefined || known < erasedAt) latest.set(customer, erasedAt)
  }
  const hashes = [...latest.keys()]
  if (latest.size > 0) await retention.withdrawRestoredConsents(latest)
  let erased = 0
  for (let i = 0; i < hashes.length; i += BATCH_SIZE) {
    for (const { hash, ...customer } of await retention.findCustomers(hashes.slice(i, i + BATCH_SIZE))) {
      signal?.throwIfAborted()
      await eraseCustomer({ ...customer, before: latest.get(hash) }, { ...parts, storage })
      erased++
    }
  }
  return erased
}

function deleteOrRefuse(storage: ObjectStorage) {
  return (keys: readonly string[]) =>
    storage.delete(keys).catch((error) => {
      throw error instanceof DeletionRefused ? error : new DeletionRefused(keys, error)
    })
}
