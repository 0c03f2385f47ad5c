import { Type } from '../contract/schema.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ObjectStorage } from './object.ts'
import { createObjectKeys } from './object-keys.store.ts'
import { type Reconciliation, reconcileStorage } from './reconcile-storage.ts'

/** Hours between two comparisons of the storage with the database. 0 disables the comparison. */
export const RECONCILE_HOURS = Type.Integer({ minimum: 0, maximum: 8760, default: 24 })

/**
 * Reconciles the storage with the database, once per interval across all processes, like `drape storage reconcile
 * --apply`.
 */
export function createReconciling({
  database,
  storage,
  everyHours,
  metrics,
  log,
}: {
  database: Database
  storage: ObjectStorage
  /** 0 disables reconciliation. */
  everyHours: number
  metrics: Pick<Metrics, 'known' | 'watch'>
  log: Log
}): () => Promise<void> {
  const keys = createObjectKeys(database)
  const note = createGauges(metrics)
  return async () => {
    if (everyHours === 0 || !(await keys.claimTask(everyHours))) return
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
