import type { IncomingMessage } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../../api/accounts/restrictions.ts'
import { createFormIssuer } from '../../../api/dashboard/forms/issued-forms.ts'
import { createOperatorAudit } from '../../../api/dashboard/operator-audit.store.ts'
import { createOperatorSignIns } from '../../../api/dashboard/sign-in/operator-sign-ins.store.ts'
import { createOperators } from '../../../api/dashboard/sign-in/operators.store.ts'
import { createRateLimiter } from '../../../api/http/limits/rate-limiter.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import { createRefusedRequests, listRefusedRequests } from '../../../api/shops/refused-requests.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { hashQuickly, type PageAnswer, startDashboard } from '../../support/dashboard.ts'
import { type DashboardContents, fillDashboard, fillQueues } from '../../support/dashboard-contents.ts'
import { until } from '../../support/until.ts'

/** What owners may open. Everything else does not exist for them, also what is added to the dashboard. */
const OPEN = new Set([
  ...['GET /', 'GET /accounts/:id', 'GET /accounts/:id/logo', 'GET /accounts/:id/ledger', 'GET /accounts/:id/requests'],
  ...['POST /accounts/:id/keys', 'POST /accounts/:id/keys/:key/rotate', 'POST /accounts/:id/keys/:key/revoke'],
  ...['GET /generations', 'GET /generations/:id', 'GET /products', 'GET /shops', 'GET /shops/:id'],
  ...['GET /shops/:id/analytics', 'GET /webhooks', 'GET /webhooks/:id', 'GET /webhooks/:id/deliveries.csv'],
  ...['GET /operators', 'POST /operators', 'POST /operators/:id', 'POST /operators/:id/second-factor/reset'],
  ...['GET /second-factor', 'POST /second-factor/start', 'POST /second-factor/confirm'],
  ...['POST /second-factor/recovery-codes', 'POST /second-factor/remove', 'POST /second-factor/password'],
])

const Names = rowType(Type.Object({ name: Type.String() }))
const Hash = rowType(Type.Object({ hash: Type.String() }))

interface Tenant extends DashboardContents {
  readonly email: string
  readonly operatorId: string
  readonly keyId: string
  /** All IDs. */
  readonly ids: readonly string[]
}

