import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { maintain } from './session.ts'

/** Advisory lock of all processes that change tables or privileges. Must be unique within the database. */
export const MIGRATION_LOCK = 7_201_430_001

/**
 * Applies the numbered SQL files that the database has not applied, in order, each in a transaction with its entry.
 * Concurrent migrators take turns. Returns the names of the applied files. Uses the driver directly, because slonik
 * rejects files with several statements.
 */
export async function migrate(url: string): Promise<string[]> {
  const applied: string[] = []
  for (;;) {
    const name = await maintain(url, applyNext)
    if (name === undefined) return applied
    applied.push(name)
  }
}

/** Names of the files that the database has not applied. */
export async function findPendingMigrations(url: string): Promise<string[]> {
  const pending = await maintain(url, findPending, { connectMs: 5000 })
  return pending.map(({ name }) => name)
}

async function applyNext(client: pg.Client): Promise<string | undefined> {
  // Ends with the transaction: a pooler could give the next one another session, and this lock to nobody.
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
  await client.query(
    'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
  )
  const [next] = await findPending(client)
  if (next === undefined) return undefined
  try {
    await client.query(next.text)
    await client.query('insert into migrations (name) values ($1)', [next.name])
  } catch (error) {
    throw new Error(`Migration ${next.name} failed`, { cause: error })
  }
  return next.name
}

interface Migration {
  readonly name: string
  readonly text: string
}

/** Migrations of a later version are no error: after a rollback, this version runs on the newer schema. */
async function findPending(client: pg.Client): Promise<Migration[]> {
  const { rows: tables } = await client.query("select 1 where to_regclass('migrations') is not null")
  const { rows } =
    tables.length > 0 ? await client.query<{ name: string }>('select name from migrations') : { rows: [] }
  const applied = new Set(rows.map(({ name }) => name))
  return (await readMigrations()).filter(({ name }) => !applied.has(name))
}

async function readMigrations(): Promise<Migration[]> {
  const folder = new URL('../migrations/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, folder), 'utf8') })))
}
