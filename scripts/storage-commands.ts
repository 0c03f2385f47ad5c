import { readConfig, SHARED_VARIABLES } from '../api/shared/config.ts'
import type { Database } from '../api/shared/database/database.ts'
import { GRACE_MINUTES, reconcileStorage } from '../api/shared/reconcile-storage.ts'
import { Type } from '../api/shared/schema.ts'
import { createStorage, type ObjectStorage } from '../api/shared/storage/storage.ts'
import { createObjectKeys } from '../api/shared/stores/object-keys.ts'
import { type Command, type Options, wholeNumber } from './command-options.ts'
import { sweepOnce } from './sweep-command.ts'

export const STORAGE_USAGE = `  storage reconcile [--grace-minutes N] [--apply [--force]]
                                                        count objects without a row, rows without an object and
                                                        incomplete uploads older than N minutes (default 1440);
                                                        --apply deletes them, --force even if they exceed 10 % of all`

export const STORAGE_OPTIONS = ['grace-minutes']
export const STORAGE_SWITCHES = ['apply', 'force']

export const storageCommands: Readonly<Record<string, Command>> = {
  'storage reconcile': (database, options) => withStorage((storage) => reconcile(database, { storage, options })),
}

/** Runs work with the storage of STORAGE_URL. */
export async function withStorage<T>(run: (storage: ObjectStorage) => Promise<T>): Promise<T> {
  const { STORAGE_URL } = readConfig(Type.Object({ STORAGE_URL: SHARED_VARIABLES.STORAGE_URL }), process.env)
  const storage = await createStorage(STORAGE_URL, { publicUrl: '', signingSecret: '' })
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
    ...{ keys: createObjectKeys(database), storage },
    apply: apply !== undefined,
    force: force !== undefined,
    graceMinutes: wholeNumber(grace, 'grace-minutes', 0),
  })
  if (apply !== undefined && !found.applied) process.exitCode = 1
  if (!found.applied) return { ...found }
  // What is due now is deleted by the door that honours legal holds.
  const { objects: deleted } = await sweepOnce(database, { storage, policies: process.env.RETENTION_FILE })
  return { ...found, deleted }
}
