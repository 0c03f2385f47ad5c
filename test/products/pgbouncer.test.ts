import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { findPendingMigrations, migrate } from '../../api/shared/database/migrate.ts'
import { listenDatabase } from '../../controller/listen-database.ts'
import type { Finding } from '../../scripts/commands/doctor/finding.ts'
import { createCommandLine } from '../support/command-line.ts'
import { type Drape, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { startPgbouncer } from '../support/pgbouncer.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import type { TestProcess } from '../support/process.ts'
import { asProcess } from '../support/process-roles.ts'
import { until } from '../support/until.ts'

const TRY_ONS = 60

/** Runs a statement as simple query, which the console of PgBouncer accepts too. */
async function administer(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

const reason = await reasonWithout('pgbouncer')

describe.skipIf(reason)(`PgBouncer in transaction mode${reason && ` (skipped: ${reason})`}`, () => {
  let database: TestDatabase
  let pooler: { url: string; process: TestProcess }
  let drape: Drape

  beforeAll(async () => {
    database = await createTestDatabase()
    pooler = await startPgbouncer(database.url)
    drape = await startDrape({
      database,
      credits: TRY_ONS + 10,
      env: { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: asProcess(database.url, 'api') },
    })
    await Promise.all([drape.startWorker({ CONCURRENCY: '2' }), drape.startWorker({ CONCURRENCY: '2' })])
  })
  afterAll(async () => {
    await drape?.stop()
    await pooler?.process.end('SIGKILL')
  })

  it('runs concurrent try-ons, and charges each of them once', async () => {
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    const order = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    }
    const before = await drape.balance()
    const ids = await Promise.all(Array.from({ length: TRY_ONS }, () => drape.tryOn(order, { me, shirt })))
    const ended = await Promise.all(ids.map((id) => drape.finish(id)))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    expect(new Set(ids).size).toBe(TRY_ONS)
    expect(before - (await drape.balance())).toBe(TRY_ONS)
    const Sums = rowType(Type.Object({ entries: Type.Integer(), generations: Type.Integer(), amount: Type.Integer() }))
    const sums = await drape.database.one(sql.type(Sums)`
      select count(*)::int as entries, count(distinct generation_id)::int as generations, sum(amount)::int as amount
      from ledger where account_id = ${drape.accountId} and generation_id is not null`)
    expect(sums).toEqual({ entries: TRY_ONS, generations: TRY_ONS, amount: -TRY_ONS })
    expect(drape.api.output()).not.toMatch(/prepared statement/)
  })

  it('is recognised by the doctor, which names the settings that the role lacks', async () => {
    const examine = async (env: Readonly<Record<string, string>> = {}, check = 'postgres pooler') => {
      const { output } = await createCommandLine(asProcess(pooler.url, 'api'), {
        ...drape.env,
        SIGNING_SECRET: 'a key that signs',
        ...env,
      }).drape('doctor')
      const { findings } = JSON.parse(output) as { findings: Finding[] }
      return findings.find((finding) => finding.check === check)
    }
    const direct = (url: string) => examine({ DATABASE_DIRECT_URL: url }, 'postgres direct connection')
    expect(await direct(asProcess(database.url, 'api'))).toMatchObject({ state: 'ok' })
    expect(await direct(`${asProcess(pooler.url, 'api')}?application_name=doctor`)).toMatchObject({
      state: 'problem',
      found: 'leads to a pooler',
    })
    const { state, cure = '' } = (await examine()) ?? {}
    expect(state).toBe('problem')
    const changes = [...cure.matchAll(/alter role [^;]+/g)].map(([change]) => change)
    expect(changes).toContain("alter role drape_api set statement_timeout = '10s'")
    for (const change of changes) await administer(database.url, change)
    try {
      await administer(pooler.url.replace(/[^/]*$/, 'pgbouncer'), 'reconnect')
      // Open connections keep the settings with which they started.
      expect(await until(async () => (await examine())?.state === 'ok' && 'ok')).toBe('ok')
    } finally {
      await administer(database.url, 'alter role drape_api reset all')
    }
  })

  it('keeps no state of a session, and migrations work through it', async () => {
    expect(await findPendingMigrations(pooler.url)).toEqual([])
    expect(await migrate(pooler.url)).toEqual([])
    const changed = await administer(
      pooler.url,
      `select name from pg_settings where source = 'session' and name = any ('{statement_timeout, lock_timeout, search_path, array_nulls}')`,
    )
    expect(changed).toEqual([])
    const locks = await administer(
      database.url,
      "select objid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    )
    expect(locks).toEqual([])
  })

  it('delivers no notifications, so the controller polls', async () => {
    let notified = 0
    const faults: string[] = []
    const listener = listenDatabase(pooler.url, 'channel', {
      onNotify: () => {
        notified += 1
      },
      onFault: (error) => faults.push(String(error)),
    })
    await until(() => notified >= 3)
    expect(listener.isListening()).toBe(false)
    expect(faults).toEqual([expect.stringContaining('set DATABASE_DIRECT_URL')])
    await listener.stop()
  })
})