describe('an owner of an account', async () => {
  const createTenant = async (name: string, email: string): Promise<Tenant> => {
    const { database } = dashboard
    const contents = await fillDashboard(dashboard, name)
    const { accountId } = contents
    const { openReview } = await fillQueues(database, contents)
    const { id: keyId } = await createApiKeys(database).insert(accountId, 'secret')
    await createApiKeys(database).insert(accountId, 'secret', { ...UNRESTRICTED, isTest: true })
    const { id: operatorId } = await createOperators(database).insert({ email, name, passwordHash: '', accountId })
    const { shopId, endpointId, completedId, failedId } = contents
    const ids = [accountId, shopId, endpointId, completedId, failedId, openReview, keyId, operatorId]
    return { ...contents, email, operatorId, keyId, ids }
  }

  const dashboard = await startDashboard()
  const own = await createTenant('Alpha', 'alma@alpha.example')
  const other = await createTenant('Beta', 'ben@beta.example')
  // What all accounts together have open is counted in the menu of operators.
  await dashboard.database.query(sql.unsafe`
    update webhook_endpoints set failing_since = now() where id = ${other.endpointId}`)
  const browser = await dashboard.signIn(own.email)
  afterAll(() => dashboard.stop())

  /** Sends a form as if a page had shown it. */
  const post = async (path: string, typed: Readonly<Record<string, string>>, from = browser) => {
    const key = await dashboard.database.oneFirst(sql.unsafe`
      select form_key from operator_sessions where hash = sha256(${from.cookie.split('=')[1]}::text::bytea)`)
    return from.post(path, new URLSearchParams({ form: createFormIssuer(key as Buffer)(path), ...typed }))
  }
  /** Every path of a route with these IDs in the place of its parameters. */
  const pathsOf = (pattern: string, ids: readonly string[]): string[] => {
    const [parameter] = /:\w+/.exec(pattern) ?? []
    return parameter === undefined ? [pattern] : ids.flatMap((id) => pathsOf(pattern.replace(parameter, id), ids))
  }
  const doesNotExist = ({ status, text }: PageAnswer) => status === 404 && text.includes('The page does not exist.')
  /** Records a request of a shop that no account has. */
  const refuseUnknownShop = async (site: string) => {
    const { redis, log, database } = dashboard.options
    const request = { method: 'POST', url: '/public/webhooks' } as IncomingMessage
    const shops = createShops(database)
    createRefusedRequests({ redis, shops }).noteWebhook({ request, network: '192.0.2.1', log }, { site, shop: null })
    await until(async () => (await listRefusedRequests(redis, null)).length > 0)
  }
  /** Everything stored that names the tenant. */
  const stored = async ({ ids, email }: Tenant) => {
    const tables = await dashboard.database.any(sql.type(Names)`
      select table_name::text as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`)
    const mentions = [...ids, email].map((text) => `%${text}%`)
    const hashes = tables.map(async ({ name }) => [
      name,
      await dashboard.database.oneFirst(sql.type(Hash)`
        select coalesce(md5(string_agg(one::text, ' ' order by one::text)), '') as hash from ${sql.identifier([name])} as one
        where one::text like any(${sql.array(mentions, 'text')})`),
    ])
    return Object.fromEntries(await Promise.all(hashes))
  }

  it('opens the pages that say so, and no others', async () => {
    const byName = { id: '', key: own.keyId, shop: own.shopId }
    const { id: colleague } = await createOperators(dashboard.database).insert({
      email: 'ada@alpha.example',
      name: null,
      passwordHash: '',
      accountId: own.accountId,
    })
    const idOf = (path: string) => {
      if (path.startsWith('/accounts')) return own.accountId
      if (path.startsWith('/shops')) return own.shopId
      if (path.startsWith('/operators')) return colleague
      return path.startsWith('/webhooks') ? own.endpointId : own.completedId
    }
    for (const route of dashboard.routes) {
      const [method, pattern] = route.split(' ')
      const path = pattern.replaceAll(/:(\w+)/g, (_, name: 'key' | 'shop' | 'id') => byName[name] || idOf(pattern))
      const answer = method === 'GET' ? await browser.get(path) : await post(path, {})
      expect(doesNotExist(answer), `${route}: ${answer.status}`).toBe(
        !OPEN.has(route.replace(/(?<!deliveries)\.csv$/, '')),
      )
      expect(answer.status, route).not.toBe(500)
    }
  })

  it('finds, reads and changes nothing of another account on any route', async () => {
    await refuseUnknownShop('beta-unknown.example')
    const before = await stored(other)
    expect(Object.values(before).filter((hash) => hash !== '').length).toBeGreaterThan(10)
    const isOfOther = (answer: PageAnswer, sent: string) => {
      // The token of a form is random text.
      const text = answer.text.replaceAll(/name="form" value="[^"]*"/g, '')
      return (
        /Beta|beta|> failing</.test(text) || other.ids.some((id) => !sent.includes(id) && text.includes(id.slice(-12)))
      )
    }
    const search = new URLSearchParams({ account: other.accountId, accountId: other.accountId, q: 'e' }).toString()
    for (const route of dashboard.routes) {
      const [method, pattern] = route.split(' ')
      const hasParameter = pattern.includes(':')
      const ids = pattern.includes(':key') ? [other.accountId, other.keyId, own.accountId, own.keyId] : other.ids
      for (const path of pathsOf(pattern, ids)) {
        if (path.includes(own.accountId) && path.includes(own.keyId)) continue
        const typed = {
          ...{
            email: 'new@gamma.example',
            role: 'admin',
            account: other.accountId,
            person: 'customer-4711',
            id: other.completedId,
          },
          ...{
            isActive: 'false',
            active: 'false',
            edition: 'any',
            reason: 'because',
            name: 'New',
            kind: 'secret',
            credits: '7',
          },
          ...{
            url: 'https://evil.example',
            event: 'generation.failed',
            domain: 'evil.example',
            platform: 'plugin',
            which: 'person',
          },
        }
        const answers =
          method === 'GET'
            ? [await browser.get(path), await browser.get(`${path}?${search}`)]
            : [await post(path, typed)]
        for (const answer of answers) {
          const sent = method === 'GET' ? `${path}?${search}` : JSON.stringify([path, typed])
          expect(isOfOther(answer, sent), `${method} ${path}: ${answer.text}`).toBe(false)
          const isOwnAccount = path.includes(own.accountId)
          if (hasParameter && !isOwnAccount)
            expect(doesNotExist(answer), `${method} ${path}: ${answer.status}`).toBe(true)
          if (isOwnAccount) expect([400, 404], `${method} ${path}`).toContain(answer.status)
        }
      }
    }
    expect(await stored(other)).toEqual(before)
    // The form of a new member named the other account and a role.
    expect(await createOperators(dashboard.database).find('new@gamma.example')).toMatchObject({
      role: 'owner',
      accountId: own.accountId,
    })
  })

  it('creates, replaces and revokes keys of the account, those for tests too', async () => {
    const account = `/accounts/${own.accountId}`
    const keys = createApiKeys(dashboard.database)
    for (const kind of ['secret', 'test']) {
      const { text } = await browser.submit(account, `${account}/keys`, { name: `my ${kind}`, kind })
      expect(text).toMatch(kind === 'test' ? /sk_test_\w{32}/ : /sk_\w{32}/)
      const idOfLive = async () => (await keys.list(own.accountId)).find(({ name }) => name === `my ${kind}`)?.id
      const id = await idOfLive()
      expect((await browser.submit(account, `${account}/keys/${id}/rotate`)).status).toBe(200)
      expect(await idOfLive()).not.toBe(id)
      expect((await browser.submit(account, `${account}/keys/${await idOfLive()}/revoke`)).status).toBe(303)
    }
  })

  it('invites and removes other owners of the account, and nobody else', async () => {
    const operators = createOperators(dashboard.database)
    const typed = { email: 'carl@alpha.example', name: 'Carl' }
    const { text } = await browser.submit('/operators', '/operators', typed)
    const [, password = ''] = text.match(/<dt>Password<\/dt><dd><div class="secret"><code[^>]*>(\w{24})</) ?? []
    const carl = dashboard.openBrowser()
    expect((await carl.submit('/sign-in', '/sign-in', { email: typed.email, password })).status).toBe(303)
    expect((await carl.get('/')).headers.get('location')).toBe(`/accounts/${own.accountId}`)
    const { id = '' } = (await operators.find(typed.email)) ?? {}
    expect((await post(`/operators/${id}`, { isActive: 'true', role: 'admin' })).status).toBe(400)
    expect(await operators.findById(id)).toMatchObject({ role: 'owner', accountId: own.accountId })
    expect((await browser.submit('/operators', `/operators/${id}`, { isActive: '' })).status).toBe(303)
    expect((await carl.get('/generations')).headers.get('location')).toMatch(/^\/sign-in/)
    expect((await carl.submit('/sign-in', '/sign-in', { email: typed.email, password })).status).toBe(401)
    const { id: admin = '' } = (await operators.find('ada@example.com')) ?? {}
    for (const one of [admin, other.operatorId])
      expect(doesNotExist(await post(`/operators/${one}`, { isActive: '' })), one).toBe(true)
    expect((await post(`/operators/${own.operatorId}`, { isActive: '' })).status).toBe(403)
    const taken = await browser.submit('/operators', '/operators', { email: other.email })
    expect([taken.status, /This address cannot be invited\./.test(taken.text), /exists/.test(taken.text)]).toEqual([
      ...[400, true, false],
    ])
    const { text: list } = await browser.get('/operators')
    expect(list).toMatch(/<h1>Members<\/h1>/)
    expect(list).not.toMatch(/ada@example|name="(role|account)"[^>]*required/)
  })

  it('changes the password that the inviter knows, which ends all other ways in', async () => {
    const { database } = dashboard
    const email = 'fay@alpha.example'
    const [first, second] = ['the first password', 'the second 👩‍👧 password']
    const passwordHash = hashQuickly(first)
    const { id } = await createOperators(database).insert({ email, name: null, passwordHash, accountId: own.accountId })
    const enter = async (password: string) => {
      const fay = dashboard.openBrowser()
      const { status } = await fay.submit('/sign-in', '/sign-in', { email, password })
      return { status, fay }
    }
    const [{ fay }, { fay: inviter }] = [await enter(first), await enter(first)]
    const awaitsCode = await createOperatorSignIns(database).insert({ id, passwordHash })
    const change = (password: string, newPassword: string, newPasswordAgain = newPassword) =>
      fay.submit('/second-factor', '/second-factor/password', { password, newPassword, newPasswordAgain })
    for (const [answer, message] of [
      [await change(first, 'too short'), 'Enter 12 to 200 characters.'],
      [await change(first, 'a tab\tin a password'), 'Enter no control characters, such as tabs.'],
      [await change(first, second, `${second}!`), 'Enter the same password as above.'],
      [await change('a wrong password', second), 'The current password is wrong.'],
    ] as const) {
      expect([answer.status, answer.text.includes(message)], message).toEqual([400, true])
      expect(answer.text).not.toMatch(/value="[^"]*(short|password)/)
    }
    expect((await inviter.get('/generations')).status).toBe(200)
    const answers = await Promise.all([change(first, second), change(first, 'yet another 👩‍👧 password')])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400])
    const valid = answers[0].status === 303 ? second : 'yet another 👩‍👧 password'
    expect((await fay.get('/generations')).status).toBe(200)
    expect((await inviter.get('/generations')).status).toBe(303)
    expect(await createOperatorSignIns(database).find(awaitsCode)).toBeNull()
    expect([(await enter(first)).status, (await enter(valid)).status]).toEqual([401, 303])
    const statuses = [(await change('a guess of it', second)).status, (await change('a guess of it', second)).status]
    const refused = await change(valid, second)
    expect([...statuses, refused.status]).toEqual([400, 400, 429])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const entries = await createOperatorAudit(database).listing.list({ text: 'password.' }, { limit: 9 })
    expect(entries.map(({ action, object }) => [action, object])).toEqual([
      ...[1, 2].map(() => ['password.refused', id]),
      ['password.change', id],
      ['password.refused', id],
    ])
    expect(JSON.stringify(entries)).not.toContain('the second')
    await database.query(sql.unsafe`update operator_sessions set method = 'provider' where operator_id = ${id}`)
    expect((await fay.get('/second-factor')).text).not.toContain('Current password')
  })

  it('is created by an admin for an account, and keeps it', async () => {
    const admin = await dashboard.signIn()
    const typed = { email: 'dora@beta.example', role: 'admin', account: 'Beta' }
    expect((await admin.submit('/operators', '/operators', typed)).status).toBe(200)
    const operators = createOperators(dashboard.database)
    const dora = await operators.find(typed.email)
    expect(dora).toMatchObject({ role: 'owner', accountId: other.accountId, accountName: 'Beta' })
    const refused = await post(`/operators/${dora?.id}`, { role: 'admin', isActive: 'true' }, admin)
    expect([refused.status, refused.text.includes('is an owner of an account and stays one')]).toEqual([400, true])
    const unknown = await admin.submit('/operators', '/operators', { ...typed, email: 'e@x.example', account: 'acc_x' })
    expect([unknown.status, await operators.find('e@x.example')]).toEqual([400, null])
    expect((await operators.find(typed.email))?.role).toBe('owner')
  })

  it('is deleted by an admin, who can then use the address', async () => {
    const operators = createOperators(dashboard.database)
    const admin = await dashboard.signIn()
    const typed = { email: 'erin@operator.example', role: 'support' }
    expect((await browser.submit('/operators', '/operators', { email: typed.email })).status).toBe(200)
    const { id = '' } = (await operators.find(typed.email)) ?? {}
    const erin = await dashboard.signIn(typed.email)
    // Entries of the audit log outlive the owner.
    expect((await erin.submit('/second-factor', '/second-factor/start')).status).toBe(200)
    expect((await admin.submit('/operators', '/operators', typed)).text).toContain('already exists')
    expect(doesNotExist(await post(`/operators/${id}/delete`, {}))).toBe(true)
    expect((await admin.submit('/operators', `/operators/${id}/delete`)).status).toBe(303)
    expect((await erin.get('/generations')).headers.get('location')).toMatch(/^\/sign-in/)
    const [entry] = await createOperatorAudit(dashboard.database).listing.list(
      { text: 'operator.delete' },
      { limit: 1 },
    )
    expect(entry).toMatchObject({ object: id, accountId: own.accountId, details: { email: typed.email } })
    expect((await admin.submit('/operators', '/operators', typed)).status).toBe(200)
    const { id: support = '', ...created } = (await operators.find(typed.email)) ?? {}
    expect(created).toMatchObject({ role: 'support', accountId: null, hasSecondFactor: false })
    expect((await post(`/operators/${support}/delete`, {}, admin)).status).toBe(403)
    expect((await admin.get('/operators')).text).not.toContain(`/operators/${support}/delete`)
    expect((await operators.find(typed.email))?.id).toBe(support)
  })

  it('reads the pages of a deactivated account, and changes nothing', async () => {
    const accounts = createAccounts(dashboard.database)
    const [page, key] = [`/accounts/${own.accountId}`, { name: 'late', kind: 'secret' }]
    await accounts.update(own.accountId, { isActive: false })
    expect((await browser.get(page)).status).toBe(200)
    const before = await stored(own)
    const answers = [
      await browser.submit(page, `${page}/keys`, key),
      await post(`${page}/keys/${own.keyId}/revoke`, {}),
      await browser.submit('/operators', '/operators', { email: 'late@alpha.example' }),
    ]
    expect(answers.map(({ status, text }) => [status, text.includes('Your account is deactivated.')])).toEqual(
      answers.map(() => [403, true]),
    )
    expect(await stored(own)).toEqual({ ...before, operator_sessions: expect.any(String) })
    await accounts.update(own.accountId, { isActive: true })
    expect((await browser.submit(page, `${page}/keys`, key)).status).toBe(200)
  })

  it('creates keys until the account has 100, also at the same time, and as many revoked ones stay', async () => {
    const page = `/accounts/${own.accountId}`
    const countKeys = async () => {
      const keys = await createApiKeys(dashboard.database).list(own.accountId)
      const live = keys.filter(({ revokedAt }) => revokedAt === null)
      return [live.length, keys.length - live.length] as const
    }
    const add = (name: string, keys: number, revokedAt: string | null) =>
      dashboard.database.query(sql.unsafe`
        insert into api_keys (id, account_id, kind, hash, last_four, revoked_at)
        select ${`key_${name}`} || i, ${own.accountId}, 'secret', sha256(${name}::text::bytea || i::text::bytea), 'last', ${revokedAt}::timestamptz
        from generate_series(1, ${keys}) as i`)
    const [live] = await countKeys()
    await add('live', 99 - live, null)
    await add('revoked', 150, '2020-01-01')
    expect((await browser.get(page)).text).toContain('at most 100 keys that are not revoked')
    const create = (kind: string) => post(`${page}/keys`, { name: 'one more', kind })
    const answers = await Promise.all(['secret', 'test', 'secret', 'publishable', 'test'].map(create))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
    expect(answers.filter(({ text }) => text.includes('The account has 100 keys. Revoke one first.'))).toHaveLength(4)
    expect((await post(`${page}/keys/key_live1/rotate`, {})).status).toBe(200)
    expect(await countKeys()).toEqual([100, 100])
    expect((await createApiKeys(dashboard.database).list(own.accountId)).map(({ id }) => id)).toContain('key_live1')
    expect((await post(`${page}/keys/key_live2/revoke`, {})).status).toBe(303)
    expect(await countKeys()).toEqual([99, 100])
  })

  it('adds a limited number of sessions and changes', async () => {
    const { database, options } = dashboard
    const email = 'gus@alpha.example'
    const { id } = await createOperators(database).insert({
      email,
      name: null,
      passwordHash: '',
      accountId: own.accountId,
    })
    await database.query(sql.unsafe`
      insert into operator_sessions (hash, operator_id) select sha256(i::text::bytea), ${id} from generate_series(1, 150) as i`)
    const gus = await dashboard.signIn(email)
    const count = database.oneFirst(
      sql.unsafe`select count(*)::integer from operator_sessions where operator_id = ${id}`,
    )
    expect(await count).toBe(100)
    const forms = { redis: options.redis, name: 'forms', points: 600, seconds: 600 }
    expect((await createRateLimiter(forms)(id, 599)).allowed).toBe(true)
    const start = () => gus.submit('/second-factor', '/second-factor/start')
    const answers = [await start(), await start()]
    expect(answers.map(({ headers }) => Number(headers.get('retry-after')) > 0)).toEqual([false, true])
    expect(answers.map(({ status, text }) => [status, text.includes('Too many changes.')])).toEqual([
      ...[
        [200, false],
        [429, true],
      ],
    ])
    expect((await gus.get('/second-factor')).status).toBe(200)
  })

  it('invites until the account has 100 members, also at the same time', async () => {
    const countMembers = () => createOperators(dashboard.database).countOwners(own.accountId)
    await dashboard.database.query(sql.unsafe`
      insert into operators (id, email, password_hash, role, account_id)
      select 'op_member' || i, 'member' || i || '@alpha.example', '', 'owner', ${own.accountId}
      from generate_series(1, ${99 - (await countMembers())}) as i`)
    const emails = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@late.example`)
    const answers = await Promise.all(emails.map((email) => post('/operators', { email })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400])
    expect(await countMembers()).toBe(100)
  })

  it('follows only links that lead somewhere', async () => {
    const seen = new Set([`/accounts/${own.accountId}`])
    for (const path of seen) {
      const { status, text } = await browser.get(path)
      expect([200, 303], path).toContain(status)
      for (const [, link] of text.matchAll(/ href="(\/[^"?#]*)/g)) {
        const kind = link.replaceAll(/(?<=\/)[a-z]+_[\w-]+/g, ':id')
        if (![...seen].some((one) => one.replaceAll(/(?<=\/)[a-z]+_[\w-]+/g, ':id') === kind)) seen.add(link)
      }
    }
    expect(seen.size).toBeGreaterThan(15)
  })
})
