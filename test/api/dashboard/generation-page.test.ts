import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { presentWaterfall } from '../../../api/dashboard/waterfall.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { startDashboard, type TestDashboard } from '../../support/dashboard.ts'
import { fillDashboard } from '../../support/dashboard-contents.ts'

describe('the page of a generation', () => {
  let dashboard: TestDashboard
  beforeAll(async () => {
    dashboard = await startDashboard()
  })
  afterAll(() => dashboard.stop())

  it('lists state changes, credits and webhooks in chronological order', async () => {
    const { failedId, accountId, endpointId } = await fillDashboard(dashboard, 'The Linen House')
    await dashboard.database.query(sql.unsafe`
      insert into ledger (account_id, amount, kind, generation_id, created_at)
      select account_id, -1, 'reserve', id, created_at + interval '500 ms' from generations where id = ${failedId}`)
    await dashboard.database.query(sql.unsafe`
      insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at, status, attempts, last_status, ended_at)
      values (${endpointId}, 'evt_' || substr(${failedId}, 5), 'generation.failed', '{}', now(), 'failed', 8, 500, now() + interval '1 hour')`)
    await dashboard.database.query(sql.unsafe`update generations set attempt = 3 where id = ${failedId}`)
    const { text } = await (await dashboard.signIn()).get(`/generations/${failedId}`)
    const events = [...text.matchAll(/data-label="Event">(?:<a href="([^"]*)">)?([^<]*)/g)].map((found) =>
      found.slice(1),
    )
    expect(events).toEqual([
      [undefined, 'accepted'],
      [`/accounts/${accountId}/ledger`, 'credits: reserve'],
      [undefined, 'started, attempt 3'],
      [undefined, 'failed'],
      [`/webhooks/${endpointId}`, 'webhook generation.failed: failed'],
    ])
    expect(text).toContain('8 attempts, HTTP 500')
    expect(text).toContain('retried 2×')
  })

  it('draws stages in the order in which they ran, each from the end of the previous stage', () => {
    const timings = { warp: 20, encode: 5, engine: 80, person: 40, decode: 10, own: 10, body: 10, safety: 5 }
    const { markup } = presentWaterfall(timings)
    const rows = [
      ...markup.matchAll(/data-label="Stage">(?:<span class="inner">)?(\w+).*?x="([\d.]+)".*?width="([\d.]+)"/gs),
    ]
    expect(rows.map(([, name, x, width]) => [name, Number(x), Number(width)])).toEqual([
      ['decode', 0, 10],
      ['safety', 10, 5],
      ['engine', 15, 80],
      ['person', 15, 40],
      ['body', 55, 10],
      ['warp', 65, 20],
      ['own', 85, 10],
      ['encode', 95, 5],
    ])
  })
})
