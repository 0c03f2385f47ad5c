import { Type } from '../../api/shared/contract/schema.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { EVENT_RETENTION_DAYS, readConfig } from '../../api/shared/process/config.ts'
import { sweep } from '../../api/shared/retention/erase.ts'
import { createLegalHolds, type HoldingPolicy } from '../../api/shared/retention/legal-holds.store.ts'
import { createRetention } from '../../api/shared/retention/retention.store.ts'
import type { ObjectStorage } from '../../api/shared/storage/storage.ts'
import { createEventOutbox } from '../../api/storefront/events/event-outbox.store.ts'
import { createEvents } from '../../api/storefront/events/events.store.ts'
import { keepEventDays } from '../../api/storefront/events/housekeeping.ts'
import { readGiven, UsageError } from './options.ts'

/**
 * Deletes expired data, except data under a legal hold. With `policies`, first publishes the holds of that YAML file, which
 * replace those of an earlier file. Returns the deleted amounts.
 * @throws UsageError if the file cannot be read or contains an invalid policy; nothing is deleted then
 */
export async function sweepOnce(
  database: Database,
  { storage, policies }: { storage: ObjectStorage; policies: string | undefined },
): Promise<Record<string, unknown>> {
  if (policies) await createLegalHolds(database).publish('file', await readHolds(policies))
  const swept = await sweep({
    retention: createRetention(database),
    dropEventDays: () => dropEventDays(database),
    storage,
  })
  return { ...swept }
}

async function readHolds(path: string): Promise<HoldingPolicy[]> {
  const { holdsOf, readPolicies } = await import('../../controller/retention/policies.ts').catch((cause) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new UsageError('--policies is not in this image: run it in a clone of the repository')
  })
  const text = String(await readGiven(path))
  try {
    return readPolicies(text).map(holdsOf)
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : error}`)
  }
}

function dropEventDays(database: Database): Promise<number> {
  const { EVENT_RETENTION_DAYS: retentionDays } = readConfig(Type.Object({ EVENT_RETENTION_DAYS }), process.env)
  return keepEventDays({ events: createEvents(database), outbox: createEventOutbox(database), retentionDays })
}
