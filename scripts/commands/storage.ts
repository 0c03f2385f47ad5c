import type { Database } from '../../api/shared/database/database.ts'
import { createObjectKeys } from '../../api/shared/storage/object-keys.store.ts'
import { GRACE_MINUTES, reconcileStorage } from '../../api/shared/storage/reconcile-storage.ts'
import { createStorage, type ObjectStorage } from '../../api/shared/storage/storage.ts'
import { storageUrl } from './checks/environment.ts'
import type { DatabaseCommand } from './command.ts'
import { type Options, option, wholeNumber } from './options.ts'
import { sweepOnce } from './sweep.ts'

export const storageCommands: Readonly<Record<string, DatabaseCommand>> = {
  'storage reconcile': {
    summary: 'count objects without a row, rows without an object and incomplete uploads',
    options: [
      option('--grace-minutes <n>', `only entries older than this (default: ${GRACE_MINUTES})`),
      option('--apply', 'delete them'),
      option('--force', 'delete even more than 10 % of all objects'),
    ],
    effect: 'changes in steps',
    inDatabase: (database, options) => withStorage((storage) => reconcile(database, { storage, options })),
  },
  sweep: {
    summary: 'delete expired images and records, except images under a legal hold',
    options: [option('--policies <file>', 'RetentionPolicies with legal holds (default: RETENTION_FILE)')],
    effect: 'changes in steps',
    inDatabase: (database, { policies = process.env.RETENTION_FILE }) =>
      withStorage((storage) => sweepOnce(database, { storage, policies })),
  },
}

/** Runs a function with the storage of STORAGE_URL. */
export async function withStorage<T>(run: (storage: ObjectStorage) => Promise<T>): Promise<T> {
  const storage = await createStorage(storageUrl(), { publicUrl: '', signingSecret: '' })
  try {
    return await run(storage)
  } finally {
    storage.close()
  }
}

async function reconcile(
  database: Database,
  { storage, options }: { storage: ObjectStorage; options: Options },
): Promise<Record<string, unknown>> {
  const { apply, force, 'grace-minutes': grace = String(GRACE_MINUTES) } = options
  const found = await reconcileStorage({
    keys: createObjectKeys(database),
    storage,
    apply: apply !== undefined,
    force: force !== undefined,
    graceMinutes: wholeNumber(grace, 'grace-minutes', 0),
  })
  if (apply !== undefined && !found.applied) process.exitCode = 1
  if (!found.applied) return { ...found }
  // Due objects are deleted through the code path that respects legal holds.
  const { objects: deleted } = await sweepOnce(database, { storage, policies: process.env.RETENTION_FILE })
  return { ...found, deleted }
}
