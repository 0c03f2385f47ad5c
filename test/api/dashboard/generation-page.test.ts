import { afterAll, describe, expect, it } from 'vitest'
import { presentWaterfall } from '../../../api/dashboard/html/waterfall.ts'
import { imagesOf } from '../../../api/dashboard/pages/generations.view.ts'
import { createOperators } from '../../../api/dashboard/sign-in/operators.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { copyGeneration } from '../../support/accepted.ts'
import { startDashboard } from '../../support/dashboard.ts'
import { fillDashboard } from '../../support/dashboard-contents.ts'

describe('the page of a generation', async () => {
  const dashboard = await startDashboard()
  afterAll(() => dashboard.stop())

  it('lists state changes, credits and webhooks in chronological order', async () => {
    const { failedId: firstId, accountId, endpointId } = await fillDashboard(dashboard, 'The Linen House')
    const failedId = await copyGeneration(dashboard.database, firstId, { attempt: 3 })
    await dashboard.database.query(sql.unsafe`
      insert into ledger (account_id, amount, kind, generation_id, created_at)
      select account_id, -1, 'reserve', id, created_at + interval '500 ms' from generations where id = ${failedId}`)
    await dashboard.database.query(sql.unsafe`
      insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at, status, attempts, last_status, ended_at)
      values (${endpointId}, 'evt_' || substr(${failedId}, 5), 'generation.failed', '{}', now(), 'failed', 8, 500, now() + interval '1 hour')`)
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

  it('shows the answer of the API, without links and secrets, as JSON', async () => {
    const { completedId: firstId, failedId } = await fillDashboard(dashboard, 'The Answer House')
    const salt = 'a-secret-salt-of-the-account'
    const completedId = await copyGeneration(dashboard.database, firstId, { ingredient_salt: salt })
    const browser = await dashboard.signIn()
    const read = async (id: string) => {
      const { text } = await browser.get(`/generations/${id}`)
      expect(text).not.toContain(salt)
      const [, answer = ''] = text.match(/Answer of the API<\/h2>.*?<pre[^>]*>(.*?)<\/pre>/s) ?? []
      return JSON.parse(answer.replaceAll('&#34;', '"'))
    }
    expect(await read(completedId)).toMatchObject({
      generationId: completedId,
      status: 'COMPLETED',
      engineName: 'warp',
      category: 'tops',
      resultImageUrl: 'hidden',
      ingredientSalt: 'hidden',
      timings: { person: 830 },
    })
    expect(await read(failedId)).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_FAILED' })
  })

  it('offers every stored image: each result, without its mask and those that failed, and the photo', () => {
    const results = [
      { seed: 1, key: 'a', changedKey: 'a-changed' },
      { seed: 2, key: 'b' },
      { seed: 3, errorCode: 'RESULT_REJECTED' },
    ]
    const all = imagesOf({ personKey: 'p', resultKey: 'a', results })
    expect(all.map(({ name, key }) => [name, key])).toEqual([
      ['result', 'a'],
      ['result 2', 'b'],
      ['person', 'p'],
    ])
    expect(imagesOf({ personKey: null, resultKey: null, results: null })).toEqual([])
  })

  it('lists the products of an outfit, and why one was left out', async () => {
    const { completedId, failedId } = await fillDashboard(dashboard, 'The Whole House')
    const layers = [
      {
        layer: 'tops',
        externalId: 'shirt-1',
        title: 'Linen shirt',
        cost: 1,
        applied: true,
        quality: 0.815,
        warnings: ['SLEEVE_FOLDED'],
      },
      {
        layer: 'outerwear',
        externalId: 'coat-2',
        title: null,
        cost: 1,
        applied: false,
        errorCode: 'RESULT_REJECTED',
        warnings: [],
      },
    ]
    const id = await copyGeneration(dashboard.database, completedId, { layers })
    const browser = await dashboard.signIn()
    const { text } = await browser.get(`/generations/${id}`)
    const rows = [...text.matchAll(/data-label="(?:Product|Layer|State|Quality)">(.*?)<\/td>/gs)]
    expect(rows.map(([, cell]) => cell.replace(/<[^>]*>/g, ' ').trim())).toEqual([
      ...['shirt-1  Linen shirt', 'tops', 'applied', '0.81'],
      ...['coat-2', 'outerwear', 'left out  RESULT_REJECTED', ''],
    ])
    expect((await browser.get(`/generations/${failedId}`)).text).not.toContain('>Layers<')
  })

  it('does not name workers to an owner of the account', async () => {
    const { completedId, accountId } = await fillDashboard(dashboard, 'The Curious House')
    const past = { attempt: 1, worker: 'gpu-3.internal', dispatchedAt: null, startedAt: null, reason: 'lost' }
    const id = await copyGeneration(dashboard.database, completedId, {
      attempt: 2,
      worker: 'gpu-7.internal',
      past_attempts: [{ ...past, endedAt: '2026-01-02T03:05:06Z' }],
    })
    const email = 'cara@curious.example'
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash: '', accountId })
    const namesOf = async (person?: string) => {
      const { text } = await (await dashboard.signIn(person)).get(`/generations/${id}`)
      expect(text).toContain('the worker was lost')
      return [...text.matchAll(/gpu-\d\.internal|>Worker</g)].map(([name]) => name)
    }
    expect(await namesOf()).toEqual(['>Worker<', 'gpu-7.internal', '>Worker<', 'gpu-3.internal', 'gpu-7.internal'])
    expect(await namesOf(email)).toEqual([])
  })

  it('lists previous attempts with their worker and end', async () => {
    const { completedId } = await fillDashboard(dashboard, 'The Patient House')
    const browser = await dashboard.signIn()
    expect((await browser.get(`/generations/${completedId}`)).text).not.toContain('Previous attempts')
    const past = [
      { attempt: 1, worker: 'worker-7', dispatchedAt: null, startedAt: '2026-01-02T03:04:05Z', reason: 'lost' },
      { attempt: 2, worker: null, dispatchedAt: null, startedAt: null, reason: 'spared' },
    ].map((one) => ({ ...one, endedAt: '2026-01-02T03:05:06Z' }))
    const id = await copyGeneration(dashboard.database, completedId, { attempt: 3, past_attempts: past })
    const { text } = await browser.get(`/generations/${id}`)
    const [, section = ''] = text.split('Previous attempts</h2>')
    const cells = [...section.split('</table>')[0].matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) =>
      cell.replaceAll(/<[^>]+>/g, ''),
    )
    expect(cells).toEqual([
      ...['1', 'worker-7', '2026-01-02 03:04:05', '2026-01-02 03:05:06', 'the worker was lost'],
      ...['2', 'none', 'never', '2026-01-02 03:05:06', 'device or signing key failed; the attempt does not count'],
    ])
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
