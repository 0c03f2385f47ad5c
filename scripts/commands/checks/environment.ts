import { POSTGRES_URL, readConfig, SHARED_VARIABLES } from '../../../api/shared/config.ts'
import { Type } from '../../../api/shared/schema.ts'
import { UsageError } from '../options.ts'

/** The URL of Postgres. Throws a `UsageError` if it is not set. */
export function databaseUrl(): string {
  const url = process.env.DATABASE_URL
  if (!url) throw new UsageError('DATABASE_URL is not set')
  if (!POSTGRES_URL.test(url)) throw new UsageError('DATABASE_URL must start with postgres://')
  return url
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
