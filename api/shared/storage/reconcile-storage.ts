import { deleteUnlessRefused, type ObjectStorage, type StoredObject } from './object.ts'
import type { ObjectKeys } from './object-keys.store.ts'

export interface Reconciliation {
  /** Objects in the storage. */
  readonly objects: number
  /** Rows in the database. */
  readonly rows: number
  /** Objects without a row, and their total size. */
  readonly orphans: number
  readonly orphanBytes: number
  /** Orphans of unknown accounts, which are never deleted. */
  readonly foreign: number
  /** Rows whose bytes are missing. */
  readonly missing: number
  /** Incomplete uploads. */
  readonly incomplete: number
  /** Whether orphans, rows without bytes and incomplete uploads were expired or deleted. */
  readonly applied: boolean
  /** Reason why nothing was applied; null when nothing prevented it. */
  readonly refusal: string | null
}

export interface ReconcileOptions {
  readonly keys: ObjectKeys
  readonly storage: ObjectStorage
  readonly apply: boolean
  /** Minimum age of objects, rows and uploads to reconcile, because an upload may be in progress. Default 24 hours. */
  readonly graceMinutes?: number
  /** Applies even if more than 10 % of all objects or rows would be deleted. */
  readonly force?: boolean
  /** Maximum of each kind per run; the next run continues. */
  readonly maxDeletions?: number
}

/** Log of erasures, stored as objects without rows because it must survive the database. */
export const ERASURE_FOLDER = 'erasures/'

export const GRACE_MINUTES = 1440
const ROWS = 5000
const CONCURRENT_CHECKS = 16
/** Number of deletions below which the share is not checked. */
const MIN_CHECKED_DELETIONS = 100
const MAX_SHARE = 0.1

/**
 * Compares the storage with the database in one pass over both, in key order. Objects without a row, and rows without
 * bytes, expire and are left to the sweep, which honours legal holds.
 * @throws DrapeError SERVICE_UNAVAILABLE when the storage or the database is unavailable
 */
export async function reconcileStorage({
  keys,
  storage,
  apply,
  graceMinutes = GRACE_MINUTES,
  force = false,
  maxDeletions = 10_000,
}: ReconcileOptions): Promise<Reconciliation> {
  const before = new Date(Date.now() - graceMinutes * 60_000)
  const orphans: StoredObject[] = []
  const missing: string[] = []
  const counts = { objects: 0, rows: 0, orphans: 0, orphanBytes: 0, missing: 0 }
  let after = ''
  const compare = async (page: readonly StoredObject[], upTo: string | null) => {
    const listed = new Map(page.map((object) => [object.key, object]))
    for (let more = true; more; ) {
      const rows = await keys.findBetween({ after, upTo }, { graceMinutes, limit: ROWS })
      const lost = rows.filter(({ key, hasBytes }) => !listed.delete(key) && hasBytes).map(({ key }) => key)
      const stillMissing = await filterMissing(lost, storage)
      counts.rows += rows.length
      counts.missing += stillMissing.length
      missing.push(...stillMissing.slice(0, maxDeletions - missing.length))
      after = rows.at(-1)?.key ?? after
      more = rows.length === ROWS
    }
    const unknown = [...listed.values()].filter(
      ({ key, modifiedAt }) => modifiedAt < before && !key.startsWith(ERASURE_FOLDER),
    )
    counts.objects += page.length
    counts.orphans += unknown.length
    counts.orphanBytes += unknown.reduce((sum, { bytes }) => sum + bytes, 0)
    orphans.push(...unknown.slice(0, maxDeletions - orphans.length))
    after = upTo ?? after
  }
  for await (const page of storage.list()) await compare(page, page.at(-1)?.key ?? after)
  await compare([], null)

  const refusal = force ? null : refusalOf(counts)
  const applied = apply && refusal === null
  const incomplete = await storage.deleteIncomplete({ before, dryRun: !applied })
  const foreign = await (applied ? deleteOrphans(orphans, { keys, storage }) : countForeign(orphans, keys))
  if (applied) await keys.expire(missing, graceMinutes)
  return { ...counts, incomplete, foreign, applied, refusal }
}

/** Indicates a wrong bucket, or a database that was restored without its storage: do not delete anything. */
function refusalOf(counts: Pick<Reconciliation, 'objects' | 'rows' | 'orphans' | 'missing'>): string | null {
  const { objects, rows, orphans, missing } = counts
  if (objects === 0 && missing > 0) return 'The storage is empty, but the database has rows of its objects.'
  if (orphans > Math.max(MIN_CHECKED_DELETIONS, objects * MAX_SHARE))
    return `${orphans} of ${objects} objects have no row.`
  if (missing > Math.max(MIN_CHECKED_DELETIONS, rows * MAX_SHARE)) return `${missing} of ${rows} rows have no object.`
  return null
}

/** Those that the storage still does not have: an object may have been listed before it was put. */
async function filterMissing(lost: readonly string[], storage: ObjectStorage): Promise<string[]> {
  const missing: string[] = []
  for (let i = 0; i < lost.length; i += CONCURRENT_CHECKS) {
    const part = lost.slice(i, i + CONCURRENT_CHECKS)
    const found = await Promise.all(part.map((key) => storage.exists(key)))
    missing.push(...part.filter((_, at) => !found[at]))
  }
  return missing
}

async function countForeign(orphans: readonly StoredObject[], keys: ObjectKeys): Promise<number> {
  const others = orphans.filter((object) => !isUpload(object))
  let foreign = 0
  for (let i = 0; i < others.length; i += ROWS) foreign += await keys.countForeign(others.slice(i, i + ROWS))
  return foreign
}

/** Returns how many belong to accounts that do not exist. */
async function deleteOrphans(
  orphans: readonly StoredObject[],
  { keys, storage }: Pick<ReconcileOptions, 'keys' | 'storage'>,
): Promise<number> {
  let foreign = 0
  // No later request can claim bytes of an upload: its link has expired.
  const [uploads, others] = [orphans.filter(isUpload), orphans.filter((object) => !isUpload(object))]
  await deleteUnlessRefused(
    uploads.map(({ key }) => key),
    (keys) => storage.delete(keys),
  )
  for (let i = 0; i < others.length; i += ROWS) {
    const part = others.slice(i, i + ROWS)
    foreign += part.length - (await keys.adopt(part)).length
  }
  return foreign
}

function isUpload({ key }: StoredObject): boolean {
  return key.startsWith('uploads/')
}
