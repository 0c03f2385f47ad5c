import { Type } from '../../../api/shared/contract/schema.ts'
import { readConfig, SHARED_VARIABLES } from '../../../api/shared/process/config.ts'
import { UsageError } from '../options.ts'

/** The URL of Postgres. Throws a `UsageError` if it is not set, and `InvalidConfiguration` if it is not valid. */
export function databaseUrl(): string {
  if (!process.env.DATABASE_URL) throw new UsageError('DATABASE_URL is not set')
  return readConfig(Type.Object({ DATABASE_URL: SHARED_VARIABLES.DATABASE_URL }), process.env).DATABASE_URL
}

/** As `databaseUrl`, past a connection pooler if there is one. */
export function directDatabaseUrl(): string {
  const { DATABASE_DIRECT_URL } = readConfig(
    Type.Object({ DATABASE_DIRECT_URL: SHARED_VARIABLES.DATABASE_DIRECT_URL }),
    process.env,
  )
  return DATABASE_DIRECT_URL || databaseUrl()
}

export function redisUrl(): string {
  return readConfig(Type.Object({ REDIS_URL: SHARED_VARIABLES.REDIS_URL }), process.env).REDIS_URL
}

export function storageUrl(): string {
  return readConfig(Type.Object({ STORAGE_URL: SHARED_VARIABLES.STORAGE_URL }), process.env).STORAGE_URL
}

/** Base URL of the links that callers receive. */
export function publicUrl(): string {
  return readConfig(Type.Object({ PUBLIC_URL: SHARED_VARIABLES.PUBLIC_URL }), process.env).PUBLIC_URL
}
