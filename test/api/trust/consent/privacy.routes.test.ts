import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { createConsents } from '../../../../api/consents/consents.store.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { browserReason, startBrowser } from '../../../support/browser.ts'
import { startDrape } from '../../../support/drape.ts'
import { inspectLooks } from '../../../support/page-looks.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='a()'>&amp;`

if (browserReason) console.warn(`The looks of the privacy page are skipped: ${browserReason}`)

describe('the privacy page of a shop', async () => {
  const drape = await startDrape({
    env: {
      SERVICE_NAME: 'Fit',
      PRIVACY_PROCESSOR: 'Fit & Co, Example Street 1',
      PROXY_HOPS: '1',
      LEAD_RETENTION_DAYS: '31',
      EVENT_RETENTION_DAYS: '33',
      ANALYTICS_URL: 'http://127.0.0.1:9/batch',
      ANALYTICS_KEY: 'none',
    },
    defaultEngines: true,
  })
  const shop = await createDevelopmentShop(drape, 'linen.test', { requiresConsent: true })
  afterAll(() => drape.stop())

  let visitors = 0
  const open = (id: string, headers: Record<string, string> = {}, query = '') =>
    drape.call('GET', `/privacy/${id}${query}`, {
      key: null,
      headers: { 'x-forwarded-for': `203.0.113.${visitors++ % 250}`, ...headers },
    })

  it('shows the current settings', async () => {
    const { body: before, headers } = await open(shop.id)
    for (const text of [
      ...['The Test Shop', 'linen.test', 'Fit &#38; Co, Example Street 1', 'Software: warp', 'without generative AI'],
      ...['Your photo is stored for 7 days, then deleted', 'Images of you are stored for 7 days, then deleted'],
      ...['stored for up to 31 days', 'is stored for 33 days', 'also go to 127.0.0.1:9', 'Version neutral-1'],
    ])
      expect(before).toContain(text)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; img-src data:; style-src 'sha256-[^']+';/,
    )
    expect(headers.get('cache-control')).toBe('no-cache')
    await createAccounts(drape.database).update(drape.accountId, { retentionDays: 30, settings: { resultDays: 1 } })
    await createShops(drape.database).update(shop.id, { privacyContact: 'privacy@linen.test', defaultEngine: 'mock' })
    const { body: after } = await open(shop.id)
    expect(after).toContain('Your photo is stored for 30 days, then deleted')
    expect(after).toContain('Images of you are stored for 1 day, then deleted')
    expect(after).toContain('<a href="mailto:privacy@linen.test">')
    expect(after).toContain('the image is your photo, unchanged')
    await createShops(drape.database).update(shop.id, { defaultEngine: null })
  })

  it('says which checks the safety level of the shop runs, and what a refusal stores', async () => {
    const levels = { account: createAccounts(drape.database), shop: createShops(drape.database) }
    const texts = {
      checks: 'How images are checked',
      strict: 'estimate from the face',
      refusals: 'hashes of its images',
    }
    const shown = async () => {
      const { body } = await open(shop.id)
      return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, body.includes(text)]))
    }
    expect(await shown()).toEqual({ checks: false, strict: false, refusals: false })
    await levels.account.update(drape.accountId, { settings: { safetyLevel: 'strict' } })
    expect(await shown()).toEqual({ checks: true, strict: true, refusals: true })
    await levels.shop.update(shop.id, { safetyLevel: 'standard' })
    expect(await shown()).toEqual({ checks: true, strict: false, refusals: true })
    await levels.shop.update(shop.id, { safetyLevel: null })
    await levels.account.update(drape.accountId, { settings: { safetyLevel: 'off' } })
  })

  it('leads people who are no customers to the page of removal requests', async () => {
    expect((await open(shop.id)).body).toContain(
      '<a href="/removal?lang=en">Did someone else have an image of you made?',
    )
  })

  it('uses the language of the visitor, and the closest language of the policy', async () => {
    expect((await open(shop.id, { 'accept-language': 'de-CH, en;q=0.5' })).body).toMatch(
      /<html lang="de">.*Datenschutz/s,
    )
    expect((await open(shop.id, { 'accept-language': 'de' }, '?lang=es')).body).toContain('Privacidad en el probador')
    const { body } = await open(shop.id, { 'accept-language': 'nl' })
    expect(body).toMatch(/<html lang="en">/)
  })

  it('escapes every text', async () => {
    const name = { accountId: drape.accountId, policy: 'hostile.test' }
    const hostile = await createDevelopmentShop(drape, 'hostile.test', { requiresConsent: true })
    const texts = { en: HOSTILE.repeat(60) }
    await createConsents(drape.database).publish(name, { version: '1', texts })
    for (const privacyContact of [HOSTILE, 'javascript:alert(1)', 'a@b"onmouseover=x', 'https://x.test/"><script>'])
      for (const shopName of [HOSTILE, '\u202eevil']) {
        await createShops(drape.database).update(hostile.id, { privacyContact, name: shopName })
        expect((await open(hostile.id)).body).not.toMatch(/<script|<img src=x|<[^>]* on\w+=|href="javascript/)
      }
  })

  it('is found only by the ID of the shop, even if the shop is inactive', async () => {
    for (const id of ['linen.test', 'shop_none', 'x'.repeat(2000), '%00']) expect((await open(id)).status, id).toBe(404)
    expect((await open('shop_none')).body).toContain('The page does not exist')
    const ended = await createDevelopmentShop(drape, 'ended.test')
    await createShops(drape.database).update(ended.id, { isActive: false })
    const { status, body } = await open(ended.id)
    expect(status).toBe(200)
    // It asks for no consent, so there is none to withdraw.
    expect(body).toContain('To have your data deleted, contact the shop.')
    expect(body).not.toContain('neutral-1')
  })

  it.skipIf(browserReason)('is accessible in large and small viewports, light and dark', async () => {
    await using browser = await startBrowser()
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    for (const language of ['en', 'de']) {
      await page.goto(`${drape.api.url}/privacy/${shop.id}?lang=${language}`)
      expect(await inspectLooks(page, { name: `privacy-${language}` })).toEqual([])
      const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      expect(await page.evaluate(overflow)).toBe(false)
    }
    expect(complaints).toEqual([])
  })
})
