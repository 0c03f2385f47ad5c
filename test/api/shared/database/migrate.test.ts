import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPendingMigrations, migrate } from '../../../../api/shared/database/migrate.ts'
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
})
