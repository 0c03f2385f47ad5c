import type { Browser, KeyInput, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { createOperators } from '../api/dashboard/sign-in/operators.store.ts'
import { codeAt } from '../api/dashboard/sign-in/totp.ts'
import { sql } from '../api/shared/database/database.ts'
import { browserReason, startBrowser } from './support/browser.ts'
import { OPERATOR, startDashboard, type TestDashboard } from './support/dashboard.ts'
import { type DashboardContents, fillDashboard, fillQueues } from './support/dashboard-contents.ts'
import { inspectLooks, SIZES } from './support/page-looks.ts'

if (browserReason) console.warn(`The walk through the dashboard is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`an operator in a browser${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let dashboard: TestDashboard
  let contents: DashboardContents
  /** Every page that has a URL. */
  let pages: readonly string[]
  /** Replacements of IDs in the names of screenshots. */
  let words: Readonly<Record<string, string>>
  let browser: Browser
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    dashboard = await startDashboard({ stopping: undefined })
    contents = await fillDashboard(dashboard, 'The Linen House')
    const queues = await fillQueues(dashboard.database, contents)
    pages = [...contents.pages, ...queues.pages]
    const { accountId, shopId, endpointId, completedId, failedId } = contents
    words = {
      [accountId]: 'one',
      [shopId]: 'one',
      [endpointId]: 'one',
      [completedId]: 'completed',
      [failedId]: 'failed',
      [queues.openReview]: 'open',
      [queues.decidedReview]: 'decided',
    }
    browser = await startBrowser()
    page = await browser.newPage()
    await page.setViewport(SIZES.desktop)
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
  })
  afterAll(async () => {
    await browser?.close()
    await dashboard?.stop()
  })

  /** A page of another browser profile in which this operator is signed in. */
  const openProfile = async ({ signIn }: TestDashboard, email?: string) => {
    const [profile, { cookie }] = await Promise.all([browser.createBrowserContext(), signIn(email)])
    const [name, value] = cookie.split('=')
    await profile.setCookie({ name, value, domain: '127.0.0.1', path: '/', sameSite: 'Strict' })
    const opened = await profile.newPage()
    await opened.setViewport(SIZES.desktop)
    return opened
  }
  const open = (path: string) => page.goto(`${dashboard.url}${path}`)
  /** A browser moves the focus to a field of a new page only after the page has loaded. */
  const focused = () =>
    page.evaluate(
      `(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()`,
    ) as Promise<string>
  /** Presses Tab until an element with this name has the focus. */
  const tabTo = async (name: string) => {
    const passed: string[] = []
    for (let i = 0; i < 150; i++) {
      await page.keyboard.press('Tab')
      const reached = await focused()
      if (reached === name) return
      passed.push(reached)
    }
    throw new Error(`Tab does not lead to "${name}", but to ${passed.join(', ')}`)
  }
  const press = async (key: KeyInput) => {
    await Promise.all([page.waitForNavigation(), page.keyboard.press(key)])
  }
  const type = async (field: string, text: string) => {
    await tabTo(field)
    await page.keyboard.type(text)
  }

  it('signs in, tops an account up, reads its ledger and signs out, all by keyboard', async () => {
    await open(`/accounts/${contents.accountId}`)
    await type('E-mail address', OPERATOR.email)
    await type('Password', OPERATOR.password)
    await press('Enter')
    expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe('The Linen House')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await type('Credits to add', '1200')
    await type('Reason', 'Paid by bank transfer')
    await press('Enter')
    expect(await page.$eval('[role=status]', ({ textContent }) => textContent)).toBe(
      'The new balance is 1,710 credits.',
    )
    await tabTo('Full ledger')
    await press('Enter')
    const [newest] = await page.$$eval('tbody tr', (rows) => rows.map((row) => row.textContent))
    expect(newest).toMatch(/grant\+1,2001,710Paid by bank transfer$/)
    expect((await createAccounts(dashboard.database).find(contents.accountId))?.balance).toBe(510 + 1200)
    await tabTo('Sign out')
    await press('Enter')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await open('/accounts')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  it('finds accessible pages in large and small viewports, light and dark', async () => {
    const violations: string[] = []
    const look = async (path: string) => {
      violations.push(...(await inspectLooks(page, { name: nameOf(path, words), open: () => open(path) })))
    }
    await look('/sign-in')
    const { cookie } = await dashboard.signIn()
    const [name, value] = cookie.split('=')
    await browser.setCookie({ name, value, domain: '127.0.0.1', path: '/', sameSite: 'Strict' })
    for (const path of [...pages, '/nothing']) await look(path)
    expect(violations).toEqual([])
  })

  it('gets an invalid form back with its values and the focus in the first invalid field', async () => {
    const violations: string[] = []
    const submit = (action: string) => {
      const button = `form[action="${action}"] button`
      return Promise.all([page.waitForNavigation(), page.$eval(button, (one) => (one as { click(): void }).click())])
    }
    await page.setViewport(SIZES.desktop)
    await open(`/shops/new?account=${contents.accountId}`)
    await page.type('[name=domain]', 'https://shop.example/')
    await page.type('[name=name]', 'A name that is not lost')
    await submit('/shops')
    await expect.poll(focused).toBe('Domain')
    expect(
      await page.evaluate(
        `document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ')[0]).textContent`,
      ),
    ).toBe('Enter a bare domain such as shop.example.')
    expect(await page.$eval('[name=name]', (field) => (field as unknown as { value: string }).value)).toBe(
      'A name that is not lost',
    )
    violations.push(...(await inspectLooks(page, { name: 'refused-shop' })))
    const account = `/accounts/${contents.accountId}`
    await page.setViewport(SIZES.desktop)
    await open(account)
    await page.evaluate(`for (const form of document.forms) form.noValidate = true
      document.querySelector('[name=retentionDays]').value = '900'
      document.querySelector('[name=email]').value = 'nobody'`)
    await submit(account)
    await expect.poll(focused).toBe('E-mail address')
    expect(await page.$eval('[role=alert]', ({ textContent }) => textContent)).toContain('There are 2 problems.')
    violations.push(...(await inspectLooks(page, { name: 'refused-settings' })))
    expect(violations).toEqual([])
  })

  it('has accessible pages without forms and without empty sections as a viewer', async () => {
    const email = 'victor@example.com'
    await createOperators(dashboard.database).insert({ email, name: 'Victor', passwordHash: '', role: 'viewer' })
    const own = await openProfile(dashboard, email)
    const { accountId, shopId, endpointId, completedId } = contents
    const violations: string[] = []
    for (const path of [
      ...['/', '/accounts', `/accounts/${accountId}`, `/shops/${shopId}`, `/webhooks/${endpointId}`],
      ...[`/generations/${completedId}`, '/leads', `/leads/${shopId}`, '/reviews', '/removals', '/blocks'],
    ]) {
      const name = `viewer-${nameOf(path, words)}`
      violations.push(...(await inspectLooks(own, { name, open: () => own.goto(`${dashboard.url}${path}`) })))
      expect(await own.$('main form[method=post]'), path).toBeNull()
      expect(await own.evaluate(WITHOUT_CONTENT), path).toEqual([])
      expect(await own.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390)
    }
    expect(violations).toEqual([])
    await own.browserContext().close()
  })

  it('has accessible pages of the own account as an owner, who invites another', async () => {
    const email = 'olga@shop.example'
    const { accountId, shopId, endpointId, completedId } = contents
    await createOperators(dashboard.database).insert({ email, name: 'Olga', passwordHash: '', accountId })
    const own = await openProfile(dashboard, email)
    const violations: string[] = []
    for (const path of [
      ...['/', `/accounts/${accountId}/ledger`, '/generations', `/generations/${completedId}`, '/shops'],
      ...[`/shops/${shopId}`, `/shops/${shopId}/analytics`, `/webhooks/${endpointId}`, '/operators'],
    ]) {
      const name = `owner-${nameOf(path, words)}`
      violations.push(...(await inspectLooks(own, { name, open: () => own.goto(`${dashboard.url}${path}`) })))
      expect(await own.evaluate(WITHOUT_CONTENT), path).toEqual([])
      expect(await own.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390)
    }
    expect(violations).toEqual([])
    await own.setViewport(SIZES.desktop)
    const menu = await own.$$eval('nav a', (links) => links.map(({ textContent }) => textContent?.trim()))
    expect(menu).toEqual(['Account', 'Shops', 'Generations', 'Products', 'Webhooks', 'Members'])
    await own.type('#new-operator [name=email]', 'otto@shop.example')
    await Promise.all([own.waitForNavigation(), own.click('#new-operator button')])
    expect(await own.$eval('.secret code', ({ textContent }) => textContent)).toMatch(/^\w{24}$/)
    await own.browserContext().close()
  })

  it('reads why a form was not executed: a conflict, a second submission, or the end of the session', async () => {
    const own = await openProfile(dashboard)
    const account = `/accounts/${contents.accountId}`
    const violations: string[] = []
    const look = async (name: string) => {
      violations.push(...(await inspectLooks(own, { name })))
      await own.setViewport(SIZES.desktop)
    }
    const visit = (path: string) => own.goto(`${dashboard.url}${path}`)
    const submit = (action: string) =>
      Promise.all([
        own.waitForNavigation(),
        own.$eval(`form[action="${action}"] button`, (one) => (one as unknown as { click(): void }).click()),
      ])
    const read = (selector: string) => own.$eval(selector, ({ textContent }) => textContent)
    await createOperators(dashboard.database).insert({
      email: 'grace@example.com',
      name: 'Grace',
      passwordHash: '',
      role: 'admin',
    })
    const grace = await dashboard.signIn('grace@example.com')
    await visit(account)
    await grace.submit(account, account, { email: 'orders@example.com' })
    await own.$eval('[name=email]', (field) => Object.assign(field, { value: 'returns@example.com' }))
    await submit(account)
    expect(await read('main')).toContain('grace@example.com changed the account at')
    await look('conflict')
    await visit(account)
    const credits = { credits: '5', reason: 'Paid by bank transfer' }
    for (const [name, value] of Object.entries(credits))
      await own.type(`form[action$="/credits"] [name=${name}]`, value)
    await submit(`${account}/credits`)
    await own.goBack()
    await submit(`${account}/credits`)
    expect(await read('h1')).toBe('Already done')
    await look('already-done')
    await visit(`/shops/new?account=${contents.accountId}`)
    await own.type('[name=name]', 'A name that is typed too late')
    await own.evaluate('for (const form of document.forms) form.noValidate = true')
    const [{ value: token }] = await own.browserContext().cookies()
    await dashboard.database.query(sql.unsafe`
      update operator_sessions set seen_at = now() - interval '31 minutes' where hash = sha256(${token}::text::bytea)`)
    await submit('/shops')
    expect(await read('main')).toContain('Your last request was not executed')
    expect(await own.$eval('main > [role=alert]', ({ className }) => className)).toBe('caution')
    await look('session-ended')
    await own.type('[name=email]', OPERATOR.email)
    await own.type('[name=password]', OPERATOR.password)
    await submit('/sign-in')
    expect(new URL(own.url()).pathname).toBe('/shops/new')
    expect(violations).toEqual([])
    await own.browserContext().close()
  })

  it('sees the main actions and the sign-out without scrolling, and copies the ID of an account', async () => {
    await page.setViewport(SIZES.desktop)
    const bottomOf = (selector: string) => page.$eval(selector, (one) => one.getBoundingClientRect().bottom)
    const shop = `/shops/${contents.shopId}`
    const actions = { '/accounts': '/accounts/new', '/shops': '/shops/new', '/webhooks': '/webhooks/new' }
    for (const [path, action] of Object.entries({
      ...actions,
      '/operators': '#new-operator',
      [shop]: `${shop}/analytics`,
    })) {
      await open(path)
      expect(await bottomOf(`main a[href="${action}"]`), path).toBeLessThan(150)
      expect(await bottomOf('form[action="/sign-out"] button'), path).toBeLessThan(SIZES.desktop.height)
    }
    await open(`/accounts/${contents.accountId}`)
    expect(await bottomOf(`form[action$="/credits"] button`)).toBeLessThan(SIZES.desktop.height)
    const context = browser.defaultBrowserContext()
    await context.overridePermissions(dashboard.url, ['clipboard-read', 'clipboard-sanitized-write'])
    expect(await page.$eval('.id button', (one) => one.getBoundingClientRect().height)).toBeLessThan(32)
    await page.click('.id button')
    await page.waitForFunction(`document.querySelector('.id [role=status]').textContent === 'Copied'`)
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(contents.accountId)
    context.clearPermissionOverrides()
  })

  it('sees the controls of a row level, whatever the length of their labels', async () => {
    const tops = async (path: string) => {
      await open(path)
      return page.$$eval('.pair > .field input', (inputs) =>
        inputs.map((one) => [one.getAttribute('name'), one.getBoundingClientRect().top] as const),
      )
    }
    await page.setViewport(SIZES.desktop)
    const { writesPerMinute, readsPerMinute, monthlyGenerations } = Object.fromEntries(await tops('/accounts/new'))
    expect(writesPerMinute).toBeGreaterThan(0)
    expect([readsPerMinute, monthlyGenerations]).toEqual([writesPerMinute, writesPerMinute])
    expect(new Set((await tops('/shops/new')).slice(0, 3).map(([, top]) => top)).size).toBe(1)
  })

  it('returns from a page to its list, and from an unknown page to the overview', async () => {
    const follow = async (selector: string) => {
      await Promise.all([page.waitForNavigation(), page.click(selector)])
      return new URL(page.url()).pathname
    }
    await open(`/accounts/${contents.accountId}/ledger`)
    expect(await follow('.within a')).toBe('/accounts')
    expect(await page.$('.within')).toBeNull()
    await open('/nothing')
    expect(await follow('main a.button')).toBe('/')
  })

  it('creates a key, sees it on one line and copies it', async () => {
    await page.setViewport(SIZES.desktop)
    await browser.defaultBrowserContext().setPermission(dashboard.url, {
      permission: { name: 'clipboard-write', allowWithoutSanitization: true },
      state: 'granted',
    })
    const account = `/accounts/${contents.accountId}`
    await open(account)
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
    await page.type(`form[action="${account}/keys"] [name=name]`, 'Checkout server')
    await Promise.all([page.waitForNavigation(), page.click(`form[action="${account}/keys"] button`)])
    const key = await page.$eval('.secret code', ({ textContent }) => textContent ?? '')
    expect(key).toMatch(/^sk_\w{36}$/)
    expect(await page.$eval('main > [role=status]', ({ className }) => className)).toBe('caution')
    await page.click('.secret button')
    await page.waitForFunction(`document.querySelector('.secret [role=status]').textContent === 'Copied'`)
    expect(await inspectLooks(page, { name: 'key-created' })).toEqual([])
    expect(
      await page.$eval('.secret code', (value) => (value as unknown as { clientHeight: number }).clientHeight),
    ).toBeLessThan(45)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.setViewport(SIZES.desktop)
    await open(account)
    const row = await page.$$eval('tbody tr', (rows) => rows.map(({ textContent }) => textContent ?? ''))
    expect(row.find((text) => text.startsWith('Checkout server'))).toContain(`sk_…${key.slice(-4)}`)
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
    expect(await inspectLooks(page, { name: 'account-opened' })).toEqual([])
  })

  it('sees in the overview what waits, without a reload, and cancels the chosen generations by keyboard', async () => {
    const own = await openProfile(dashboard)
    await own.goto(`${dashboard.url}/`)
    const waiting = 'Number(document.querySelector("[data-live] .tile strong").textContent)'
    const before = Number(await own.evaluate(waiting))
    const list = '/generations?status=PENDING'
    const id = (await (await dashboard.signIn()).get(list)).text.match(/name="id" value="(gen_\w+)"/)?.[1] ?? ''
    const typed = { id, reason: 'Asked by the shop' }
    expect((await (await dashboard.signIn()).submit(list, '/generations/cancel', typed)).status).toBe(303)
    await own.waitForFunction(`${waiting} === ${before - 1}`, { timeout: 20_000 })
    await own.goto(`${dashboard.url}${list}`)
    await own.focus('th input')
    await own.keyboard.press('Space')
    expect(await own.$$eval('td input:checked', (boxes) => boxes.length)).toBe(before - 1)
    await own.focus('[name=reason]')
    await own.keyboard.type('The shop has closed')
    await Promise.all([own.waitForNavigation(), own.keyboard.press('Enter')])
    expect(await own.$eval('[role=status]', ({ textContent }) => textContent)).toContain('Cancelled.')
    expect(await own.$eval('main .empty', ({ textContent }) => textContent)).toContain('Nothing matches.')
    await own.browserContext().close()
  })

  it('opens and closes the menu on a phone by keyboard', async () => {
    await page.setViewport(SIZES.phone)
    await open('/accounts')
    const isShown = () => page.$eval('header nav', (menu) => menu.checkVisibility())
    expect(await isShown()).toBe(false)
    await tabTo('Menu')
    await page.keyboard.press('Enter')
    expect(await isShown()).toBe(true)
    expect(await inspectLooks(page, { name: 'menu', sizes: ['phone'] })).toEqual([])
    await page.keyboard.press('Escape')
    expect(await isShown()).toBe(false)
    await page.keyboard.press('Enter')
    await tabTo('Shops')
    await press('Enter')
    expect(new URL(page.url()).pathname).toBe('/shops')
    await tabTo('Sign out')
  })

  it('sees no page wider than a phone, no label over another one, and no browser error', async () => {
    await page.setViewport(SIZES.phone)
    const cut = '[...document.querySelectorAll("td")].filter((one) => one.scrollHeight > one.clientHeight + 1).length'
    for (const path of pages) {
      await open(path)
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390)
      expect(await page.evaluate(cut), path).toBe(0)
    }
    expect(complaints.filter((text) => !/40[04]/.test(text))).toEqual([])
  })

  it('finds accessible pages to set up a second factor, in large and small viewports, light and dark', async () => {
    const violations: string[] = []
    const look = async (name: string) => violations.push(...(await inspectLooks(page, { name })))
    const submit = async (action: string) => {
      await Promise.all([page.waitForNavigation(), page.click(`form[action="${action}"] button`)])
    }
    await open('/second-factor?required')
    await look('second-factor-required')
    await submit('/second-factor/start')
    await look('second-factor-enrolment')
    const secret = await page.$eval('dd code', ({ textContent }) => (textContent ?? '').replaceAll(' ', ''))
    await page.type('[name=code]', 'wrong')
    await submit('/second-factor/confirm')
    expect(await page.$eval('.wrong', ({ textContent }) => textContent)).toContain('The code is wrong')
    await expect.poll(focused).toBe('Code')
    await look('second-factor-wrong-code')
    await page.type('[name=code]', codeAt(secret, Math.floor(Date.now() / 30_000)))
    await submit('/second-factor/confirm')
    const codes = await page.$$eval('main li code', (all) => all.map(({ textContent }) => textContent))
    expect(codes.length).toBe(10)
    await page.click('[data-copy=codes]')
    await page.waitForFunction(`document.querySelector('main .secret [role=status]').textContent === 'Copied'`)
    expect(((await page.evaluate('navigator.clipboard.readText()')) as string).trim().split(/\s+/)).toEqual(codes)
    await look('second-factor-recovery-codes')
    await open('/second-factor')
    await look('second-factor-in-use')
    await page.deleteCookie({ name: 'drape-operator', domain: '127.0.0.1' })
    await open('/sign-in')
    await page.type('[name=email]', OPERATOR.email)
    await page.type('[name=password]', OPERATOR.password)
    await submit('/sign-in')
    expect(
      await page.$eval(
        '[name=code]',
        ({ labels }: { labels?: ArrayLike<{ textContent: string }> }) => labels?.[0].textContent,
      ),
    ).toContain('code')
    await look('sign-in-code')
    expect(violations).toEqual([])
  })
})

/** Headings of sections without content, labels of collapsed texts about a form that is missing, and columns of actions without any. */
const WITHOUT_CONTENT = `[
  ...[...document.querySelectorAll('main section')].filter((one) =>
    one.textContent.trim() === one.querySelector('h2')?.textContent.trim()),
  ...document.querySelectorAll('main details:not(:has(form, table, dl, pre))'),
  ...[...document.querySelectorAll('th')].filter((one) => ['Change', 'Replay'].includes(one.textContent) &&
    [...one.closest('table').tBodies[0].rows].every((row) => row.cells[one.cellIndex].innerHTML.trim() === '')),
].map((one) => one.textContent.trim())`

/** The same for every run. */
function nameOf(path: string, words: Readonly<Record<string, string>>): string {
  const named = Object.entries(words)
    .reduce((text, [id, word]) => text.replace(id, word), path)
    .replace(/rem_[\w-]+/, 'one')
  return named.replaceAll(/\W+/g, '-').replace(/^-|-$/g, '') || 'overview'
}
