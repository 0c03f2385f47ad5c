import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createPages } from '../../../api/dashboard/all-pages.ts'
import { createFormIssuer } from '../../../api/dashboard/forms/issued-forms.ts'
import { indexPages } from '../../../api/dashboard/page.ts'
import { createOperators, ROLES, type Role } from '../../../api/dashboard/sign-in/operators.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { type OperatorBrowser, startDashboard } from '../../support/dashboard.ts'
import { fillDashboard } from '../../support/dashboard-contents.ts'

/** Actions of some roles only; every role can open everything else. */
const NEEDS: Readonly<Record<Exclude<Role, 'viewer'>, RegExp>> = {
  admin:
    /^(GET \/(accounts|shops|webhooks)\/new|GET \/operators(\.csv)?|POST \/operators.*|POST \/(accounts|shops|webhooks)(\/:id)?|POST .*\/(active|keys.*|logo.*|secrets.*|policies)|POST \/webhooks\/:id\/delete)$/,
  billing: /\/credits$/,
  support:
    /^(GET \/people|GET \/(removals|reviews)\/:id|POST (.*\/(image|images|erase|decline|decide|cancel|test|retry|export)|\/leads\/:id\/delete|\/blocks\/remove))$/,
}

describe('the role of an operator', async () => {
  const browsers = new Map<Role, OperatorBrowser>()
  const dashboard = await startDashboard()
  const contents = await fillDashboard(dashboard, 'Guarded')
  for (const role of ROLES) {
    const email = `${role}@example.com`
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash: '', role })
    browsers.set(role, await dashboard.signIn(email))
  }
  afterAll(() => dashboard.stop())

  const browserOf = (role: Role) => browsers.get(role) as OperatorBrowser
  /** Sends a form as if the page had shown it. */
  const post = async (role: Role, path: string, typed: Record<string, string> = {}) => {
    const browser = browserOf(role)
    const key = await dashboard.database.oneFirst(sql.unsafe`
      select form_key from operator_sessions where hash = sha256(${browser.cookie.split('=')[1]}::text::bytea)`)
    const form = createFormIssuer(key as Buffer)(path)
    return browser.post(path, new URLSearchParams({ form, ...typed }))
  }
  const isRefused = ({ status, text }: { status: number; text: string }) =>
    status === 403 && text.includes('This action requires the role')

  it('has forms that redirect back to their page', () => {
    const { routes } = dashboard
    const { findFormPage } = indexPages(createPages(dashboard.options))
    const actions = routes.flatMap((route) => (route.startsWith('POST ') ? route.slice('POST '.length) : []))
    expect(actions.length).toBeGreaterThan(30)
    for (const action of actions) expect(routes, action).toContain(`GET ${findFormPage(action)}`)
    expect(findFormPage('/leads/shop_1/retry')).toBe('/leads/shop_1')
    expect(findFormPage('/leads/retry')).toBe('/leads')
  })

  it.each(ROLES)(
    '%s opens its routes and no others',
    async (role) => {
      for (const route of dashboard.routes) {
        const [method, pattern] = route.split(' ')
        const path = pattern.replaceAll(/:\w+/g, 'unknown')
        const answer = method === 'GET' ? await browserOf(role).get(path) : await post(role, path)
        const needed = Object.entries(NEEDS).find(([, routes]) => routes.test(route))?.[0] ?? 'viewer'
        const isOpen = role === 'admin' || needed === 'viewer' || needed === role
        expect(isRefused(answer), `${route} as ${role}: ${answer.status}`).toBe(!isOpen)
      }
    },
    60_000,
  )

  it('applies to every spelling of a path', async () => {
    for (const path of [
      '/accounts/new',
      '/accounts/NEW',
      '/accounts/new/',
      '/Accounts/new',
      '/shops/NEW',
      '/webhooks/NEW',
    ]) {
      const { status, text } = await browserOf('viewer').get(path)
      expect([400, 403, 404], path).toContain(status)
      expect(text).not.toMatch(/<h1>New /)
    }
  })

  it('hides forbidden actions, and shows settings to readers', async () => {
    const page = `/accounts/${contents.accountId}`
    const formsIn = (text: string) => [...text.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, to]) => to)
    const { text } = await browserOf('viewer').get(page)
    expect(formsIn(text)).toEqual(['/sign-out'])
    expect(text).toMatch(/<fieldset class="readable" disabled>/)
    expect(formsIn((await browserOf('billing').get(page)).text)).toEqual(['/sign-out', `${page}/credits`])
    const generation = `/generations/${contents.completedId}`
    expect(formsIn((await browserOf('viewer').get(generation)).text)).toEqual(['/sign-out'])
    expect(formsIn((await browserOf('support').get(generation)).text)).toEqual(['/sign-out', `${generation}/image`])
    expect(text).not.toContain('href="/operators"')
    expect((await browserOf('admin').get('/')).text).toContain('href="/operators"')
  })

  it.each(ROLES)('shows %s links only to pages that it may open', async (role) => {
    const browser = browserOf(role)
    const seen = new Set(['/'])
    for (const path of seen) {
      const { status, text } = await browser.get(path)
      expect(status, path).toBe(200)
      for (const [, link] of text.matchAll(/ href="(\/[^"?#]*)/g)) {
        // One row of each table is enough.
        const kind = link.replaceAll(/(?<=\/)[a-z]+_[\w-]+|\d+/g, ':id')
        if (![...seen].some((one) => one.replaceAll(/(?<=\/)[a-z]+_[\w-]+|\d+/g, ':id') === kind)) seen.add(link)
      }
    }
    expect(seen.size).toBeGreaterThan(15)
    expect(seen.has('/accounts/new')).toBe(role === 'admin')
  })

  it('opens no page of an extension that is off, and no page links to one', async () => {
    const core = await startDashboard({ hasFeature: () => false })
    try {
      const browser = await core.signIn()
      const overview = (await browser.get('/')).text
      expect(overview).toContain('href="/generations"')
      expect(overview).not.toMatch(/href="\/(leads|removals|reviews)/)
      const statuses = ['/leads', '/removals', '/blocks', '/reviews'].map(
        async (path) => (await browser.get(path)).status,
      )
      expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404])
    } finally {
      await core.stop()
    }
  })

  it('shows no photo to a viewer, and audits no refused attempt as a view', async () => {
    const path = `/generations/${contents.completedId}/image`
    const typed = { which: 'result', reason: 'only curious' }
    expect((await post('viewer', path, typed)).text).not.toContain('<img')
    expect((await post('billing', path, typed)).text).not.toContain('<img')
    expect((await post('support', path, typed)).text).toContain('<img class="image"')
    // A deleted image is not seen, so the form is neither audited nor answered as one that was already executed.
    const key = `results/${contents.accountId}/shown.jpg`
    const image = await dashboard.storage.get(key)
    await dashboard.storage.delete([key])
    const deleted = await post('support', path, typed)
    expect([deleted.status, deleted.text.includes('Already done')]).toEqual([404, false])
    await dashboard.storage.put(key, image ?? Buffer.alloc(0), { contentType: 'image/jpeg' })
    const views = await dashboard.database.any(sql.unsafe`
      select operator_email::text as email from operator_audit where action = 'picture.view'`)
    expect(views).toEqual([{ email: 'support@example.com' }])
  })

  it('allows support to cancel a generation for a reason, with a refund', async () => {
    const { balance } = (await createAccounts(dashboard.database).find(contents.accountId)) ?? { balance: 0 }
    const id = await dashboard.database.oneFirst(sql.unsafe`
      select max(id) from generations where status = 'PENDING' and account_id = ${contents.accountId}`)
    const page = `/generations/${id}`
    const answer = await browserOf('support').submit(page, `${page}/cancel`, { reason: 'asked by the customer' })
    expect(answer.status).toBe(303)
    expect((await browserOf('viewer').get(page)).text).toContain('GENERATION_CANCELLED')
    expect((await createAccounts(dashboard.database).find(contents.accountId))?.balance).toBe(balance + 1)
    expect((await post('support', `${page}/cancel`, { reason: 'once more' })).status).toBe(400)
  })

  it('changes immediately, by another admin', async () => {
    const operators = createOperators(dashboard.database)
    const { id = '' } = (await operators.find('viewer@example.com')) ?? {}
    const changed = await browserOf('admin').submit('/operators', `/operators/${id}`, { role: 'billing' })
    expect(changed.status).toBe(303)
    expect(await operators.findById(id)).toMatchObject({ role: 'billing', isActive: true })
    expect((await browserOf('viewer').get('/accounts')).status).toBe(303)
    const { id: own = '' } = (await operators.find('admin@example.com')) ?? {}
    expect((await post('admin', `/operators/${own}`, { role: 'viewer' })).status).toBe(403)
    expect((await operators.findById(own))?.role).toBe('admin')
  })
})
