import pg from 'pg'
import { parseDatabaseUrl } from './address.ts'

/**
 * Settings that change what our statements do, or how the values look that the driver parses. The server, the database and the role can
 * each have other defaults, so every connection sets them. A pooler in transaction mode forgets what a session sets, except for
 * settings that Postgres reports to its clients: PgBouncer tracks those and sets them again. Therefore times depend only on the
 * reported ones (the first three), and the driver refuses a time in another format. Not listed because nothing depends on them:
 * `client_encoding`, which the driver sends at the start; `bytea_output`, whose formats the driver parses both; `IntervalStyle`,
 * `backslash_quote`, `xmlbinary` and `lc_*`, which no statement uses. `default_transaction_read_only` is left to the operator: managed
 * services turn it on to protect a full disk.
 */
const SETTINGS = {
  DateStyle: 'ISO, YMD',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  quote_all_identifiers: 'off',
  idle_session_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
}
const ROWS = Object.entries(SETTINGS)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')
/** The pool sends its own at the start. */
const POOL_LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout']

/** The schema of the tables: that of the search path, otherwise the only schema that has them; before the first migration the search path. */
const SCHEMA = `coalesce(
  (select relnamespace::regnamespace::text from pg_class where oid = to_regclass('generations')),
  (select min(relnamespace::regnamespace::text) from pg_class where relname = 'generations' and relkind = 'r' having count(*) = 1),
  current_setting('search_path'))`

/** Statement that prepares a new connection; its row tells whether the server is in recovery. */
export const PREPARE_SESSION = `select pg_is_in_recovery() as "isInRecovery", set_config('search_path', ${SCHEMA}, false),
  (select count(set_config(pg_settings.name, wanted.value, false)) from (values ${ROWS}) as wanted (name, value)
    -- Some versions lack a setting.
    join pg_settings on lower(pg_settings.name) = lower(wanted.name))`

/** Connects without a pool and without limits of time, for migrations and maintenance. The caller ends the connection. */
export async function openClient(url: string, { connectMs }: { connectMs?: number } = {}): Promise<pg.Client> {
  const client = new pg.Client({
    ...parseDatabaseUrl(url),
    application_name: 'drape-migrate',
    connectionTimeoutMillis: connectMs,
  })
  await client.connect()
  try {
    await client.query(PREPARE_SESSION)
    for (const name of POOL_LIMITS) await client.query(`set ${name} = 0`)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  return client
}
