import type { Connections } from '../config.ts'
import type { TryOns } from '../generations/start.ts'
import { createDatabase } from '../shared/database/database.ts'
import { createGenerations } from '../shared/generations/generations.store.ts'
import type { Customer } from '../shared/retention/customer.ts'
import { type EraseParts, eraseCustomer } from '../shared/retention/erase.ts'
import { createRetention } from '../shared/retention/retention.store.ts'
import { createWebhooks } from '../webhooks/webhooks.store.ts'
import { createAppliedErasures } from './applied-erasures.store.ts'
import { applyErasures } from './apply-erasures.ts'
import { createErasureLog, type ErasureEntry } from './erasure-log.ts'
import { createErasures } from './erasures.store.ts'
import { startRepeatingErasures } from './repeat-erasures.ts'

/** Repeats the erasures of the log that a restored database does not contain. */
export function repeatErasures(
  { config, secrets, storage, lifecycle, log }: Connections,
  { tryOnQueues: queue, prepareQueue, announce }: TryOns,
) {
  // Separate connections: one holds a lock, and a search for many people takes long.
  const database = createDatabase(config.DATABASE_DIRECT_URL, { poolSize: 3, statementSeconds: 600, secrets })
  lifecycle.onStop('erasure database', () => database.end())
  const retention = createRetention(database)
  const generations = createGenerations(database, announce)
  const repeating = startRepeatingErasures({
    applied: createAppliedErasures(database),
    erasureLog: createErasureLog(storage),
    apply: (entries, signal) =>
      applyErasures(entries, { retention, generations, queue, prepareQueue, storage }, signal),
    log,
  })
  lifecycle.onStop('repeated erasures', () => repeating.stop())
  return repeating
}

export type Erasing = ReturnType<typeof createErasing>

/** Creates the erasure of customers; `onErased` runs after each. */
export function createErasing(
  { database, storage }: Pick<Connections, 'database' | 'storage'>,
  {
    generations,
    tryOnQueues: queue,
    prepareQueue,
  }: Pick<EraseParts, 'generations' | 'prepareQueue'> & { readonly tryOnQueues: EraseParts['queue'] },
  { onErased }: { readonly onErased: () => void },
) {
  const erasureLog = createErasureLog(storage)
  const erasures = createErasures(database)
  const retention = createRetention(database)
  const webhooks = createWebhooks(database)
  const erase = async (customer: Customer): Promise<string> => {
    const logKeys: string[] = []
    const recordErasure = async (entry: ErasureEntry) => {
      const logKey = await erasureLog.record(entry)
      await erasures.noteLogged(customer, logKey)
      logKeys.push(logKey)
    }
    await eraseCustomer(customer, { retention, generations, storage, queue, prepareQueue, recordErasure })
    const erasureId = await erasures.finish(customer, logKeys)
    await webhooks.insertErased(customer, erasureId)
    onErased()
    return erasureId
  }
  return { erasures, erase }
}
