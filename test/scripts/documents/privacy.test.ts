import { readFileSync } from 'node:fs'
import pg from 'pg'
import { expect, it } from 'vitest'
import { describeDataMap, REDIS_FAMILIES, readTables, STORAGE_PREFIXES } from '../../../scripts/documents/privacy.ts'
import { createTestDatabase } from '../../support/postgres.ts'

it('the data map has every table and every comment of the migrated database', async () => {
  const database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ table: string; columns: string[] }>(`
    select relname as table, array_agg(attname::text order by attname) filter (where description is not null) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
      left join pg_description on objoid = attrelid and objsubid = attnum
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition and attnum >= 0
      and relname <> 'migrations' -- of the migrator itself
    group by 1`)
  await client.end()
  await database.drop()
  const commented = Object.fromEntries(rows.map(({ table, columns }) => [table, columns ?? []]))
  const mapped = Object.entries(readTables()).map(([table, { personal }]) => [table, Object.keys(personal).sort()])
  expect(Object.fromEntries(mapped)).toEqual(commented)
})

it('the data map states purpose, lifetime and erasure of all personal data', () => {
  const tables = readTables()
  for (const [table, { about, personal }] of Object.entries(tables))
    expect(Object.keys(personal).length > 0, table).toBe(about !== null)
  for (const { about } of [...Object.values(STORAGE_PREFIXES), ...Object.values(REDIS_FAMILIES)])
    for (const text of Object.values(about ?? {})) expect(text.length).toBeGreaterThan(3)
})

it('docs/privacy.md has the data map as scripts/documents/privacy.ts writes it', () => {
  const page = readFileSync(new URL('../../../docs/privacy.md', import.meta.url), 'utf8')
  expect(page.endsWith(`\n${describeDataMap()}\n`)).toBe(true)
})
