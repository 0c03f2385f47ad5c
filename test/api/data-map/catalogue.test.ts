import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TABLES } from '../../../api/data-map/catalogue.ts'
import { REDIS_FAMILIES, STORAGE_PREFIXES } from '../../../api/data-map/places.ts'
import { describeDataMap } from '../../../api/data-map/tables.ts'
import { createTestDatabase } from '../../support/postgres.ts'

describe('the data map', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  let client: pg.Client

  beforeAll(async () => {
    database = await createTestDatabase()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
  })
  afterAll(async () => {
    await client?.end()
    await database?.drop()
  })

  it('has every column of every table of the migrated database in exactly one list, and no other', async () => {
    const { rows } = await client.query<{ table: string; columns: string[] }>(`
      select relname as table, array_agg(attname::text order by attname) as columns
      from pg_class join pg_attribute on attrelid = pg_class.oid
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
        and attnum > 0 and not attisdropped
      group by 1`)
    const schema = Object.fromEntries(rows.map(({ table, columns }) => [table, columns.toSorted()]))
    const mapped = Object.entries(TABLES).map(([table, { personal, other }]) => [
      table,
      [...Object.keys(personal), ...other].toSorted(),
    ])
    expect(Object.fromEntries(mapped)).toEqual(schema)
  })

  it('says of all personal data why it is stored, until when and what erases it', () => {
    for (const [table, { about, personal }] of Object.entries(TABLES)) {
      expect(Object.keys(personal).length > 0, table).toBe(about !== null)
    }
    const places = [...Object.values(STORAGE_PREFIXES), ...Object.values(REDIS_FAMILIES)]
    const maps = [...Object.values(TABLES), ...places].flatMap(({ about }) => (about === null ? [] : [about]))
    for (const { purpose, lifetime, erasure } of maps)
      expect([purpose, lifetime, erasure].every((text) => text.length > 3)).toBe(true)
  })

  it('is in docs/privacy.md as scripts/documents/privacy.ts writes it', () => {
    const page = readFileSync(new URL('../../../docs/privacy.md', import.meta.url), 'utf8')
    expect(page.endsWith(`\n${describeDataMap()}\n`)).toBe(true)
  })
})
