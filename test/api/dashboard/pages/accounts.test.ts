import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../../api/accounts/api-keys.store.ts'
import { createOperatorAudit } from '../../../../api/dashboard/operator-audit.store.ts'
import { createOperators } from '../../../../api/dashboard/sign-in/operators.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { hashQuickly, readFormFields, startDashboard, withoutOwnScript } from '../../../support/dashboard.ts'
import { readSample } from '../../../support/drape.ts'
import { until } from '../../../support/until.ts'

describe('accounts in the dashboard', async () => {
  const dashboard = await startDashboard({ publicUrl: 'https://try.example' })
  const browser = await dashboard.signIn()
  afterAll(() => dashboard.stop())

  const accounts = () => createAccounts(dashboard.database)
  const keys = () => createApiKeys(dashboard.database)
  const insert = async (name = 'Shop & Co', credits = 0) => (await accounts().insert({ name, email: null, credits })).id
  const listAudit = (about: string) =>
    createOperatorAudit(dashboard.database).listing.list({ text: about }, { limit: 9 })

  it('are created with keys that are shown once', async () => {
    const typed = { name: 'New', email: 'new@example.com', credits: '5', retentionDays: '3', readsPerMinute: '7' }
    const { text, headers } = await browser.submit('/accounts/new', '/accounts', typed)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*; script-src 'self'$/)
    const [secret] = text.match(/sk_\w+/) ?? []
    expect(text).toContain(`curl https://try.example/tryon/v1/account -H &#34;x-api-key: ${secret}&#34;`)
    for (const path of ['/guide/start/api', '/playground']) expect(text).toContain(`href="https://try.example${path}"`)
    const account = (await keys().find(secret ?? '', 'secret'))?.account
    expect(account).toMatchObject({ name: 'New', balance: 5, retentionDays: 3, settings: { readsPerMinute: 7 } })
    expect((await browser.get(`/accounts/${account?.id}`)).text).not.toContain(secret)
    expect(await listAudit(account?.id ?? '')).toMatchObject([
      { action: 'account.create', operatorEmail: 'ada@example.com', details: { credits: 5 }, address: '127.0.0.1' },
    ])
  })

  it('name an invalid field, and change nothing', async () => {
    const id = await insert()
    const answer = await browser.submit(`/accounts/${id}`, `/accounts/${id}`, { name: '', readsPerMinute: 'many' })
    expect(answer.status).toBe(400)
    const [, first = '', field = ''] = answer.text.match(/<a href="#([^"]+)">Name: ([^<]+)</) ?? []
    expect(field).toBe('Enter a value.')
    expect(answer.text).toContain('There are 2 problems.')
    expect(answer.text).toContain(`<input id="${first}" autofocus name="name"`)
    expect(answer.text).toMatch(
      /name="readsPerMinute"[^>]* value="many"[^>]* aria-invalid="true" aria-describedby="(\S+)-wrong \1-hint">\s*<p class="wrong" id="\1-wrong">Enter a whole number from 1 to 1000000000\.</,
    )
    expect(answer.text.match(/ autofocus/g)).toHaveLength(1)
    expect(await accounts().find(id)).toMatchObject({ name: 'Shop & Co', settings: {} })
    expect(await listAudit(id)).toEqual([])
  })

  it('have limits that can be set and removed', async () => {
    const id = await insert()
    const page = `/accounts/${id}`
    const { text } = await browser.get(page)
    const applying = ['writesPerMinute', 'readsPerMinute', 'failedGenerationsPerHour', 'storageMegabytes'].map(
      (name) => new RegExp(`name="${name}"[\\s\\S]*?Empty: (.+?)\\.</p>`).exec(text)?.[1],
    )
    expect(applying).toEqual(['100', '6000', '200', '102400'])
    await browser.submit(page, page, { monthlyGenerations: '100', creditsLowAt: '0', retentionDays: '1' })
    expect(await accounts().find(id)).toMatchObject({
      retentionDays: 1,
      settings: { monthlyGenerations: 100, creditsLowAt: 0 },
    })
    await browser.submit(page, page, { retentionDays: '45', resultDays: '90' })
    expect(await accounts().find(id)).toMatchObject({ retentionDays: 45, settings: { resultDays: 90 } })
    await browser.submit(page, page, { defaultEngine: 'fashn-vton' })
    expect((await accounts().find(id))?.settings.defaultEngine).toBe('fashn-vton')
    expect((await browser.get(page)).text).toContain('<option value="fashn-vton" selected>')
    expect(await browser.submit(page, page, { defaultEngine: 'imagen' })).toMatchObject({
      status: 400,
      text: expect.stringMatching(/defaultEngine.*warp.*fashn-vton.*mock/s),
    })
    await dashboard.database.query(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots) values ('shop', 'studio', 'Apache-2.0', 1)`)
    await until(async () => {
      await browser.submit(page, page, { defaultEngine: 'studio' })
      return (await accounts().find(id))?.settings.defaultEngine === 'studio'
    })
    await dashboard.database.query(sql.unsafe`delete from published_engines`)
    expect((await browser.get(page)).text).toContain('<option value="studio" selected>')
    await browser.submit(page, page, {
      fallbackEngines: 'fashn-vton, warp',
      fallbackAfterSeconds: '30',
      minQualityPercent: '40',
      serviceClass: 'premium',
    })
    expect((await accounts().find(id))?.settings).toMatchObject({
      fallbackEngines: ['fashn-vton', 'warp'],
      fallbackAfterSeconds: 30,
      minQualityPercent: 40,
      serviceClass: 'premium',
    })
    expect((await browser.get(page)).text).toContain('value="fashn-vton, warp"')
    expect((await browser.submit(page, page, { fallbackEngines: 'warp, imagen' })).status).toBe(400)
    await browser.submit(page, page, { safetyLevel: 'strict', allowsSwimwear: 'true' })
    expect((await accounts().find(id))?.settings).toMatchObject({ safetyLevel: 'strict', allowsSwimwear: true })
    expect((await browser.get(page)).text).toContain('<option value="strict" selected>')
    expect((await browser.submit(page, page, { safetyLevel: 'lax' })).status).toBe(400)
    await browser.submit(page, page, { safetyLevel: '', allowsSwimwear: '', serviceClass: '' })
    await browser.submit(page, page, { fallbackEngines: '', fallbackAfterSeconds: '', minQualityPercent: '' })
    await browser.submit(page, page, { monthlyGenerations: '', resultDays: '', defaultEngine: '' })
    expect((await accounts().find(id))?.settings).toEqual({ creditsLowAt: 0, allowsSwimwear: false })
  })

  it('get credits with a reason, only once for a form that is sent twice', async () => {
    const id = await insert('Topped up', 1)
    const { text } = await browser.get(`/accounts/${id}`)
    const form = new URLSearchParams({
      ...readFormFields(text, `/accounts/${id}/credits`),
      credits: '10',
      reason: 'A <i>gift</i>',
    })
    const answers = await Promise.all([1, 2, 3].map(() => browser.post(`/accounts/${id}/credits`, form)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409])
    for (const { text: said } of answers.filter(({ status }) => status === 409)) {
      expect(said).toContain('<p>The balance was changed.</p>')
      expect(said).toContain('The action ran once')
      expect(said).toContain(`<a class="button" href="/accounts/${id}">`)
    }
    expect((await accounts().find(id))?.balance).toBe(11)
    expect(await accounts().findLedgerGaps()).toEqual([])
    const ledger = await browser.get(`/accounts/${id}/ledger`)
    expect(ledger.text).toContain('+10')
    expect(ledger.text).not.toContain('<i>')
    expect(await listAudit(id)).toMatchObject([{ action: 'credits.add', reason: 'A <i>gift</i>' }])
    const without = await browser.submit(`/accounts/${id}`, `/accounts/${id}/credits`, { credits: '10' })
    expect(without.status).toBe(400)
  })

  it('have a balance that a negative number corrects, but no other notation of a number', async () => {
    const id = await insert('Corrected', 1000)
    const change = (credits: string) =>
      browser.submit(`/accounts/${id}`, `/accounts/${id}/credits`, { credits, reason: 'A typing error' })
    for (const credits of ['1e3', '0x10', '1.0', '+5', '0', '-1001']) expect((await change(credits)).status).toBe(400)
    const { headers } = await change('-990')
    expect((await browser.get(headers.get('location') ?? '')).text).toContain('The new balance is 10 credits.')
    expect((await browser.get(`/accounts/${id}/ledger`)).text).toMatch(/correction[\s\S]*-990/)
    expect(await accounts().findLedgerGaps()).toEqual([])
    const details = { credits: -990, balance: 10 }
    expect(await listAudit(id)).toMatchObject([{ action: 'credits.add', reason: 'A typing error', details }])
  })

  it('have a ledger with pages that list each entry once', async () => {
    const id = await insert()
    for (let credits = 1; credits <= 60; credits++) await accounts().addCredits({ accountId: id, credits, note: null })
    const seen: string[] = []
    let path: string | undefined = `/accounts/${id}/ledger`
    while (path !== undefined) {
      const { text } = await browser.get(path)
      seen.push(...[...text.matchAll(/\+(\d+)</g)].map(([, amount]) => amount))
      const next: string | undefined = text.match(/href="(\?[^"]*)">Next/)?.[1]
      path = next && `/accounts/${id}/ledger${next}`
    }
    expect(seen.map(Number)).toEqual(Array.from({ length: 60 }, (_, i) => 60 - i))
    // The balance after each entry, also on later pages.
    const { text, headers } = await browser.get(`/accounts/${id}/ledger.csv`)
    expect(headers.get('content-disposition')).toContain(`accounts-${id}-ledger.csv`)
    const balances = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => Number(line.split(',')[3]))
    expect(balances).toEqual(Array.from({ length: 60 }, (_, i) => ((60 - i) * (61 - i)) / 2))
    expect((await browser.get(path ?? `/accounts/${id}/ledger?page=1`)).text).toContain('>1,830<')
  })

  it('are not overwritten by an operator who has not seen what another one changed', async () => {
    const email = 'grace@example.com'
    const passwordHash = hashQuickly('another long password')
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash, role: 'admin' })
    const other = await dashboard.signIn(email)
    const id = await insert('Before')
    const page = `/accounts/${id}`
    const stale = readFormFields((await browser.get(page)).text, page)
    expect((await other.submit(page, page, { name: 'By Grace' })).status).toBe(303)
    const refused = await browser.post(page, new URLSearchParams({ ...stale, name: 'By Ada' }))
    expect(refused.status).toBe(409)
    expect(refused.text).toMatch(
      /grace@example\.com changed the account at [\d:]{8} \(UTC\), after you opened this page/,
    )
    expect(refused.text).toMatch(/name="name"[^>]* value="By Ada"[^>]* aria-invalid="true"/)
    expect(refused.text).toContain('Name is now “By Grace”.')
    expect((await accounts().find(id))?.name).toBe('By Grace')
    expect((await listAudit(id)).map(({ operatorEmail }) => operatorEmail)).toEqual([email])
    // The form knows the current settings now, so that it may be sent again.
    const shown = readFormFields(refused.text, page)
    expect((await browser.post(page, new URLSearchParams(shown))).status).toBe(303)
    expect((await accounts().find(id))?.name).toBe('By Ada')
    // Credits spent in the meantime are not a conflicting change.
    const fresh = readFormFields((await browser.get(page)).text, page)
    await accounts().addCredits({ accountId: id, credits: 1, note: null })
    expect((await browser.post(page, new URLSearchParams({ ...fresh, name: 'By Ada' }))).status).toBe(303)
  })

  it('report a change of the same operator in another tab, also after an invalid form', async () => {
    const id = await insert('Before')
    const page = `/accounts/${id}`
    const stale = readFormFields((await browser.get(page)).text, page)
    expect((await browser.submit(page, page, { name: 'In one tab' })).status).toBe(303)
    const mistaken = await browser.post(page, new URLSearchParams({ ...stale, email: 'none', name: 'In another' }))
    expect(mistaken.text).toContain('>Enter an e-mail address such as ada@shop.example.<')
    // The form still has the edition that the operator saw: a corrected mistake overwrites nothing unseen.
    const corrected = { ...readFormFields(mistaken.text, page), email: '' }
    const refused = await browser.post(page, new URLSearchParams(corrected))
    expect([refused.status, (await accounts().find(id))?.name]).toEqual([409, 'In one tab'])
    expect(refused.text).toMatch(/You changed the account in another tab at/)
    const timeless = await browser.submit(page, page, { edition: 'another', opened: 'x', name: 'Timeless' })
    expect(timeless.text).toContain('The account was changed after you opened this page.')
  })

  it('are deactivated, and their keys with them', async () => {
    const { id, apiKey } = await accounts().insert({ name: 'Ends', email: null, credits: 0 })
    await browser.submit(`/accounts/${id}`, `/accounts/${id}/active`, { reason: 'did not pay' })
    expect(await keys().find(apiKey, 'secret')).toBeNull()
    await browser.submit(`/accounts/${id}`, `/accounts/${id}/active`)
    expect(await keys().find(apiKey, 'secret')).not.toBeNull()
    expect((await listAudit(id)).map(({ action, reason }) => [action, reason])).toEqual([
      ['account.activate', null],
      ['account.deactivate', 'did not pay'],
    ])
  })

  it('have keys that are created, replaced and revoked', async () => {
    const id = await insert()
    const find = async (key = '') => (await keys().find(key, 'publishable'))?.account ?? null
    const keyIn = ({ text }: { text: string }) => text.match(/pk_\w+/)?.[0]
    const page = `/accounts/${id}`
    const first = keyIn(await browser.submit(page, `${page}/keys`, { kind: 'publishable', name: 'Shop <b>window</b>' }))
    expect((await find(first))?.id).toBe(id)
    const keyId = async () => (await browser.get(page)).text.match(/keys\/(key_[\w-]+)\/rotate/)?.[1]
    const listed = await browser.get(page)
    expect(listed.text).toContain('Shop &#60;b&#62;window&#60;/b&#62;')
    expect(listed.text).toContain(`<code>pk_…${first?.slice(-4)}</code>`)
    expect(listed.text).toContain('First secret key')
    const second = keyIn(await browser.submit(page, `${page}/keys/${await keyId()}/rotate`))
    expect(await keys().list(id)).toContainEqual(
      expect.objectContaining({ name: 'Shop <b>window</b>', lastFour: second?.slice(-4), revokedAt: null }),
    )
    expect([await find(first), (await find(second))?.id]).toEqual([null, id])
    const revoked = await keyId()
    const again = readFormFields((await browser.get(page)).text, `${page}/keys/${revoked}/revoke`)
    expect((await browser.submit(page, `${page}/keys/${revoked}/revoke`)).status).toBe(303)
    expect(await find(second)).toBeNull()
    const sent = () => browser.post(`${page}/keys/${revoked}/revoke`, new URLSearchParams(again))
    // The page no longer has the form, so the page shows the message.
    expect(await sent()).toMatchObject({ status: 400, text: expect.stringContaining('has no active key') })
    expect((await browser.submit(page, `${page}/keys`, { kind: 'secret' })).text).toContain('>Enter a value.<')
  })

  it('have a logo that is shown and removed', async () => {
    const id = await insert()
    const page = `/accounts/${id}`
    const image = new Blob([new Uint8Array(await readSample('garments/tshirt-mustard.jpg'))])
    expect((await browser.submit(page, `${page}/logo`, { logo: image })).status).toBe(303)
    const shown = await browser.get(`${page}/logo`)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect((await browser.submit(page, `${page}/logo`, { logo: new Blob(['no image']) })).status).toBe(400)
    await browser.submit(page, `${page}/logo/remove`)
    expect((await browser.get(`${page}/logo`)).status).toBe(404)
    expect((await listAudit(id)).map(({ action }) => action)).toEqual(['logo.remove', 'logo.set'])
  })

  it('escape names', async () => {
    const id = await insert(`"><script>alert(1)</script><img src=x onerror=alert(2)>'`)
    for (const path of ['/accounts', `/accounts/${id}`, `/accounts/${id}/ledger`, '/accounts?q=<script>alert(3)']) {
      const { text, headers } = await browser.get(path)
      expect(withoutOwnScript(text), path).not.toMatch(/<script|<img src=x/)
      expect(headers.get('content-security-policy'), path).toMatch(/^default-src 'none'; style-src 'self';/)
    }
  })
})
