import { afterAll, describe, expect, it } from 'vitest'
import { createOperatorSessions } from '../api/dashboard/sign-in/operator-sessions.store.ts'
import { createOperators } from '../api/dashboard/sign-in/operators.store.ts'
import { Type } from '../api/shared/contract/schema.ts'
import { createDatabase, rowType, sql } from '../api/shared/database/database.ts'
import { maintain, openSession } from '../api/shared/database/session.ts'
import { reserveFreePort } from '../scripts/stack/ports.ts'
import { createCommandLine } from './support/command-line.ts'
import { readSmallPerson, startDrape } from './support/drape.ts'
import { createShopperCalls } from './support/shopper-calls.ts'
import { storeVisit } from './support/visits.ts'

/** Each of these changes what a statement does, or how a value looks. */
const SETTINGS = {
  datestyle: 'German, DMY',
  timezone: 'Pacific/Kiritimati',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  extra_float_digits: '-15',
  array_nulls: 'off',
  xmlbinary: 'hex',
  client_encoding: 'LATIN1',
  search_path: 'elsewhere',
  default_transaction_isolation: 'serializable',
  statement_timeout: '3s',
  idle_in_transaction_session_timeout: '3s',
  lock_timeout: '1ms',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
}
const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

describe('a database whose settings all differ from those of Postgres', async () => {
  const port = await reserveFreePort()
  await port.release()
  const dashboard = `http://127.0.0.1:${port.port}`
  const drape = await startDrape({ env: { DASHBOARD_PORT: String(port.port) } })
  const { client } = await openSession(drape.env.DATABASE_URL)
  const name = client.escapeIdentifier(new URL(drape.env.DATABASE_URL).pathname.slice(1))
  // Tables with the names of ours, but without our columns.
  await client.query('create schema elsewhere; create table elsewhere.accounts (); create table elsewhere.images ()')
  for (const [setting, value] of Object.entries(SETTINGS))
    await client.query(`alter database ${name} set ${setting} = ${client.escapeLiteral(value)}`)
  // Only new connections have them.
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await client.end()
  const database = createDatabase(drape.env.DATABASE_URL, { poolSize: 1 })
  await drape.startWorker()
  afterAll(async () => {
    await database?.end()
    await drape?.stop()
  })

  /** An answer, all times of which are of this test. */
  const read = async (path: string) => {
    const { status, body } = await drape.call('GET', path)
    expect({ path, status }).toEqual({ path, status: 200 })
    const times: string[] = []
    JSON.stringify(body, (_, value) => {
      if (typeof value === 'string' && ISO.test(value)) times.push(value)
      return value
    })
    for (const time of times)
      expect(Math.abs(Date.parse(time) - Date.now()), `${path} ${time}`).toBeLessThan(40 * 86_400_000)
    return { body, times }
  }

  it('is what the processes never see', async () => {
    const Seen = rowType(Type.Object({ style: Type.String(), zone: Type.String(), schema: Type.String() }))
    const seen = await database.one(sql.type(Seen)`
      select current_setting('DateStyle') as style, current_setting('TimeZone') as zone, current_schema()::text as schema`)
    expect(seen).toEqual({ style: 'ISO, YMD', zone: 'UTC', schema: 'public' })
    const { rows } = await maintain(drape.env.DATABASE_URL, (client) =>
      client.query("select current_setting('statement_timeout') as limit"),
    )
    expect(rows).toEqual([{ limit: '0' }])
  })

  it('runs a try-on, from upload to statistics and erasure, with the right times', async () => {
    const shopper = createShopperCalls(drape, await readSmallPerson())
    const photo = await shopper.upload('anna')
    const id = await shopper.tryOn(photo, 'anna')
    const ended = await drape.finish(id)
    expect(ended).toMatchObject({ status: 'COMPLETED' })
    const { times } = await read(`/tryon/v1/generations/${id}`)
    expect(times.length).toBeGreaterThanOrEqual(2)
    for (const time of [ended.createdAt, ended.updatedAt])
      expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(600_000)
    await read('/tryon/v1/account')
    expect((await read('/tryon/v1/products')).body.items).toHaveLength(1)
    expect((await read('/tryon/v1/products/shirt/stats')).body).toMatchObject({ totalGenerations: 1 })

    await storeVisit(database, { accountId: drape.accountId, shopId: null, visitor: 'one' }, ['widget:result_view'])
    const { body } = await read('/tryon/v1/analytics')
    expect(JSON.stringify(body)).toContain(new Date().toISOString().slice(0, 10))

    const { status, headers } = await drape.call('DELETE', '/tryon/v1/customers/anna')
    expect(status).toBe(204)
    expect((await read(headers.get('location') ?? '')).body).toMatchObject({ status: 'PENDING' })
    expect((await drape.call('GET', `/tryon/v1/generations/${id}`)).body.resultImageUrl ?? null).toBeNull()
  })

  it('shows the dashboard', async () => {
    const operator = await createOperators(database).insert({
      email: 'ada@example.com',
      name: 'Ada',
      passwordHash: 'none',
      role: 'admin',
    })
    const cookie = `drape-operator=${await createOperatorSessions(database).insert(operator.id)}`
    const account = `/accounts/${drape.accountId}`
    const pages = ['/', '/accounts', account, `${account}/ledger`, `${account}/requests`, '/generations', '/audit']
    for (const path of pages) {
      const answer = await fetch(`${dashboard}${path}`, { headers: { cookie }, redirect: 'manual' })
      const text = await answer.text()
      expect({ path, status: answer.status }).toEqual({ path, status: 200 })
      expect(text).not.toMatch(/Invalid Date|NaN/)
    }
  })

  it('is swept, examined and migrated by the command line', async () => {
    const { answered } = createCommandLine(drape.env.DATABASE_URL, drape.env)
    await answered('sweep')
    expect(await answered('migrate', '--grant', 'controller=drape_controller')).toMatchObject({ applied: [] })
  })
})
