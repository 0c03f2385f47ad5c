import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorAudit } from '../../../../api/dashboard/operator-audit.store.ts'
import { createIdentityProvider } from '../../../../api/dashboard/sign-in/identity-provider.ts'
import { createOperatorSessions } from '../../../../api/dashboard/sign-in/operator-sessions.store.ts'
import { createOperators, type OperatorRecord } from '../../../../api/dashboard/sign-in/operators.store.ts'
import { verifyPassword } from '../../../../api/dashboard/sign-in/password.ts'
import { type Database, sql, withinTransaction } from '../../../../api/shared/database/database.ts'
import {
  hashQuickly,
  OPERATOR,
  readFormFields,
  startDashboard,
  type TestDashboard,
} from '../../../support/dashboard.ts'

describe('signing in to the dashboard', () => {
  let dashboard: TestDashboard
  beforeAll(async () => {
    dashboard = await startDashboard()
  })
  afterAll(() => dashboard.stop())

  const listAudit = (about: string) =>
    createOperatorAudit(dashboard.database).listing.list({ text: about }, { limit: 9 })
  const add = async (email: string, password: string) =>
    createOperators(dashboard.database).insert({
      email,
      name: null,
      passwordHash: hashQuickly(password),
      role: 'admin',
    })

  it('sets a cookie that is HttpOnly and SameSite, and opens the pages', async () => {
    const browser = dashboard.openBrowser()
    const answer = await browser.submit('/sign-in', '/sign-in', OPERATOR)
    expect(answer.status).toBe(303)
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^drape-operator=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
      expect.stringMatching(
        /^drape-browser=[\w-]{22}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7776000$/,
      ),
    ])
    const page = await browser.get('/')
    expect(page.status).toBe(200)
    expect(page.text).toContain(OPERATOR.email)
    expect((await listAudit('sign-in')).map(({ operatorEmail }) => operatorEmail)).toContain(OPERATOR.email)
  })

  it('stores only the hash of the session', async () => {
    const { cookie } = await dashboard.signIn()
    const token = cookie.split('=')[1]
    const rows = await dashboard.database.any(sql.unsafe`select encode(hash, 'hex') as hash from operator_sessions`)
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(token).toString('hex'))
  })

  it('sets a __Host- cookie with TLS', async () => {
    const secure = await startDashboard({ origin: 'https://drape.example' })
    const browser = secure.openBrowser()
    const form = new URLSearchParams(OPERATOR)
    expect((await browser.post('/sign-in', form)).status).toBe(403)
    const answer = await browser.post('/sign-in', form, { origin: 'https://drape.example' })
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-drape-operator=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/),
      expect.stringMatching(/^__Host-drape-browser=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=\d+$/),
    ])
    expect(answer.headers.get('strict-transport-security')).toContain('max-age=')
    expect((await browser.get('/')).status).toBe(200)
    await secure.stop()
  })

  it('refuses a wrong password and an unknown operator with the same message, and computes a hash for both', async () => {
    const before = dashboard.countHashes()
    const browser = dashboard.openBrowser()
    const wrong = await browser.submit('/sign-in', '/sign-in', { ...OPERATOR, password: 'wrong' })
    expect(dashboard.countHashes()).toBe(before + 1)
    const unknown = await browser.submit('/sign-in', '/sign-in', { email: 'bob@example.com', password: 'wrong' })
    expect(dashboard.countHashes()).toBe(before + 2)
    const plain = (text: string) => text.replaceAll(/[\w-]{36}|ada@|bob@|-[\da-f]{8}/g, '')
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(plain(wrong.text)).toBe(plain(unknown.text))
    expect((await listAudit('sign-in.refused')).length).toBe(2)
    expect(JSON.stringify(await listAudit('sign-in.refused'))).not.toContain('bob@')
  })

  it('computes no hash after too many attempts for an operator, and says when to try again', async () => {
    await add('grace@example.com', 'the right password')
    const browser = dashboard.openBrowser()
    const attempt = (password: string) =>
      browser.post('/sign-in', new URLSearchParams({ email: 'grace@example.com', password }))
    for (let i = 0; i < 10; i++) expect((await attempt('wrong')).status).toBe(401)
    const before = dashboard.countHashes()
    const refused = await attempt('the right password')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(dashboard.countHashes()).toBe(before)
  })

  describe('while passwords are guessed', () => {
    const [EMAIL, OTHER, PASSWORD] = ['known@example.com', 'other@example.com', 'the right password']
    let guarded: TestDashboard
    /** Of browsers in which the first operator, and the second, have signed in before. */
    let known: string[]
    let foreign: string

    const attempt = (cookie: string, password = PASSWORD, email = EMAIL) =>
      Object.assign(guarded.openBrowser(), { cookie }).post('/sign-in', new URLSearchParams({ email, password }))
    const signInAs = async (email: string) => {
      const cookies = (await attempt('', PASSWORD, email)).headers.getSetCookie().map((cookie) => cookie.split(';')[0])
      return cookies.find((cookie) => cookie.startsWith('drape-browser=')) ?? 'no cookie'
    }
    beforeAll(async () => {
      guarded = await startDashboard()
      const operators = createOperators(guarded.database)
      const passwordHash = hashQuickly(PASSWORD)
      for (const email of [EMAIL, OTHER]) await operators.insert({ email, name: null, passwordHash, role: 'admin' })
      known = [await signInAs(EMAIL), await signInAs(EMAIL), await signInAs(EMAIL)]
      foreign = await signInAs(OTHER)
      // With the first sign-ins, all attempts of unknown browsers for the operator.
      for (let i = known.length; i < 10; i++) await attempt('', `guess ${i}`)
    })
    afterAll(() => guarded.stop())

    it('accepts browsers in which the operator has signed in before, and no others', async () => {
      const [cookie] = known
      for (const other of ['', foreign, `${cookie}x`, cookie.replace(/=[^.]+/, '=forged'), cookie.split('.')[0]])
        expect([other, (await attempt(other)).status]).toEqual([other, 429])
      expect((await attempt(cookie)).status).toBe(303)
    })

    it('gives a browser with the cookie no additional attempts, and does not lock out others', async () => {
      const [, stolen, own] = known
      for (let i = 0; i < 10; i++) expect((await attempt(stolen, `guess ${i}`)).status).toBe(401)
      expect((await attempt(stolen)).status).toBe(429)
      expect((await attempt(own)).status).toBe(303)
    })

    it('does not recognise browsers from before a password change', async () => {
      const [, , own] = known
      const passwordHash = hashQuickly('another password')
      await guarded.database.query(sql.unsafe`
        update operators set password_hash = ${passwordHash} where lower(email) = ${EMAIL}`)
      expect((await attempt(own, 'another password')).status).toBe(429)
    })

    it('recognises the browser in which the operator has changed the password', async () => {
      const browser = Object.assign(guarded.openBrowser(), { cookie: foreign })
      await browser.submit('/sign-in', '/sign-in', { email: OTHER, password: PASSWORD })
      const changed = { newPassword: 'another password', newPasswordAgain: 'another password' }
      await browser.submit('/second-factor', '/second-factor/password', { password: PASSWORD, ...changed })
      const [cookie = ''] = browser.cookie.match(/drape-browser=[^;]+/) ?? []
      while ((await attempt('', 'a guess', OTHER)).status !== 429);
      expect((await attempt(cookie, 'another password', OTHER)).status).toBe(303)
    })
  })

  describe('while the operator changes', () => {
    const PASSWORD = 'the right password'
    const passwordHash = hashQuickly(PASSWORD)
    let slow: TestDashboard
    let onVerified: () => Promise<void>
    beforeAll(async () => {
      slow = await startDashboard({
        verifyPassword: async (...given) => {
          const isRight = await verifyPassword(...given)
          await onVerified()
          return isRight
        },
      })
    })
    afterAll(() => slow.stop())

    const insert = (about: string) =>
      createOperators(slow.database).insert({
        ...{ email: `${about.replaceAll(' ', '-')}@example.com`, name: null, passwordHash, role: 'admin' as const },
      })
    const addFactor = (within: Database, id: string) =>
      within.query(sql.unsafe`
        insert into operator_second_factors (operator_id, secret, confirmed_at) values (${id}, 'secret', now())`)
    type Change = (within: Database, one: OperatorRecord) => Promise<unknown>
    const choosePassword: Change = async (within, { id }) => {
      await createOperators(within).replacePassword({ id, from: passwordHash, to: 'another' })
      await createOperatorSessions(within).deleteOthers(id, '')
    }
    const setPassword: Change = (within, { email }) => createOperators(within).setPassword(email, 'another')
    const disable: Change = (within, { email }) => createOperators(within).setActive(email, false)
    const enrol: Change = async (within, { id }) => {
      await addFactor(within, id)
      await createOperatorSessions(within).deleteOthers(id, '')
    }

    it.each([
      ['a new password', choosePassword, 401],
      ['a new password before the code', choosePassword, 303],
      ['a reset password', setPassword, 401],
      ['the end of the rights', disable, 401],
      ['a new second factor', enrol, 401],
    ])('opens no session after %s', async (what, change, status) => {
      const operator = await insert(what)
      if (status === 303) await addFactor(slow.database, operator.id)
      const [verified, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      onVerified = () => {
        verified.resolve()
        return changed.promise
      }
      const entering = slow
        .openBrowser()
        .post('/sign-in', new URLSearchParams({ email: operator.email, password: PASSWORD }))
      await verified.promise
      const answer = await slow.overlap(
        (within) => change(within, operator),
        () => {
          changed.resolve()
          return entering
        },
      )
      expect(answer.status).toBe(status)
      expect(
        await slow.database.any(sql.unsafe`
          select operator_id from operator_sessions where operator_id = ${operator.id}
          union all select operator_id from operator_sign_ins where operator_id = ${operator.id}`),
      ).toEqual([])
    })

    it.each([
      ['password', setPassword],
      ['lost second factor', (within, { id }) => createOperators(within).resetSecondFactor(id)],
      [
        'second factor',
        (_, { id }) =>
          slow.database.transaction((transaction) =>
            createOperatorSessions(withinTransaction(slow.database, transaction)).deleteOthers(id, ''),
          ),
      ],
    ] satisfies [string, Change][])('ends a session for which a change of the %s waits', async (what, change) => {
      const operator = await insert(what)
      let token = ''
      const enter = async (within: Database) => {
        await createOperators(within).isUnchanged({ ...operator, passwordHash })
        token = await createOperatorSessions(within).insert(operator.id)
      }
      await slow.overlap(enter, () => change(slow.database, operator))
      expect(await createOperatorSessions(slow.database).find(token)).toBeNull()
    })
  })

  it('accepts no password when only the provider signs operators in', async () => {
    const provider = createIdentityProvider({
      issuer: 'http://127.0.0.1:9',
      clientId: 'drape',
      clientSecret: '',
      scope: 'openid',
      redirectUrl: 'http://127.0.0.1/sign-in/provider/callback',
    })
    const singleSignOn = { provider, grants: [], roles: null, trustsEmail: false }
    const other = await startDashboard({ passwords: false, singleSignOn })
    const browser = other.openBrowser()
    const { text } = await browser.get('/sign-in')
    expect(text).toContain('Sign in with 127.0.0.1:9')
    expect(text).not.toMatch(/type="password"|action="\/sign-in"/)
    for (const path of ['/sign-in', '/sign-in/code', '/Sign-In', '/sign-in/']) {
      const answer = await browser.post(path, new URLSearchParams({ ...OPERATOR, code: '000000' }))
      expect([answer.status, answer.headers.get('set-cookie')], path).toEqual([303, null])
    }
    expect(other.countHashes()).toBe(0)
    expect(other.routes).not.toContain('POST /second-factor/password')
    await other.stop()
  })

  it('redirects to the requested page, but never to another site', async () => {
    const other = await startDashboard()
    const browser = other.openBrowser()
    const asked = await browser.get('/accounts?q=a')
    expect([asked.status, asked.headers.get('location')]).toEqual([303, '/sign-in?next=%2Faccounts%3Fq%3Da'])
    for (const [next, place] of [
      ['/accounts?q=a', '/accounts?q=a'],
      ['//evil.example', '/'],
      ['/\\evil.example', '/'],
      ['https://evil.example', '/'],
    ]) {
      const answer = await browser.post('/sign-in', new URLSearchParams({ ...OPERATOR, next }))
      expect(answer.headers.get('location'), next).toBe(place)
    }
    await other.stop()
  })
})

