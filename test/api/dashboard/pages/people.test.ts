import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { createOperatorAudit } from '../../../../api/dashboard/operator-audit.store.ts'
import { createOperators } from '../../../../api/dashboard/sign-in/operators.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createEvents } from '../../../../api/storefront/events/events.store.ts'
import { createLeadOutbox } from '../../../../api/storefront/leads/lead-outbox.store.ts'
import { insertPhoto } from '../../../../scripts/benchmarks/sample-data.ts'
import { readFormFields, startDashboard } from '../../../support/dashboard.ts'
import { fillDashboard } from '../../../support/dashboard-contents.ts'

describe('a person in the dashboard', async () => {
  /** The customer 4711 of the shop's platform. */
  const dashboard = await startDashboard()
  const browser = await dashboard.signIn()
  const contents = await fillDashboard(dashboard, 'The Linen House')
  const { accountId, shopId, completedId } = contents
  const generationId = completedId
  const shopper = `${shopId}:customer:4711`
  const photoId = await insertPhoto(dashboard.database, { accountId, expiresInHours: 1 })
  await dashboard.database.query(sql.unsafe`update images set external_user_id = ${shopper} where id = ${photoId}`)
  await dashboard.database.query(sql.unsafe`
    update generations set external_user_id = ${shopper}, photo_user_id = ${shopper} where id = ${generationId}`)
  const lead = { shopId, externalUserId: shopper, email: 'anna@example.com', marketingConsent: true }
  await createLeadOutbox(dashboard.database).insert(lead)
  await dashboard.database.query(sql.unsafe`
    insert into consents (shop_id, visitor, version, language)
    values (${shopId}, customer_hash(${accountId}, ${shopper}), '2026-11', 'en')`)
  await createEvents(dashboard.database).makePartitions(new Date(), 1)
  await dashboard.database.query(sql.unsafe`
    with batches as (
      insert into event_batches (received_on, id, account_id, shop_id, anonymous_id, customer_signed, context, received_at)
      select (created_at at time zone 'UTC')::date, no, ${accountId}, ${shopId}, browser, false, '{}', created_at
      from generations, (values (1, 'anon_own'), (2, 'anon_other')) as seen (no, browser) where generations.id = ${generationId}
      returning received_on, id, received_at
    )
    insert into events (received_on, batch_id, name, insert_id, generation_id, properties, happened_at)
    select received_on, id, 'widget:result_view', id::text, case id when 1 then ${generationId} end, '{}', received_at
    from batches`)
  afterAll(() => dashboard.stop())

  const open = async (query: Record<string, string>) =>
    (await browser.get(`/people?${new URLSearchParams(query)}`)).text
  const pageOf = (person: string, account = contents.accountId) => `/people?${new URLSearchParams({ account, person })}`

  it('is found by each of the IDs and by the e-mail address, and by no others', async () => {
    for (const q of [shopper, '4711', photoId, generationId, 'Anna@example.com']) {
      const text = await open({ q })
      expect(text, q).toContain('<h1>Person</h1>')
      expect(text, q).toContain(`title="${q === '4711' ? q : shopper}"`)
      expect(text, q).toContain('<dt>Generations</dt><dd>1</dd>')
      expect(text, q).toContain('<dt>Photos</dt><dd>1</dd>')
      expect(text, q).toContain('<dt>Consents</dt><dd>1</dd>')
      expect(text.replace(`value="${q}"`, '').replaceAll(encodeURIComponent(q), ''), q).not.toMatch(/anna@/i)
    }
    for (const q of ['471', '%', 'acc_1', "' or true --", 'gen_', `${shopper} `.repeat(9)])
      expect(await open({ q }), q).not.toContain('<h1>Person</h1>')
    expect((await browser.get(`/people?q=${'x'.repeat(501)}`)).status).toBe(400)
  })

  it('leads to the browser whose events name a generation of theirs, and to no other', async () => {
    const text = await open({ q: generationId })
    expect(text).toContain('<dt>Events</dt><dd>0</dd>')
    const [, links = ''] = /<dt>Also known as<\/dt><dd>(.*?)<\/dd>/s.exec(text) ?? []
    const hrefs = [...links.matchAll(/href="([^"]+)"/g)].map(([, href]) => href.replaceAll('&#38;', '&'))
    expect(hrefs).toEqual([pageOf('anon_own').slice('/people'.length)])
    expect((await browser.get(`/people${hrefs[0]}`)).text).toContain('<dt>Events</dt><dd>1</dd>')
  })

  it('of several accounts is listed for each, and only the chosen one is shown', async () => {
    const { id } = await createAccounts(dashboard.database).insert({ name: 'Other', email: null, credits: 0 })
    const other = await insertPhoto(dashboard.database, { accountId: id, expiresInHours: 1 })
    await dashboard.database.query(sql.unsafe`update images set external_user_id = '4711' where id = ${other}`)
    const text = await open({ q: '4711' })
    expect(text).toContain('<h1>People</h1>')
    const links = [...text.matchAll(/<a href="(\?account=[^"]+)">/g)].map(([, link]) => link.replaceAll('&#38;', '&'))
    expect(links).toHaveLength(2)
    const shown = await Promise.all(links.map(async (link) => (await browser.get(`/people${link}`)).text))
    expect(shown.filter((page) => page.includes('<dt>Generations</dt><dd>0</dd>'))).toHaveLength(1)
  })

  it('is exported for a reason, without a name in the audit log', async () => {
    const page = pageOf(shopper)
    expect((await browser.submit(page, '/people/export', { reason: '' })).text).toContain(`value="${shopper}"`)
    const { text, headers } = await browser.submit(page, '/people/export', { reason: 'Asked by letter' })
    expect(headers.get('content-disposition')).toContain('person.json')
    expect(JSON.parse(text)).toMatchObject({
      id: shopper,
      photos: [{ id: photoId, imageUrl: expect.stringMatching(/^http/) }],
      generations: [{ id: generationId }],
      leads: [{ email: 'anna@example.com' }],
      consents: [{ version: '2026-11' }],
    })
    const entries = await createOperatorAudit(dashboard.database).listing.list({ text: 'person.export' }, { limit: 9 })
    expect(entries).toMatchObject([{ accountId: contents.accountId, reason: 'Asked by letter', object: null }])
    expect(JSON.stringify(entries)).not.toMatch(/4711|anna/)
  })

  it('is erased once, with a receipt to follow, and nothing of other accounts', async () => {
    const fields = readFormFields((await browser.get(pageOf('4711'))).text, '/people/erase')
    const send = (account: string) =>
      browser.post('/people/erase', new URLSearchParams({ ...fields, account, reason: 'Asked by letter' }))
    expect((await send('acc_unknown')).status).toBe(404)
    const [done, again] = [await send(contents.accountId), await send(contents.accountId)]
    expect([done.status, again.status]).toEqual([303, 409])
    const receipt = await browser.get(done.headers.get('location') ?? '')
    expect(receipt.text).toContain('waits for workers')
    const file = await browser.get(`${done.headers.get('location')}/receipt`)
    expect(JSON.parse(file.text)).toMatchObject({ status: 'PENDING', waitsFor: 'workers' })
    expect((await browser.get('/erasures')).text).toContain(`href="${done.headers.get('location')}"`)
    expect((await browser.get('/erasures/era_1')).status).toBe(404)
    for (const q of [shopper, photoId, generationId, 'anna@example.com'])
      expect(await open({ q }), q).toContain('Nobody has data under')
    expect(await open({ q: '4711' })).toContain('>Other<')
    const entries = await createOperatorAudit(dashboard.database).listing.list({ text: 'person.erase' }, { limit: 9 })
    expect(entries).toHaveLength(1)
    expect(JSON.stringify(entries)).not.toContain('4711')
  })

  it('is shown to no viewer', async () => {
    const email = 'victor@example.com'
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash: '', role: 'viewer' })
    const viewer = await dashboard.signIn(email)
    expect((await viewer.get('/people?q=4711')).status).toBe(403)
    expect((await viewer.get('/erasures')).text).not.toContain('href="/people"')
  })
})
