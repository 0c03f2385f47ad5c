import type { Browser, BrowserContext, Page } from 'puppeteer-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { createOperatorAudit } from '../api/dashboard/operator-audit.store.ts'
import { createIdentityProvider } from '../api/dashboard/sign-in/identity-provider.ts'
import { createOperators } from '../api/dashboard/sign-in/operators.store.ts'
import { CALLBACK_PATH, type Grant, type RoleGrant, SIGN_ON_PATH } from '../api/dashboard/sign-in/single-sign-on.ts'
import { reserveFreePort } from '../scripts/stack/ports.ts'
import { browserReason, startBrowser } from './support/browser.ts'
import { OPERATOR, startDashboard, type TestDashboard } from './support/dashboard.ts'
import { CLIENT, startIdentityProvider, type TestIdentityProvider } from './support/identity-provider.ts'
import { inspectLooks } from './support/page-looks.ts'

/** By what they type in at the provider. */
const PEOPLE = {
  ada: { email: OPERATOR.email.toUpperCase(), email_verified: true, name: 'Ada' },
  bob: { email: 'bob@example.com', email_verified: true, groups: ['drape-operators', 'staff'] },
  eve: { email: 'eve@example.com', email_verified: true, groups: ['staff'] },
  mal: { email: OPERATOR.email, email_verified: false, groups: ['drape-operators'] },
  tom: { email: OPERATOR.email },
}
if (browserReason) console.warn(`Single sign-on is skipped: ${browserReason}`)

