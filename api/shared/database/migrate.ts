import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

/** Any number that no other program takes in this database; all who change its tables or rights queue up behind it. */
export const MIGRATION_LOCK = 7_201_430_001

/**
 * Applies the numbered SQL files that the database has not seen, in order, each in a transaction with its entry. Several
 * migrators at once take turns. Returns the names of the files applied now. Uses the driver itself: slonik refuses a file
 * with many statements.
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'drape-migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await client.query(
      'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string }>('select name from migrations')
    const seen = new Set(rows.map((row) => row.name))
    const pending = (await readMigrations()).filter(({ name }) => !seen.has(name))
    for (const { name, text } of pending) await applyMigration(client, name, text)
    return pending.map(({ name }) => name)
  } finally {
    // The advisory lock ends with the connection.
    await client.end()
  }
}

/** The names of the files that the database has not seen; all of them where nothing was ever applied. */
export async function findPendingMigrations(url: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'drape-migrate',
    connectionTimeoutMillis: 5000,
  })
  await client.connect()
  try {
    const { rows: tables } = await client.query("select 1 where to_regclass('migrations') is not null")
    const { rows } =
      tables.length > 0 ? await client.query<{ name: string }>('select name from migrations') : { rows: [] }
    const seen = new Set(rows.map((row) => row.name))
    return (await readMigrations()).map(({ name }) => name).filter((name) => !seen.has(name))
  } finally {
    await client.end()
  }
}

async function applyMigration(client: pg.Client, name: string, text: string): Promise<void> {
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into migrations (name) values ($1)', [name])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`Migration ${name} failed`, { cause: error })
  }
}

async function readMigrations(): Promise<{ name: string; text: string }[]> {
  const folder = new URL('../migrations/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, folder), 'utf8') })))
}
