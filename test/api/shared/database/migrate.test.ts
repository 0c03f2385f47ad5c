import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPendingMigrations, migrate, UnknownSchema } from '../../../../api/shared/database/migrate.ts'
import { createCommandLine } from '../../../support/command-line.ts'
import { createEmptyDatabase } from '../../../support/postgres.ts'

const SCHEMA = '0001-schema.sql'

describe('migrations', () => {
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>
  let client: pg.Client

  beforeEach(async () => {
    empty = await createEmptyDatabase()
    client = new pg.Client({ connectionString: empty.url })
    await client.connect()
  })
  afterEach(async () => {
    await client?.end()
    await empty?.drop()
  })

  const tables = async () =>
    (await client.query("select tablename from pg_tables where schemaname = 'public'")).rows.map((row) => row.tablename)
  const applied = async () =>
    (await client.query('select name from migrations order by name')).rows.map((row) => row.name)

  it('are applied once, however many processes start at the same time', async () => {
    expect((await findPendingMigrations(empty.url))[0]).toBe(SCHEMA)
    const counts = (await Promise.all([1, 2, 3].map(() => migrate(empty.url)))).map((names) => names.length)
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, 0, (await applied()).length])
    expect(await findPendingMigrations(empty.url)).toEqual([])
  })

  it('of later versions stay applied, as after a rollback', async () => {
    await migrate(empty.url)
    await client.query("insert into migrations (name) values ('9000-later.sql')")
    expect(await findPendingMigrations(empty.url)).toEqual([])
    expect(await migrate(empty.url)).toEqual([])
  })

  it('of a version that was never released are refused in one line, and nothing changes', async () => {
    await client.query(`create table accounts (id text); create table migrations (name text primary key);
      insert into migrations (name) values ('0001-core.sql'), ('0002-products.sql')`)
    const refusal =
      /^The database has the migration 0001-core\.sql, which no release contains: [^\n]+ DATABASE_URL [^\n]+$/
    for (const look of [migrate, findPendingMigrations])
      await expect(look(empty.url)).rejects.toThrow(
        expect.objectContaining({ message: expect.stringMatching(refusal) }),
      )
    await expect(migrate(empty.url)).rejects.toThrow(UnknownSchema)
    const { drape } = createCommandLine(empty.url)
    // Waiting does not help, so the command does not.
    for (const command of [['migrate'], ['check', 'migrations']]) {
      const { code, output, stderr } = await drape(...command, '--wait-seconds', '600')
      expect({ code, output }).toEqual({ code: 1, output: '' })
      expect(stderr.trimEnd()).toMatch(refusal)
    }
    expect(await tables()).toEqual(expect.arrayContaining(['accounts', 'migrations']))
    expect(await tables()).toHaveLength(2)
    expect(await applied()).toEqual(['0001-core.sql', '0002-products.sql'])
  })
})