/** A real provider on another site than the dashboard, in a browser that distinguishes both. */
describe.skipIf(browserReason)(`single sign-on${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let dashboard: TestDashboard
  let provider: TestIdentityProvider
  let browser: Browser
  let context: BrowserContext
  let page: Page
  const ports = { dashboard: 0, other: 0, provider: 0 }
  const grants: Grant[] = []
  const start = (
    port: number,
    { clientSecret = CLIENT.secret, trustsEmail = false, roles = null as RoleGrant[] | null } = {},
  ) => {
    const identityProvider = createIdentityProvider({
      issuer: `http://localhost:${ports.provider}`,
      clientId: CLIENT.id,
      clientSecret,
      scope: 'openid email profile groups',
      redirectUrl: `http://127.0.0.1:${port}${CALLBACK_PATH}`,
    })
    return startDashboard({ port, singleSignOn: { provider: identityProvider, grants, roles, trustsEmail } })
  }

  beforeAll(async () => {
    const reserved = [await reserveFreePort(), await reserveFreePort(), await reserveFreePort()]
    await Promise.all(reserved.map((port) => port.release()))
    const [own, other, theirs] = reserved.map(({ port }) => port)
    Object.assign(ports, { dashboard: own, other, provider: theirs })
    dashboard = await start(ports.dashboard)
    browser = await startBrowser()
  })
  beforeEach(async () => {
    context = await browser.createBrowserContext()
    page = await context.newPage()
  })
  afterEach(async () => {
    grants.length = 0
    await context.close()
  })
  afterAll(async () => {
    await browser?.close()
    await provider?.[Symbol.asyncDispose]()
    await dashboard?.stop()
  })

  const listAudit = (action: string) =>
    createOperatorAudit(dashboard.database).listing.list({ text: action }, { limit: 1 })
  const text = (selector: string) => page.$eval(selector, ({ textContent }) => textContent ?? '')
  const press = (selector: string) => Promise.all([page.waitForNavigation(), page.click(selector)])
  /** From a page of the dashboard to the provider and back, as this person. */
  const signInAs = async (login: string, { path = '/', to = dashboard } = {}) => {
    await page.goto(`${to.url}${path}`)
    await press('a[href^="/sign-in/provider"]')
    await page.type('input[name=login]', login)
    await page.type('input[name=password]', 'anything')
    await press('button[type=submit]')
    await press('button[type=submit]')
  }
  const alertText = () => text('[role=alert]')

  it('reports that the provider is unavailable, and still accepts passwords', async () => {
    await page.goto(`${dashboard.url}/sign-in`)
    const [answer] = await press('a[href^="/sign-in/provider"]')
    expect(answer?.status()).toBe(503)
    expect(await alertText()).toBe(`localhost:${ports.provider} does not respond. Try again in a moment.`)
    await page.type('[name=email]', OPERATOR.email)
    await page.type('[name=password]', OPERATOR.password)
    await press('form button')
    expect(await text('h1')).toBe('Overview')
  })

  it('signs an existing operator in and redirects to the requested page', async () => {
    const redirectUrls = [ports.dashboard, ports.other].map((port) => `http://127.0.0.1:${port}${CALLBACK_PATH}`)
    provider = await startIdentityProvider({ port: ports.provider, redirectUrls, people: PEOPLE })
    await signInAs('ada', { path: '/accounts?q=a.b' })
    await page.waitForFunction(`document.querySelector('h1').textContent === 'Accounts'`)
    expect(page.url()).toBe(`${dashboard.url}/accounts?q=a.b`)
    expect(await text('.who')).toContain(OPERATOR.email)
    const [entry] = await listAudit('sign-in')
    expect(entry).toMatchObject({
      operatorEmail: OPERATOR.email,
      details: { provider: `localhost:${ports.provider}`, subject: 'ada' },
    })
    expect((await context.cookies()).map(({ name }) => name)).not.toContain('drape-sign-in')
  })

  it('creates a session that ends with the sign-out', async () => {
    await signInAs('ada')
    await page.waitForSelector('.who')
    await press('.who button')
    await page.goto(`${dashboard.url}/accounts`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    expect(await listAudit('sign-out')).toHaveLength(1)
  })

  it('refuses a user who is not an operator', async () => {
    await signInAs('eve')
    expect(await alertText()).toBe(
      'eve@example.com is not an operator. Ask an admin to create an operator with this e-mail address.',
    )
    expect((await listAudit('sign-in.refused'))[0]).toMatchObject({
      operatorEmail: null,
      details: { subject: 'eve', why: 'unknown' },
    })
    await page.goto(`${dashboard.url}/accounts`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  it.each(['mal', 'tom'])('refuses %s, whose e-mail address is not verified', async (login) => {
    await signInAs(login)
    expect(await alertText()).toContain(`has not verified that ${OPERATOR.email} is yours`)
  })

  it('creates an operator for a user with the claim, and refuses other users', async () => {
    grants.push({ claim: 'role', value: 'boss' }, { claim: 'groups', value: 'drape-operators' })
    await signInAs('bob')
    await page.waitForSelector('.who')
    expect(await text('.who')).toContain('bob@example.com')
    expect(await listAudit('operator.create')).toMatchObject([{ operatorEmail: 'bob@example.com' }])
    await context.close()
    context = await browser.createBrowserContext()
    page = await context.newPage()
    await signInAs('eve')
    expect(await alertText()).toBe('eve@example.com is not allowed to use this dashboard.')
  })

  it('refuses a disabled operator, whatever the claims', async () => {
    grants.push({ claim: 'groups', value: 'drape-operators' })
    await createOperators(dashboard.database).setActive('bob@example.com', false)
    await signInAs('bob')
    expect(await alertText()).toBe('bob@example.com is no longer an operator.')
  })

  it('refuses a callback that another browser started, and a replayed callback', async () => {
    let answer = ''
    page.on('request', (request) => {
      if (request.url().includes(`${CALLBACK_PATH}?`)) answer = request.url()
    })
    await signInAs('ada')
    await page.waitForSelector('.who')
    // The same callback, first with the ticket of another attempt, then without a ticket.
    const ticket = { name: 'drape-sign-in', value: 'ticket.Lw', domain: '127.0.0.1', path: '/' }
    await browser.setCookie(ticket)
    await context.setCookie(ticket)
    const forged = await page.goto(answer)
    expect(forged?.status()).toBe(403)
    expect(await alertText()).toContain('was started in another browser')
    expect((await page.goto(answer))?.status()).toBe(403)
    expect(await alertText()).toContain('has expired or was started in another browser')
    expect((await page.goto(`${dashboard.url}${CALLBACK_PATH}?error=access_denied`))?.status()).toBe(403)
  })

  it('shows why the provider refused the sign-in', async () => {
    await page.goto(`${dashboard.url}/sign-in`)
    await press('a[href^="/sign-in/provider"]')
    await press('a[href$="/abort"]')
    expect(await alertText()).toMatch(/refused the sign-in: .*aborted/)
  })

  it('reports that the provider rejects the client secret', async () => {
    const other = await start(ports.other, { clientSecret: 'another' })
    await signInAs('ada', { to: other })
    expect(await alertText()).toContain('does not accept this dashboard as its client')
    await other.stop()
  })

  it('accepts an address without email_verified if configured, but not with email_verified: false', async () => {
    const other = await start(ports.other, { trustsEmail: true })
    await signInAs('mal', { to: other })
    expect(await alertText()).toContain('has not verified')
    await context.close()
    context = await browser.createBrowserContext()
    page = await context.newPage()
    await signInAs('tom', { to: other })
    await page.waitForSelector('.who')
    expect(await text('.who')).toContain(OPERATOR.email)
    await other.stop()
  })

  it('assigns the role of the first matching claim, and revokes it when the claim is gone', async () => {
    const roles: RoleGrant[] = [{ claim: 'groups', value: 'drape-operators', role: 'support' }]
    const other = await start(ports.other, { roles })
    const { email } = PEOPLE.bob
    const operators = createOperators(other.database)
    await operators.insert({ email, name: null, passwordHash: '', role: 'admin' })
    await signInAs('bob', { to: other })
    await page.waitForSelector('.who')
    expect((await operators.find(email))?.role).toBe('support')
    roles.length = 0
    await page.goto(`${other.url}/sign-in`)
    await press('a[href^="/sign-in/provider"]')
    await page.waitForSelector('.who')
    expect((await operators.find(email))?.role).toBe('viewer')
    await other.stop()
  })

  it('refuses an owner of an account with a claim of an operator, until the owner is deleted', async () => {
    const other = await start(ports.other, { roles: [{ claim: 'groups', value: 'drape-operators', role: 'admin' }] })
    const { id: accountId } = await createAccounts(other.database).insert({ name: 'Alpha', email: null, credits: 0 })
    const { email } = PEOPLE.bob
    const operators = createOperators(other.database)
    const { id } = await operators.insert({ email, name: null, passwordHash: '', accountId })
    await signInAs('bob', { to: other })
    expect(await alertText()).toMatch(/is an owner of an account, and an operator according to .* delete the owner/)
    expect(await operators.find(email)).toMatchObject({ role: 'owner', accountId })
    const refused = createOperatorAudit(other.database).listing.list({ text: 'sign-in.refused' }, { limit: 1 })
    expect(await refused).toMatchObject([{ object: id, details: { subject: 'bob', why: 'owner of an account' } }])
    expect(await operators.deleteOwner(id)).toBe(true)
    await other.stop()
  })

  it('limits sign-in attempts per address', async () => {
    const other = await start(ports.other)
    const attempt = () => fetch(`${other.url}${SIGN_ON_PATH}`, { redirect: 'manual' })
    for (let i = 0; i < 20; i++) expect((await attempt()).status).toBe(303)
    const refused = await attempt()
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    await other.stop()
  })

  it('has an accessible sign-in page', async () => {
    const open = () => page.goto(`${dashboard.url}/sign-in`)
    expect(await inspectLooks(page, { name: 'sign-in-with-provider', open })).toEqual([])
  })
})
