import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { ROOT } from '../stack/session.ts'

const FOLDER = join(ROOT, 'test/fixtures/databases')

export interface Column {
  readonly type: string
  readonly isRequired: boolean
  /** Whether Postgres fills the column when a statement does not name it. */
  readonly isFilled: boolean
}

/** The schema that the statements of a release rely on. */
export interface DatabaseContract {
  readonly version: string
  /** By table and column. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, Column>>>>
  /** Columns or expressions of each unique index, by table: `on conflict` names them. */
  readonly uniques: Readonly<Record<string, readonly string[]>>
}

const COLUMNS = `
  select relname as table, attname as column, format_type(atttypid, atttypmod) as type, attnotnull as "isRequired",
    atthasdef or attidentity <> '' as "isFilled"
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
  order by relname, attname`
// All of an index but its name.
const UNIQUES = `
  select relname as table, substring(pg_get_indexdef(indexrelid) from ' USING .*$') as index
  from pg_index join pg_class on pg_class.oid = indrelid
  where relnamespace = 'public'::regnamespace and indisunique order by 1, 2`

/** Describes a database to which the migrations of the version are applied. */
export async function describeDatabase(url: string, version: string): Promise<DatabaseContract> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables: Record<string, Record<string, Column>> = {}
    for (const { table, column, ...rest } of (await client.query(COLUMNS)).rows) {
      tables[table] = { ...tables[table], [column]: rest }
    }
    const uniques: Record<string, string[]> = {}
    for (const { table, index } of (await client.query(UNIQUES)).rows) {
      uniques[table] = [...(uniques[table] ?? []), index.trim()]
    }
    return { version, tables, uniques }
  } finally {
    await client.end()
  }
}

/**
 * What the code of the earlier release could not do with the later schema. Empty if both can run at once, and after a rollback. Does not
 * compare check constraints and triggers.
 */
export function findBreaks(earlier: DatabaseContract, later: DatabaseContract): string[] {
  const breaks: string[] = []
  for (const [table, columns] of Object.entries(earlier.tables)) {
    const now = later.tables[table]
    if (now === undefined) {
      breaks.push(`table ${table} is gone`)
      continue
    }
    for (const [name, column] of Object.entries(columns))
      breaks.push(...breaksOf(`${table}.${name}`, column, now[name]))
    for (const [name, { isRequired, isFilled }] of Object.entries(now)) {
      if (columns[name] === undefined && isRequired && !isFilled)
        breaks.push(`${table}.${name} is new and required, so earlier code cannot insert rows`)
    }
    const indexes = later.uniques[table] ?? []
    const before = earlier.uniques[table] ?? []
    for (const index of before) if (!indexes.includes(index)) breaks.push(`unique index of ${table} is gone: ${index}`)
    for (const index of indexes) {
      if (!before.includes(index)) breaks.push(`unique index of ${table} is new and can refuse rows: ${index}`)
    }
  }
  return breaks
}

function breaksOf(name: string, earlier: Column, later: Column | undefined): string[] {
  if (later === undefined) return [`${name} is gone`]
  const breaks: string[] = []
  if (later.type !== earlier.type) breaks.push(`${name} was ${earlier.type} and is ${later.type}`)
  if (later.isRequired && !earlier.isRequired) breaks.push(`${name} is now required`)
  if (earlier.isFilled && later.isRequired && !later.isFilled) breaks.push(`${name} has lost its default`)
  return breaks
}

/** Records the contract of a release; returns the path. */
export async function recordContract(contract: DatabaseContract): Promise<string> {
  const path = join(FOLDER, `${contract.version}.json`)
  await writeFile(path, `${JSON.stringify(contract)}\n`)
  return path
}

/** The contracts of all recorded releases. */
export async function readContracts(): Promise<DatabaseContract[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(FOLDER, name), 'utf8'))))
}
