import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { createWebhooks } from '../../../../api/webhooks/webhooks.store.ts'
import { startDashboard } from '../../../support/dashboard.ts'
import { fillDashboard } from '../../../support/dashboard-contents.ts'

describe('fields for an account', async () => {
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const linen = (await fillDashboard(dashboard, 'The Linen House')).accountId
  const accounts = createAccounts(dashboard.database)
  for (const name of ['Linen & Silk', 'Wool']) await accounts.insert({ name, email: null, credits: 0 })
  afterAll(() => dashboard.stop())

  const create = (account: string) =>
    browser.submit('/webhooks/new', '/webhooks', { account, url: `https://shop.example/${account.length}` })
  const countEndpoints = async () => (await createWebhooks(dashboard.database).list(linen)).length

  it('suggest accounts by name, and show the account of the URL', async () => {
    for (const page of ['/webhooks/new', '/shops/new', '/generations', '/products'])
      expect((await browser.get(page)).text, page).toContain(`<option value="The Linen House (${linen})">`)
    expect((await browser.get(`/webhooks/new?account=${linen}`)).text).toContain(`value="The Linen House (${linen})"`)
  })

  it('accept a suggestion, an ID and a part of a name that matches one account', async () => {
    const before = await countEndpoints()
    for (const account of [`The Linen House (${linen})`, linen, 'linen HOUSE', 'shop@example'])
      expect((await create(account)).text, account).toContain('whsec_')
    expect(await countEndpoints()).toBe(before + 4)
  })

  it('list several matches, or report none, and keep the typed text', async () => {
    const before = await countEndpoints()
    const several = await create('linen')
    expect([several.status, several.text.includes('value="linen"')]).toEqual([400, true])
    expect(several.text).toContain('Several accounts match “linen”: Linen &#38; Silk (acc_')
    const search = await browser.get('/generations?account=linen')
    expect(search.text).toContain(`<a href="?account=${linen}">`)
    expect(search.text).not.toMatch(/Nothing matches|generations yet/)
    expect((await create('velvet')).text).toContain('No account matches “velvet”.')
    expect(await countEndpoints()).toBe(before)
    const none = await browser.get('/generations?account=velvet')
    expect([none.status, none.text.includes('value="velvet"')]).toEqual([400, true])
  })

  it('search by name', async () => {
    const { text } = await browser.get('/generations?account=the+linen')
    expect(text).toContain(`value="The Linen House (${linen})"`)
    expect(text.match(/href="\/generations\/gen_/g)?.length).toBe(50)
  })
})
