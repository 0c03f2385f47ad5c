import type { Database } from '../../api/shared/database.ts'
import type { Log } from '../../api/shared/log.ts'
import { type Swept, sweep } from '../../api/shared/retention.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { Hold } from '../../api/shared/stores/due-objects.ts'
import { createIdempotencyKeys } from '../../api/shared/stores/idempotency.ts'
import { createProxyNonces } from '../../api/shared/stores/proxy-nonces.ts'
import { createRetention } from '../../api/shared/stores/retention.ts'

/** Deletes what is past its own date, over and over, except for what is held. Does what `drape sweep` does once. */
export function startSweeping({
  database,
  storage,
  everySeconds,
  mayRun,
  holds,
  onSwept = () => {},
  log,
}: {
  database: Database
  storage: ObjectStorage
  everySeconds: number
  mayRun: () => boolean
  holds: () => readonly Hold[]
  /** A sweep is over; null when it failed. */
  onSwept?: (seconds: number, swept: Swept | null) => void
  log: Log
}): { stop(): Promise<void> } {
  const stores = {
    retention: createRetention(database),
    keys: createIdempotencyKeys(database),
    nonces: createProxyNonces(database),
  }
  let running: Promise<void> | null = null
  const run = async () => {
    const started = performance.now()
    const tell = (swept: Swept | null) => onSwept((performance.now() - started) / 1000, swept)
    try {
      const swept = await sweep({ ...stores, storage, holds: holds() })
      tell(swept)
      if (Object.values(swept).some((count) => count > 0)) log.info(swept, 'swept')
    } catch (error) {
      tell(null)
      log.warn({ err: error }, 'could not sweep')
    }
    running = null
  }
  const look = () => {
    if (running === null && mayRun()) running = run()
  }
  const timer = setInterval(look, everySeconds * 1000)
  look()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
