import { findPendingMigrations } from '../../../api/shared/database/migrate.ts'
import { CheckFailure } from '../failure.ts'
import { databaseUrl } from './environment.ts'

/** All migrations of this version have been applied. */
export async function checkMigrations(): Promise<Record<string, unknown>> {
  const pending = await findPendingMigrations(databaseUrl())
  if (pending.length > 0) throw new CheckFailure(`The database lacks ${pending.join(', ')}: run drape migrate`)
  return { pending: 0 }
}
