import type { Database } from '../database/database.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ObjectStorage } from './object.ts'
import { createObjectKeys } from './object-keys.store.ts'
import { type Reconciliation, reconcileStorage } from './reconcile-storage.ts'

const INTERVAL_HOURS = 24
const CHECK_MS = 300_000

/**
 * Reconciles the storage with the database, once a day across all processes, like `drape storage reconcile
 * --apply`.
 */
export function createReconciling({
  database,
  storage,
  metrics,
  log,
}: {
  database: Database
  storage: ObjectStorage
  metrics: Pick<Metrics, 'known' | 'watch'>
  log: Log
}): () => Promise<void> {
  const keys = createObjectKeys(database)
  const note = createGauges(metrics)
  return async () => {
    if (!(await keys.claimTask(INTERVAL_HOURS))) return
    try {
      const reconciliation = await reconcileStorage({ keys, storage, apply: true })
      note(reconciliation)
      if (reconciliation.refusal === null) log.info(reconciliation, 'storage reconciled')
      else log.warn(reconciliation, 'storage reconciliation failed: check STORAGE_URL and DATABASE_URL')
    } catch (error) {
      note(null)
      await keys.releaseTask()
      throw error
    }
  }
}

/**
 * Checks every 5 minutes whether a reconciliation of the storage is due, first 5 minutes after the start. The database
 * elects one process.
 */
export function startStorageReconciling(
  reconcile: () => Promise<void>,
  { log, checkMs = CHECK_MS }: { readonly log: Pick<Log, 'warn'>; readonly checkMs?: number },
): { stop(): Promise<void> } {
  let running: Promise<void> | null = null
  const timer = setInterval(() => {
    running ??= reconcile()
      .catch((error) => log.warn({ err: error }, 'storage reconciliation failed'))
      .finally(() => {
        running = null
      })
  }, checkMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}

/** Counts the runs and reports the differences of the last run; null counts a failed run. */
function createGauges({ known, watch }: Pick<Metrics, 'known' | 'watch'>) {
  const runs = known('outcome', ['done', 'refused', 'failed'], {
    name: 'drape_storage_reconciliations_total',
    help: 'Reconciliations of the object storage with the database, by outcome: done, refused, failed',
  })
  let last: Reconciliation | null = null
  watch(
    {
      name: 'drape_storage_unmatched',
      help: 'Differences between the object storage and the database in the last reconciliation, by kind: orphans (objects without a row), foreign (objects of unknown accounts), missing (rows without an object), incomplete (unfinished uploads)',
      labels: ['kind'],
    },
    () => {
      const found = last
      if (found === null) return []
      return (['orphans', 'foreign', 'missing', 'incomplete'] as const).map((kind) => ({
        labels: { kind },
        value: found[kind],
      }))
    },
  )
  return (reconciliation: Reconciliation | null) => {
    if (reconciliation === null) return runs.inc({ outcome: 'failed' })
    last = reconciliation
    runs.inc({ outcome: reconciliation.refusal === null ? 'done' : 'refused' })
  }
}
