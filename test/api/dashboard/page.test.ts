import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createOperatorAudit } from '../../../api/dashboard/operator-audit.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { createWebhooks } from '../../../api/webhooks/webhooks.store.ts'
import {
  type OperatorBrowser,
  readFormFields,
  startDashboard,
  type TestDashboard,
  withoutOwnScript,
} from '../../support/dashboard.ts'
import { type DashboardContents, fillDashboard } from '../../support/dashboard-contents.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`

describe('the pages of the dashboard', () => {
  let dashboard: TestDashboard
  let browser: OperatorBrowser
  let contents: DashboardContents
  beforeAll(async () => {
    dashboard = await startDashboard()
    browser = await dashboard.signIn()
    contents = await fillDashboard(dashboard, HOSTILE)
  })
  afterAll(() => dashboard.stop())

  const listAudit = (about: string) =>
    createOperatorAudit(dashboard.database).listing.list({ text: about }, { limit: 9 })
  const idsIn = ({ text }: { text: string }) =>
    [...text.matchAll(/href="\/generations\/(gen_\w+)"/g)].map(([, id]) => id)

  it('are served to operators, with values of callers escaped', async () => {
    for (const path of contents.pages) {
      const { status, text, headers } = await browser.get(path)
      expect(status, path).toBe(200)
      expect(withoutOwnScript(text), path).not.toMatch(/<script|<img src=x|>undefined|"undefined|\[object|<style/)
      expect(headers.get('cache-control'), path).toBe('no-store')
      expect(headers.get('content-security-policy'), path).not.toMatch(/script-src (?!'self'$)|unsafe/)
      // Only pages with a button that needs the script may run it.
      expect(headers.get('content-security-policy')?.includes('script-src'), path).toBe(
        / data-(copy|choose|live)="/.test(text),
      )
    }
  })

  it('return a refused form with its values except secrets, and the problem next to the field', async () => {
    const typed = `${HOSTILE} typed ${'x'.repeat(7000)}`
    const tried: string[] = []
    for (const path of contents.pages) {
      const { text } = await browser.get(path)
      const actions = [...text.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action)
      for (const action of actions) {
        const fields = Object.entries(readFormFields(text, action))
        const isTyped = ([name]: [string, string]) => !/^(form|edition|opened|active|view)$/.test(name)
        if (action === '/sign-out' || !fields.some(isTyped)) continue
        const body = Object.fromEntries(fields.map((field) => (isTyped(field) ? [field[0], typed] : field)))
        if (action.startsWith('/second-factor')) continue
        const answer = await browser.post(action, new URLSearchParams(body))
        expect(answer.status, action).toBe(400)
        const own = answer.text.split('<form').find((part) => part.includes(`method="post" action="${action}"`)) ?? ''
        expect(own.slice(0, own.indexOf('</form>')), action).toContain('<!-- kept -->')
        expect(answer.text.match(/ autofocus/g), action).toHaveLength(1)
        expect(answer.text, action).toMatch(/<p class="wrong" id="/)
        expect(withoutOwnScript(answer.text), action).not.toMatch(/<script|<img src=x|must match pattern/)
        for (const [input] of answer.text.matchAll(/<input[^>]* type="password"[^>]*>/g))
          expect(input, action).not.toContain(' value=')
        const shown = Object.entries(readFormFields(answer.text, action)).filter(([, value]) => value === typed)
        expect(shown.map(([name]) => name).length, action).toBeGreaterThan(0)
        tried.push(action)
      }
    }
    expect(tried.length).toBeGreaterThan(10)
    // The address of an action, as a browser has it now, leads to the page.
    const opened = await browser.get(`/accounts/${contents.accountId}/credits?x=1`)
    expect([opened.status, opened.headers.get('location')]).toEqual([303, `/accounts/${contents.accountId}?x=1`])
  })

  it('redirect other visitors to the sign-in, also on unknown paths', async () => {
    const stranger = dashboard.openBrowser()
    for (const path of [...contents.pages, '/nothing', `/accounts/${contents.accountId}/logo`]) {
      const { status, headers, text } = await stranger.get(path)
      expect([status, text], path).toEqual([303, ''])
      expect(headers.get('location'), path).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    }
  })

  it('answer 404 for unknown paths', async () => {
    const lists = ['accounts', 'shops', 'generations', 'webhooks', 'erasures', 'leads', 'removals', 'reviews']
    const broken = lists.map((list) => `/${list}/a%00b`)
    for (const path of ['/nothing', '/accounts/acc_1', '/shops/shop_1', '/generations/gen_1', ...broken]) {
      expect((await browser.get(path)).status, path).toBe(404)
    }
    expect((await browser.get('/webhooks/endpoint_1')).status).toBe(400)
    expect((await browser.get('/accounts?q=%00')).status).toBe(400)
  })

  it('show the queue, failures with their reasons, and usage', async () => {
    const { text } = await browser.get('/')
    expect(text).toMatch(
      /<code>NO_PERSON_DETECTED<\/code><\/a><\/td><td [^>]*><span [^>]*>refused<\/span><\/td><td [^>]*>1[01]</,
    )
    expect(text).toContain('completed')
    expect(text.match(/<rect class="first"/g)?.length).toBeGreaterThan(20)
    const plots = text.split('<figure class="plot">').filter((part) => part.includes('<rect class="first"'))
    expect(plots.length).toBeGreaterThan(1)
    for (const [plot] of plots.map((part) => part.split('</figure>'))) {
      const bars = [...plot.matchAll(/<rect [^>]*>(?:<title>[^<]*: (\d+) [^<]+<\/title>)?/g)].map(([, value]) =>
        Number(value),
      )
      const [, table = ''] = plot.split('<summary>Show as a table</summary>')
      const cells = [...table.matchAll(/<td class="number"[^>]*>([\d,]+)</g)].map(([, value]) =>
        Number(value.replaceAll(',', '')),
      )
      const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
      expect(bars.length).toBeGreaterThan(0)
      expect([sum(bars), bars.length]).toEqual([sum(cells), cells.filter((value) => value > 0).length])
    }
    const account = await browser.get(`/accounts/${contents.accountId}`)
    const [, link = ''] = account.text.match(/href="(\/generations\?[^"]*errorCode=NO_PERSON_DETECTED[^"]*)"/) ?? []
    expect(link).toContain(`account=${contents.accountId}`)
    expect((await browser.get(link.replaceAll('&#38;', '&'))).text).toContain('NO_PERSON_DETECTED</code>')
  })

  it('mark try-ons that wait without a worker, and describe failures in a sentence', async () => {
    const { text } = await browser.get('/')
    expect(text).toContain('Try-ons wait, but no worker accepts jobs.')
    for (const [name, value] of [
      ['Waiting', 3],
      ['Worker slots', 0],
    ])
      expect(text).toContain(`<div class="tile bad"><span>${name}</span><strong>${value}</strong>`)
    const { id } = await createAccounts(dashboard.database).insert({ name: 'Unused', email: null, credits: 0 })
    const unused = (await browser.get(`/accounts/${id}`)).text
    expect(unused).toContain('No generation was accepted in the last 14 days.')
    expect(unused).toContain('No credits were spent in the last 14 days.')
    expect(unused).not.toContain('viewBox="0 0 480')
  })

  it('name accounts, with the end of their id', async () => {
    const { accountId } = contents
    const end = `<code title="${accountId}">acc_…${accountId.slice(-6)}</code>`
    const audited = { action: 'account.update', object: accountId, accountId }
    await createOperatorAudit(dashboard.database).insert({ operator: null, address: null, form: null }, audited)
    for (const path of ['/accounts', '/shops', '/webhooks', '/generations', '/products', '/audit']) {
      const [, cell] = (await browser.get(path)).text.split(end)[0].match(/.*<td[^>]*>(.*)$/s) ?? []
      expect(cell ?? '', path).toContain(path === '/audit' ? '<a href' : 'script&#62;alert(1)')
    }
  })

  it('find generations by id, status, code, account and time', async () => {
    const failed = await browser.get('/generations?status=FAILED&errorCode=PRODUCT_IMAGE_FETCH_FAILED')
    expect(idsIn(failed)).toHaveLength(6)
    expect(idsIn(await browser.get('/generations?status=PENDING'))).toHaveLength(3)
    expect(idsIn(await browser.get('/generations?account=acc_1'))).toEqual([])
    expect(idsIn(await browser.get(`/generations?q=${contents.failedId.slice(-7).toUpperCase()}`))).toEqual([
      contents.failedId,
    ])
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 16)
    const found = idsIn(await browser.get(`/generations?from=${ago(44)}&to=${ago(20)}`))
    expect(found).toHaveLength(3)
    const wrong = await browser.get('/generations?from=2027-99-99T00:00&errorCode=KEPT')
    expect([wrong.status, idsIn(wrong)]).toEqual([400, []])
    expect(wrong.text).toMatch(/name="errorCode"[^>]* value="KEPT"/)
    expect(wrong.text).toContain('<p class="wrong"')
    expect(wrong.text).toContain('Enter a time like 2027-01-31T12:00.')
  })

  it('show an image only for a reason, and audit the view', async () => {
    const page = `/generations/${contents.completedId}`
    expect((await browser.get(page)).text).not.toContain('<img')
    expect((await browser.submit(page, `${page}/image`, { which: 'result' })).status).toBe(400)
    expect(await listAudit(contents.completedId)).toEqual([])
    const shown = await browser.submit(page, `${page}/image`, { reason: 'The customer complains' })
    expect(shown.text).toMatch(/<img class="image" src="data:image\/jpeg;base64,[\w+/]{1000}/)
    expect(await listAudit(contents.completedId)).toMatchObject([
      { action: 'picture.view', operatorEmail: 'ada@example.com', reason: 'The customer complains' },
    ])
  })

  it('create a shop, change it and exchange its secrets', async () => {
    const shops = createShops(dashboard.database)
    const typed = { account: contents.accountId, platform: 'plugin', domain: 'New.example' }
    const made = await browser.submit('/shops/new', '/shops', typed)
    const shop = await shops.findByDomain('new.example')
    expect(made.text).toContain(shop?.secrets[0].secret)
    const page = `/shops/${shop?.id}`
    expect((await browser.get(page)).text).toContain('0 of 1,000')
    await browser.submit(page, page, {
      name: 'New',
      extraDomains: 'www.new.example, NEW.shop.example',
      monthlyGenerations: '9',
      defaultEngine: 'mock',
      isActive: '',
    })
    expect(await shops.findByDomain('new.example')).toMatchObject({
      name: 'New',
      extraDomains: ['www.new.example', 'new.shop.example'],
      monthlyGenerations: 9,
      defaultEngine: 'mock',
      isActive: false,
    })
    expect((await browser.get(page)).text).toContain('<option value="mock" selected>')
    expect((await browser.submit(page, page, { defaultEngine: 'imagen' })).status).toBe(400)
    await browser.submit(page, page, { defaultEngine: '' })
    expect(await shops.findByDomain('new.example')).toMatchObject({ defaultEngine: null })
    expect(await shops.findByDomain('new.example')).toMatchObject({ requiresConsent: false, privacyContact: null })
    expect(await shops.findByDomain('new.example')).toMatchObject({ safetyLevel: null, allowsSwimwear: null })
    await browser.submit(page, page, { safetyLevel: 'strict', allowsSwimwear: 'false' })
    expect(await shops.findByDomain('new.example')).toMatchObject({ safetyLevel: 'strict', allowsSwimwear: false })
    expect((await browser.get(page)).text).toContain('<option value="false" selected>no')
    expect((await browser.submit(page, page, { safetyLevel: 'lax' })).status).toBe(400)
    await browser.submit(page, page, { safetyLevel: '', allowsSwimwear: '' })
    expect(await shops.findByDomain('new.example')).toMatchObject({ safetyLevel: null, allowsSwimwear: null })
    await browser.submit(page, page, { privacyContact: HOSTILE })
    expect(await shops.findByDomain('new.example')).toMatchObject({ requiresConsent: false, privacyContact: HOSTILE })
    expect((await browser.get(page)).text).toContain('neutral-1')
    const publish = (typed: Record<string, string>) => browser.submit(page, `${page}/policies`, typed)
    expect((await publish({ version: '2026-11', en: HOSTILE, de: 'Ja', fr: '' })).status).toBe(303)
    expect(await shops.findByDomain('new.example')).toMatchObject({ requiresConsent: true })
    const { text } = await browser.get(page)
    expect(text).toMatch(/<code>2026-11<\/code>/)
    expect(withoutOwnScript(text)).not.toMatch(/<script|<img src=x/)
    for (const typed of [
      { version: '2', en: '', de: '', es: '', it: '', pl: '', pt: '', ar: '' } as Record<string, string>,
      ...[
        { version: '2026-11', en: 'Another text' },
        { version: 'a b', en: 'Yes' },
      ],
      ...[
        { version: 'neutral-1', en: 'Yes' },
        { version: '3', en: 'x'.repeat(4001) },
        { version: '4', en: 'a\u202eb' },
      ],
    ])
      expect((await publish(typed)).status, JSON.stringify(typed).slice(0, 60)).toBe(400)
    expect(await listAudit(page.slice(7))).toMatchObject([
      { action: 'policy.publish', details: { version: '2026-11', languages: 'en, de, es, it, pl, pt, ar' } },
      ...[{ action: 'shop.update' }, { action: 'shop.update' }],
      ...[{ action: 'shop.update' }, { action: 'shop.update' }, { action: 'shop.update' }, { action: 'shop.create' }],
    ])
    const added = await browser.submit(page, `${page}/secrets`)
    const secrets = (await shops.findByDomain('new.example'))?.secrets.map(({ secret }) => secret) ?? []
    expect(added.text).toContain(secrets[0])
    await browser.submit(page, `${page}/secrets/remove`)
    expect((await shops.findByDomain('new.example'))?.secrets).toMatchObject([{ secret: secrets[0] }])
    expect((await browser.get(page)).text).not.toContain(secrets[0])
    expect((await browser.submit('/shops/new', '/shops', typed)).status).toBe(400)
    expect((await browser.submit('/shops/new', '/shops', { ...typed, account: 'acc_1', domain: 'x.y' })).status).toBe(
      404,
    )
  })

  it('send the token of a shop only to the domain that it was set for', async () => {
    const shops = createShops(dashboard.database)
    const { accountId } = contents
    const [domain, adminToken] = ['token.myshopify.com', 'shpat_secret']
    const { id } = await shops.insert({
      accountId,
      platform: 'shopify',
      domain,
      adminToken,
      adminUrl: 'https://a.example',
    })
    const page = `/shops/${id}`
    const change = async (typed: Record<string, string>) => [
      (await browser.submit(page, page, typed)).status,
      (await shops.findByDomain(domain))?.adminToken,
    ]
    for (const adminUrl of [
      'http://evil.example',
      'http://203.0.113.7',
      'http://127.0.0.1@evil.example',
      'javascript:1',
    ])
      expect(await change({ adminUrl }), adminUrl).toEqual([400, adminToken])
    expect(await change({ name: 'Same address' })).toEqual([303, adminToken])
    expect(await change({ adminUrl: 'https://evil.example' })).toEqual([303, null])
    expect(await listAudit(id)).toMatchObject([{ details: { adminToken: 'removed' } }, {}])
    expect(await change({ adminUrl: 'http://127.0.0.1:99', adminToken: 'shpat_new' })).toEqual([303, 'shpat_new'])
    expect(await change({ adminClientId: 'client-1' })).toEqual([303, null])
    expect((await browser.get(page)).text).toContain('The token is obtained with the client ID.')
    expect((await browser.submit(page, page, { adminClientId: 'a b' })).status).toBe(400)
  })

  it('say since when a platform refuses the token of its shop, until the token or its app changes', async () => {
    const [shop, domain] = [{ platform: 'shopify' as const, adminToken: 'shpat_old' }, 'refused.myshopify.com']
    const { id } = await createShops(dashboard.database).insert({ accountId: contents.accountId, domain, ...shop })
    const page = `/shops/${id}`
    const banner = /The platform has refused the token of this shop since <time/
    expect((await browser.get(page)).text).not.toMatch(banner)
    await dashboard.database.query(sql.unsafe`update shops set admin_refused_at = now() where id = ${id}`)
    expect((await browser.get(page)).text).toMatch(banner)
    await browser.submit(page, page, { name: 'The same token' })
    expect((await browser.get(page)).text).toMatch(banner)
    await browser.submit(page, page, { adminToken: 'shpat_new' })
    expect((await browser.get(page)).text).not.toMatch(banner)
  })

  it('do not overwrite concurrent changes of a shop or an endpoint', async () => {
    const shops = createShops(dashboard.database)
    const webhooks = createWebhooks(dashboard.database)
    const [shop, endpoint] = [`/shops/${contents.shopId}`, `/webhooks/${contents.endpointId}`]
    const [staleShop, staleEndpoint] = [
      readFormFields((await browser.get(shop)).text, shop),
      readFormFields((await browser.get(endpoint)).text, endpoint),
    ]
    const before = await shops.findById(contents.shopId)
    const { url } = await webhooks.get(contents.endpointId)
    expect((await browser.submit(shop, shop, { name: 'By Grace' })).status).toBe(303)
    await webhooks.update(contents.endpointId, { url: 'https://hook.example/grace' })
    const refused = [
      await browser.post(shop, new URLSearchParams({ ...staleShop, name: 'By Ada' })),
      await browser.post(endpoint, new URLSearchParams({ ...staleEndpoint, url: 'https://hook.example/ada' })),
    ]
    expect(refused.map(({ status }) => status)).toEqual([409, 409])
    expect(refused[0].text).toMatch(/ value="By Ada"[^>]*>\s*<p class="wrong" id="[^"]+">Name is now “By Grace”\.</)
    expect(refused[0].text).toContain('You changed the shop in another tab')
    expect(refused[1].text).toMatch(
      / value="https:\/\/hook\.example\/ada"[^>]*>\s*<p class="wrong"[^>]*>URL is now “https:\/\/hook\.example\/grace”\.</,
    )
    expect(refused[1].text).toContain('The endpoint was changed after you opened this page.')
    expect((await shops.findById(contents.shopId))?.name).toBe('By Grace')
    // A secret that came meanwhile is no change of the settings.
    const fresh = readFormFields((await browser.get(endpoint)).text, endpoint)
    await webhooks.addSecret(contents.endpointId, 'whsec_another')
    expect((await browser.post(endpoint, new URLSearchParams({ ...fresh, url }))).status).toBe(303)
    expect((await webhooks.get(contents.endpointId)).url).toBe(url)
    await browser.submit(shop, shop, { name: before?.name ?? '' })
  })

  it('create an endpoint, send it a test, replay a delivery and delete it', async () => {
    const typed = { account: contents.accountId, url: 'https://hook.example/', event: 'credits.low' }
    const made = await browser.submit('/webhooks/new', '/webhooks', typed)
    expect(made.text).toMatch(/whsec_\w+/)
    const page = made.text.match(/href="(\/webhooks\/endpoint_[\w-]+)"/)?.[1] ?? ''
    await browser.submit(page, `${page}/test`)
    const webhooks = createWebhooks(dashboard.database)
    const list = () => webhooks.listDeliveries({ endpointId: page.split('/')[2], failed: false, limit: 9 })
    const [{ id }] = await list()
    await dashboard.database.query(
      sql.unsafe`update webhook_deliveries set status = 'failed', attempts = 8 where id = ${id}`,
    )
    await browser.submit(page, `${page}/deliveries/retry`, { id: String(id) })
    expect(await list()).toMatchObject([{ id, status: 'waiting', attempts: 0 }])
    await browser.submit(page, `${page}/delete`)
    expect((await browser.get(page)).status).toBe(400)
    expect((await listAudit(page.split('/')[2])).map(({ action }) => action)).toEqual([
      'webhook.delete',
      'webhook.replay',
      'webhook.test',
      'webhook.create',
    ])
    for (const url of ['http://10.0.0.1/', 'ftp://hook.example/', 'https://hook.example:22/']) {
      expect((await browser.submit('/webhooks/new', '/webhooks', { ...typed, url })).status, url).toBe(400)
    }
  })

  it('have an append-only audit log', async () => {
    for (const statement of [
      sql.unsafe`update operator_audit set reason = 'none'`,
      sql.unsafe`delete from operator_audit`,
      sql.unsafe`truncate operator_audit`,
    ]) {
      await expect(dashboard.database.query(statement)).rejects.toThrow('only ever added to')
    }
  })
})

describe('the pages of a new installation', () => {
  let dashboard: TestDashboard
  beforeAll(async () => {
    dashboard = await startDashboard()
  })
  afterAll(() => dashboard.stop())

  it.each([
    ['/audit', 'The log fills with the first sign-in'],
    ['/reviews', 'A review appears when an account or a shopper appeals a refusal'],
    ['/removals', 'Link to <code>/removal</code> of the API from your website'],
    ['/blocks', 'To block one, decide “block” on an appeal in <a href="/reviews">Reviews</a>'],
    ['/leads', 'A row appears when the widget of a <a href="/shops">shop</a> asks for addresses'],
  ])('say what fills the empty list: %s', async (path, words) => {
    const { text } = await (await dashboard.signIn()).get(path)
    expect(text.match(/<p class="empty">(.*?)<\/p>/s)?.[1]).toContain(words)
  })
})
