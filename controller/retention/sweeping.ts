import type { Database } from '../../api/shared/database/database.ts'
import { type Swept, sweep } from '../../api/shared/retention/erase.ts'
import { createRetention } from '../../api/shared/retention/retention.store.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'

/** Deletes expired data periodically, except data under a legal hold, as a `drape sweep` does once. */
export function startSweeping({
  database,
  storage,
  everySeconds,
  graceSeconds = 0,
  mayRun,
  publishHolds,
  onSwept = () => {},
  afterSweep = async () => {},
  log,
}: {
  database: Database
  storage: ObjectStorage
  everySeconds: number
  /** Seconds after expiration in which images are left to the retention policies. */
  graceSeconds?: number
  mayRun: () => boolean
  /** Publishes the legal holds, which is a precondition of a sweep. */
  publishHolds: () => Promise<unknown>
  /** Called after a sweep; null if it failed. */
  onSwept?: (seconds: number, swept: Swept | null) => void
  /** Runs after each sweep, before the next. */
  afterSweep?: () => Promise<void>
  log: Log
}): { stop(): Promise<void> } {
  const retention = createRetention(database)
  let running: Promise<void> | null = null
  const run = async () => {
    const started = performance.now()
    const report = (swept: Swept | null) => onSwept((performance.now() - started) / 1000, swept)
    try {
      await publishHolds()
      const swept = await sweep({ retention, storage, graceSeconds })
      report(swept)
      if (swept.refusedObjects > 0)
        log.warn(
          { objects: swept.refusedObjects },
          'the storage refused to delete expired objects; the next sweep retries',
        )
      if (Object.values(swept).some((count) => count > 0)) log.info(swept, 'swept')
    } catch (error) {
      report(null)
      log.warn({ err: error }, 'sweep failed')
    }
    await afterSweep().catch((error) => log.warn({ err: error }, 'storage reconciliation failed'))
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