describe('a session of the dashboard', () => {
  let dashboard: TestDashboard
  beforeAll(async () => {
    dashboard = await startDashboard()
  })
  afterAll(() => dashboard.stop())

  const isOpen = async (browser: { get(path: string): Promise<{ status: number }> }) =>
    (await browser.get('/accounts')).status === 200

  it('ends after inactivity, and after its maximum duration', async () => {
    const [idle, old, used] = [await dashboard.signIn(), await dashboard.signIn(), await dashboard.signIn()]
    const age = (column: 'seen_at' | 'created_at', { cookie }: { cookie: string }, interval: string) =>
      dashboard.database.query(sql.unsafe`
        update operator_sessions set ${sql.identifier([column])} = now() - ${interval}::interval
        where hash = sha256(${cookie.split('=')[1]}::text::bytea)`)
    await age('seen_at', idle, '31 minutes')
    await age('created_at', old, '12 hours 1 minute')
    await age('seen_at', used, '29 minutes')
    expect([await isOpen(idle), await isOpen(old), await isOpen(used)]).toEqual([false, false, true])
  })

  it('does not execute a request sent after its end, and says so', async () => {
    const browser = await dashboard.signIn()
    const { text } = await browser.get('/accounts/new')
    const { form } = readFormFields(text, '/accounts')
    await dashboard.database.query(sql.unsafe`delete from operator_sessions`)
    const answer = await browser.post('/accounts', new URLSearchParams({ form, name: 'Late', retentionDays: '7' }))
    const place = '/sign-in?ended=true&next=%2Faccounts%2Fnew'
    expect([answer.status, answer.headers.get('location')]).toEqual([303, place])
    expect((await browser.get(place)).text).toContain('was not executed')
    expect(await dashboard.database.exists(sql.unsafe`select 1 from accounts`)).toBe(false)
  })

  it('ends at sign-out, even for a copy of the cookie', async () => {
    const browser = await dashboard.signIn()
    const { cookie } = browser
    const answer = await browser.submit('/', '/sign-out')
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
    browser.cookie = cookie
    expect(await isOpen(browser)).toBe(false)
  })

  it('ends when the operator is disabled or has another password', async () => {
    const operators = createOperators(dashboard.database)
    const browser = await dashboard.signIn()
    await operators.setPassword(OPERATOR.email.toUpperCase(), hashQuickly(OPERATOR.password))
    expect(await isOpen(browser)).toBe(false)
    const again = await dashboard.signIn()
    await operators.setActive(OPERATOR.email, false)
    expect(await isOpen(again)).toBe(false)
    const refused = await dashboard.openBrowser().post('/sign-in', new URLSearchParams(OPERATOR))
    expect(refused.status).toBe(401)
    await operators.setActive(OPERATOR.email, true)
    expect(await isOpen(await dashboard.signIn())).toBe(true)
  })

  it('refuses a form without its token or from another site', async () => {
    const browser = await dashboard.signIn()
    const { text } = await browser.get('/accounts/new')
    const { form } = readFormFields(text, '/accounts')
    const send = (form: string, headers: Record<string, string> = {}) =>
      browser.post('/accounts', new URLSearchParams({ form, name: 'Forged', retentionDays: '7' }), headers)
    const email = 'foreign@example.com'
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash: '', role: 'admin' })
    const other = await dashboard.signIn(email)
    const { form: foreign } = readFormFields((await other.get('/accounts/new')).text, '/accounts')
    for (const refused of [
      await send(''),
      await send(foreign),
      await send(form, { origin: 'https://evil.example' }),
      await send(form, { origin: 'null' }),
      await send(form, { origin: '' }),
    ]) {
      expect(refused.status).toBe(403)
    }
    expect(await dashboard.database.exists(sql.unsafe`select 1 from accounts where name = 'Forged'`)).toBe(false)
    expect((await send(form)).status).toBe(200)
    expect(await dashboard.database.exists(sql.unsafe`select 1 from accounts where name = 'Forged'`)).toBe(true)
  })
})
