import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createSafetyReviews } from '../../api/trust/appeals/safety-reviews.store.ts'
import { browserReason } from '../support/browser.ts'
import { mistakenShapes } from '../support/mistaken-shapes.ts'
import { until } from '../support/until.ts'
import { type Storefront, startStorefront } from './storefront.ts'
import { createWidgetPage, type WidgetPage } from './widget-page.ts'

if (browserReason) console.warn(`The appeal of a shopper in a browser is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`a refused try-on${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let front: Storefront
  let page: Page
  let widget: WidgetPage
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-refused-'))
    await writeFile(join(folder, 'shapes.png'), await mistakenShapes())
    front = await startStorefront()
    await createAccounts(front.drape.database).update(front.drape.accountId, { settings: { safetyLevel: 'standard' } })
    page = await front.openPage()
    widget = createWidgetPage(page)
  })
  afterAll(async () => {
    await front?.stop()
    await rm(folder, { recursive: true })
  })

  it('has a link to the page on which the shopper asks for a review, in the language of the shop', async () => {
    await page.goto(`${front.shop.url}/products/101?lang=de`)
    await widget.arrive()
    await widget.click('Anprobieren')
    await widget.choose(join(folder, 'shapes.png'))
    await widget.reach('Dein Foto')
    await widget.start()
    expect(await widget.fail()).toContain('zu viel Haut')
    const href = String(await widget.evaluate(`return root.querySelector('[part=appeal]')?.href`))
    expect(href).toMatch(/\/appeal\/[\w.-]+\?lang=de$/)
    await page.goto(href)
    const seen = () => page.$eval('main', (main) => main.textContent ?? '')
    expect(await seen()).toContain('Es scheint Nacktheit zu zeigen. (NUDITY_DETECTED)')
    await page.type('textarea', 'Das sind Ellipsen.')
    await page.click('button')
    await until(async () => (await seen().catch(() => '')).includes('Deine Bitte ist angekommen'))
    expect(await createSafetyReviews(front.drape.database).listing.list({}, { limit: 9 })).toMatchObject([
      { state: 'OPEN', byShopper: true, reason: 'Das sind Ellipsen.', shopId: front.shopId },
    ])
  })
})
