import { afterAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { createRequestLog } from '../../../api/http/request-log.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { startDrape } from '../../support/drape.ts'
import { until } from '../../support/until.ts'

describe('requests of an account', async () => {
  const drape = await startDrape()
  afterAll(() => drape.stop())

  const list = (accountId = drape.accountId) =>
    createRequestLog(drape.database).listingOf(accountId).list({}, { limit: 100 })
  const untilListed = (count: number) =>
    until(async () => {
      const found = await list()
      return found.length >= count && found
    })

  it('are logged with their route, code, key and ID, without values, queries, bodies and addresses', async () => {
    const headers = { 'x-request-id': 'order-77' }
    await drape.call('GET', '/tryon/v1/generations/gen_secret-person', { headers })
    await drape.call('GET', '/tryon/v1/products?limit=3&cursor=', {})
    await drape.call('POST', '/tryon/v1/products', { body: { externalId: 'private-name', title: 'private-title' } })
    await drape.call('GET', '/tryon/v1/account', { key: 'sk_wrong' })
    const found = await untilListed(3)
    expect(found.map(({ method, route, status, errorCode }) => [method, route, status, errorCode])).toEqual([
      ['POST', '/tryon/v1/products', 400, 'PRODUCT_IMAGES_REQUIRED'],
      ['GET', '/tryon/v1/products', expect.any(Number), expect.toBeOneOf([null, 'VALIDATION_FAILED'])],
      ['GET', '/tryon/v1/generations/{id}', 404, 'GENERATION_NOT_FOUND'],
    ])
    expect(found[2]).toMatchObject({ requestId: 'order-77', keyLastFour: drape.apiKey.slice(-4) })
    expect(found.every(({ durationMs }) => durationMs >= 0 && durationMs < 60_000)).toBe(true)
    const rows = JSON.stringify(await drape.database.any(sql.unsafe`select * from request_log`))
    expect(rows).not.toMatch(/secret-person|private|limit=|127\.0\.0|::1|sk_/)
  })

  it('are not delayed while the log cannot be written, and are counted as dropped when it fails', async () => {
    const before = (await list()).length
    await drape.database.transaction(async (locked) => {
      await locked.query(sql.unsafe`lock table request_log in access exclusive mode`)
      await drape.call('GET', '/tryon/v1/account')
      await until(async () => {
        await locked.query(sql.unsafe`select pg_stat_clear_snapshot()`)
        return locked.oneFirst(sql.unsafe`
          select count(*) > 0 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%request_log%'`)
      })
      // A response that waited for the log would wait for the end of this transaction.
      for (let i = 0; i < 20; i++) expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)
    })
    await untilListed(before + 21)
    await drape.database.query(sql.unsafe`alter table request_log rename to away`)
    expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)
    await until(async () => (await dropped()) === 1)
    await drape.database.query(sql.unsafe`alter table away rename to request_log`)
  })

  const dropped = async () => {
    const metrics = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    return Number(/^drape_request_log_dropped_total\{reason="database"\} (\d+)$/m.exec(metrics)?.[1])
  }

  it('of a test key are listed with the others', async () => {
    const { key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
      scopes: null,
      expiresAt: null,
      allowedCidrs: null,
      isTest: true,
    })
    expect((await drape.call('GET', '/tryon/v1/account', { key })).status).toBe(200)
    await until(async () => (await list()).some(({ keyLastFour }) => keyLastFour === key.slice(-4)))
  })
})
