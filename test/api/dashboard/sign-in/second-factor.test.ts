import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { createOperators, type Role } from '../../../../api/dashboard/sign-in/operators.store.ts'
import { codeAt, findStep, generateTotpSecret, presentTotpUri } from '../../../../api/dashboard/sign-in/totp.ts'
import { createStoredSecrets } from '../../../../api/secrets/stored-secrets.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { hashQuickly, type OperatorBrowser, readFormFields, startDashboard } from '../../../support/dashboard.ts'

describe('a time-based code', () => {
  /** `12345678901234567890` in base32; RFC 6238, appendix B, the last six digits. */
  const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i s is %s', (seconds, code) => {
    expect(codeAt(SECRET, Math.floor(seconds / 30))).toBe(code)
    expect(findStep(SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30))
    expect(findStep(SECRET, code, (seconds + 30) * 1000)).toBe(Math.floor(seconds / 30))
    expect(findStep(SECRET, code, (seconds + 90) * 1000)).toBeNull()
  })

  it('belongs to a secret of 160 bits that apps can read', () => {
    const secret = generateTotpSecret()
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(presentTotpUri(secret, { issuer: 'The Shop', account: 'a@b.example' })).toBe(
      `otpauth://totp/The%20Shop:a%40b.example?secret=${secret}&issuer=The%20Shop`,
    )
  })
})

