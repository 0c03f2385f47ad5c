import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { createRequestLog, type RequestEntry } from '../../../../api/http/request-log.store.ts'
import { startDashboard } from '../../../support/dashboard.ts'

describe('requests in the dashboard', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const accountId = (await createAccounts(dashboard.database).insert({ name: 'Shop & Co', email: null, credits: 0 })).id
  const page = `/accounts/${accountId}/requests`
  afterAll(() => dashboard.stop())

  const entry = (i: number, more: Partial<RequestEntry> = {}): RequestEntry => ({
    accountId,
    method: 'GET',
    route: '/tryon/v1/account',
    status: 200,
    errorCode: null,
    keyLastFour: 'k1k1',
    durationMs: 1234,
    requestId: `req-${i}-end`,
    createdAt: new Date(Date.now() - i * 1000),
    ...more,
  })
  const idsOf = (text: string) => [...text.matchAll(/<code>req-(\d+)-end/g)].map(([, id]) => Number(id))

  it('have a page that says what to do when there are no requests', async () => {
    expect((await browser.get(`/accounts/${accountId}`)).text).toContain(
      `<a class="button quiet" href="${page}">Requests</a>`,
    )
    const { status, text } = await browser.get(page)
    expect(status).toBe(200)
    expect(text).toContain('No requests in the last 7 days.')
    expect(text).toContain('<h1>Requests of Shop &#38; Co</h1>')
    expect((await browser.get(`${page}?statusClass=5`)).text).toContain('Nothing matches.')
  })

  it('are listed in pages, newest first, and found by their fields', async () => {
    const refused = {
      status: 404,
      errorCode: 'GENERATION_NOT_FOUND',
      route: '/tryon/v1/generations/{id}',
      method: '<b>',
    }
    await createRequestLog(dashboard.database).insert([
      ...Array.from({ length: 60 }, (_, i) => entry(i)),
      entry(60, refused),
    ])
    const first = (await browser.get(page)).text
    expect(idsOf(first)).toEqual(Array.from({ length: 50 }, (_, i) => i))
    expect(first).toContain('1,234 ms')
    const [, older = ''] = first.match(/<a href="(\?[^"]+)">Next/) ?? []
    const second = (await browser.get(`${page}${older.replaceAll('&#38;', '&')}`)).text
    expect(idsOf(second)).toEqual(Array.from({ length: 11 }, (_, i) => 50 + i))
    expect(second).toContain('&#60;b&#62;')
    for (const query of [
      'statusClass=4',
      'errorCode=GENERATION_NOT_FOUND',
      `route=${encodeURIComponent(refused.route)}`,
    ])
      expect(idsOf((await browser.get(`${page}?${query}`)).text), query).toEqual([60])
    expect(idsOf((await browser.get(`${page}?keyLastFour=none`)).text)).toEqual([])
  })

  it('of an account that does not exist are not found', async () => {
    expect((await browser.get('/accounts/acc_none/requests')).status).toBe(404)
  })
})
