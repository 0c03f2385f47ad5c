import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type DatabaseContract,
  describeDatabase,
  findBreaks,
  readContracts,
} from '../scripts/releases/database-contract.ts'
import { ROOT } from '../scripts/stack/session.ts'
import { createTestDatabase } from './support/postgres.ts'

const id = { type: 'text', isRequired: true, isFilled: false }

describe('the schema of the database', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  let now: DatabaseContract
  beforeAll(async () => {
    database = await createTestDatabase()
    now = await describeDatabase(database.url, 'now')
  })
  afterAll(() => database.drop())

  it('serves the code of every recorded release, during an upgrade and after a rollback', async () => {
    const contracts = await readContracts()
    expect(contracts.length).toBeGreaterThan(0)
    for (const contract of contracts) {
      expect(Object.keys(contract.tables).length).toBeGreaterThan(20)
      expect(findBreaks(contract, now), contract.version).toEqual([])
    }
  })

  it('is recorded for the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    expect((await readContracts()).map((contract) => contract.version)).toContain(version)
  })
})

describe('a migration', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  it.each([
    ['alter table accounts drop column name', 'accounts.name is gone'],
    ['alter table accounts add column tier text not null', 'accounts.tier is new and required'],
    ['alter table accounts alter column name type varchar(9)', 'accounts.name was text and is character varying(9)'],
    ['create unique index on accounts (name)', 'unique index of accounts is new'],
    ['alter table outbox rename to box', 'table outbox is gone'],
  ])('that earlier code does not understand is found: %s', async (statement, found) => {
    const earlier = await describeDatabase(database.url, 'earlier')
    const { url, drop } = await createTestDatabase()
    try {
      await apply(url, statement)
      expect(findBreaks(earlier, await describeDatabase(url, 'later')).join('\n')).toContain(found)
    } finally {
      await drop()
    }
  })

  it('that only adds is accepted', async () => {
    const earlier = await describeDatabase(database.url, 'earlier')
    await apply(database.url, "alter table accounts add column tier text not null default 'a', add column note text")
    await apply(database.url, 'create table tiers (id text primary key)')
    const later = await describeDatabase(database.url, 'later')
    expect(findBreaks(earlier, later)).toEqual([])
    expect(later.tables.tiers).toEqual({ id })
  })
})

async function apply(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