describe('the second factor of an operator', async () => {
  const PASSWORD = 'a password of the test'
  /** On a boundary of time steps. */
  let at = 1_800_000_000_000
  const dashboard = await startDashboard({ secondFactor: 'admin', now: () => at })
  const passwordHash = hashQuickly(PASSWORD)
  beforeEach(() => {
    at += 300_000
  })
  afterAll(() => dashboard.stop())

  let count = 0
  const add = async (role: Role) => {
    const email = `operator-${++count}@example.com`
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash, role })
    return email
  }
  const enterPassword = async (email: string) => {
    const browser = dashboard.openBrowser()
    const answer = await browser.submit('/sign-in', '/sign-in', { email, password: PASSWORD })
    return { browser, next: answer.headers.get('location') }
  }
  const enterCode = (browser: OperatorBrowser, code: string) =>
    browser.post('/sign-in/code', new URLSearchParams({ code, next: '/accounts' }))
  const codeOf = (secret: string) => codeAt(secret, Math.floor(at / 30_000))
  const enrol = async (browser: OperatorBrowser) => {
    const { text } = await browser.submit('/second-factor', '/second-factor/start')
    expect(text).toMatch(/<svg class="qr"[^>]*><path d="M0 0h1v1h-1z/)
    const secret = (text.match(/<code\b[^>]*>([A-Z2-7 ]{39})<\/code>/)?.[1] ?? '').replaceAll(' ', '')
    const [, form = ''] =
      text.match(/action="\/second-factor\/confirm">\s*<input type="hidden" name="form" value="([^"]+)"/) ?? []
    const confirm = (code: string) => browser.post('/second-factor/confirm', new URLSearchParams({ form, code }))
    return { secret, confirm }
  }
  const enrolled = async (role: Role) => {
    const email = await add(role)
    const browser = await dashboard.signIn(email)
    const { secret, confirm } = await enrol(browser)
    const { text } = await confirm(codeOf(secret))
    const recovery = [...text.matchAll(/<code>([\w-]{14})<\/code>/g)].map(([, code]) => code)
    at += 60_000
    return { email, browser, secret, recovery }
  }

  it('must be set up by an admin before any other action', async () => {
    const { browser } = await enterPassword(await add('admin'))
    for (const path of ['/', '/accounts', '/operators'])
      expect((await browser.get(path)).headers.get('location')).toBe('/second-factor?required=true')
    const { secret, confirm } = await enrol(browser)
    expect((await confirm('000000')).status).toBe(400)
    expect((await browser.get('/accounts')).status).toBe(303)
    expect((await confirm(codeOf(secret))).status).toBe(200)
    expect((await browser.get('/accounts')).status).toBe(200)
    const other = await enterPassword(await add('viewer'))
    expect((await other.browser.get('/accounts')).status).toBe(200)
  })

  it('must be set up by an owner of an account, who cannot remove it', async () => {
    const { id: accountId } = await createAccounts(dashboard.database).insert({
      name: 'Alpha',
      email: null,
      credits: 0,
    })
    const email = 'olga@alpha.example'
    await createOperators(dashboard.database).insert({ email, name: null, passwordHash, accountId })
    const { browser } = await enterPassword(email)
    const required = '/second-factor?required=true'
    expect((await browser.get(`/accounts/${accountId}`)).headers.get('location')).toBe(required)
    const { secret, confirm } = await enrol(browser)
    expect((await confirm(codeOf(secret))).status).toBe(200)
    expect((await browser.get(`/accounts/${accountId}`)).status).toBe(200)
    expect((await browser.get('/second-factor')).text).not.toContain('/second-factor/remove')
  })

  it('is required after the password, and no code works twice', async () => {
    const { email, secret } = await enrolled('admin')
    const first = await enterPassword(email)
    expect(first.next).toBe('/sign-in/code?next=%2F')
    expect((await first.browser.get('/accounts')).status).toBe(303)
    const code = codeOf(secret)
    const second = await enterPassword(email)
    const answers = await Promise.all([enterCode(first.browser, code), enterCode(second.browser, code)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 401])
    at += 30_000
    const third = await enterPassword(email)
    expect((await enterCode(third.browser, code)).status).toBe(401)
    const entered = await enterCode(third.browser, codeOf(secret))
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/accounts'])
  })

  it('is accepted only within 5 minutes after the correct password', async () => {
    const { email, secret } = await enrolled('support')
    const refused = '/sign-in?late=true&next=%2Faccounts'
    expect((await enterCode(dashboard.openBrowser(), codeOf(secret))).headers.get('location')).toBe(refused)
    const { browser } = await enterPassword(email)
    await dashboard.database.query(sql.unsafe`update operator_sign_ins set created_at = now() - interval '6 minutes'`)
    expect((await enterCode(browser, codeOf(secret))).headers.get('location')).toBe(refused)
    const { text } = await browser.get(refused)
    expect(text).toContain('only within 5 minutes after the password')
    expect(readFormFields(text, '/sign-in')).toMatchObject({ next: '/accounts' })
  })

  it('opens no session after the password was changed', async () => {
    const { email, secret } = await enrolled('support')
    const { browser } = await enterPassword(email)
    const answer = await dashboard.overlap(
      (within) => createOperators(within).setPassword(email, 'another'),
      () => enterCode(browser, codeOf(secret)),
    )
    expect(answer.headers.get('location')).toBe('/sign-in?late=true&next=%2Faccounts')
    expect((await browser.get('/accounts')).status).toBe(303)
  })

  it('has recovery codes that work once each, and are stored only as hashes', async () => {
    const { email, recovery } = await enrolled('support')
    expect(new Set(recovery).size).toBe(10)
    const stored = await dashboard.database.any(sql.unsafe`select recovery_hashes::text from operator_second_factors`)
    expect(JSON.stringify(stored)).not.toContain(recovery[0].replaceAll('-', ''))
    const enter = async () => (await enterCode((await enterPassword(email)).browser, recovery[0].toUpperCase())).status
    expect([await enter(), await enter()]).toEqual([303, 401])
  })

  it('has an encrypted secret, which is encrypted again under a new key', async () => {
    const { email, secret } = await enrolled('support')
    const stored = await dashboard.database.any(sql.unsafe`select secret::text from operator_second_factors`)
    expect(JSON.stringify(stored)).not.toContain(secret)
    const { id = '' } = (await createOperators(dashboard.database).find(email)) ?? {}
    await dashboard.database.query(sql.unsafe`
      update operator_second_factors set secret = ${secret} where operator_id = ${id}`)
    expect(await createStoredSecrets(dashboard.database).rewrap()).toBe(1)
    expect((await enterCode((await enterPassword(email)).browser, codeOf(secret))).status).toBe(303)
  })

  it('allows 5 codes in 15 minutes', async () => {
    const { email, secret } = await enrolled('support')
    const { browser } = await enterPassword(email)
    const statuses: number[] = []
    // Setting it up was the first.
    for (let i = 0; i < 5; i++) statuses.push((await enterCode(browser, `00000${i}`)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 429])
    const { status, headers } = await enterCode(browser, codeOf(secret))
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  it('can be set up again after a reset, whatever was tried before', async () => {
    const { email } = await enrolled('support')
    const { browser } = await enterPassword(email)
    for (let i = 0; i < 5; i++) await enterCode(browser, `00000${i}`)
    const operators = createOperators(dashboard.database)
    await operators.resetSecondFactor((await operators.find(email))?.id ?? '')
    const { secret, confirm } = await enrol(await dashboard.signIn(email))
    const tries: number[] = []
    for (let i = 0; i < 4; i++) tries.push((await confirm(`00000${i}`)).status)
    tries.push((await confirm(codeOf(secret))).status)
    expect(tries).toEqual([400, 400, 400, 400, 200])
  })

  it('ends the other sessions of the operator when it is set up', async () => {
    const email = await add('support')
    const [first, second] = [await dashboard.signIn(email), await dashboard.signIn(email)]
    const { secret, confirm } = await enrol(first)
    await confirm(codeOf(secret))
    expect([(await first.get('/accounts')).status, (await second.get('/accounts')).status]).toEqual([200, 303])
  })

  it('is removed with a code, but not by operators who must have a second factor', async () => {
    const { browser, secret } = await enrolled('support')
    const remove = (code: string) => browser.submit('/second-factor', '/second-factor/remove', { code })
    expect((await remove('000000')).status).toBe(400)
    expect((await remove(codeOf(secret))).status).toBe(303)
    expect((await browser.get('/second-factor')).text).toContain('action="/second-factor/start"')
    const admin = await enrolled('admin')
    expect((await admin.browser.get('/second-factor')).text).not.toContain('/second-factor/remove')
  })
})
