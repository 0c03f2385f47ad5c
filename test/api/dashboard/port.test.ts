import { afterAll, describe, expect, it } from 'vitest'
import { readApiConfig } from '../../../api/config.ts'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { startDrape } from '../../support/drape.ts'
import { startProgram } from '../../support/process.ts'

describe('the port of the dashboard', async () => {
  const reserved = await reserveFreePort()
  await reserved.release()
  const port = String(reserved.port)
  const url = `http://127.0.0.1:${port}`
  const drape = await startDrape({ env: { DASHBOARD_PORT: port } })
  afterAll(() => drape.stop())

  it('serves the dashboard to an operator created on the command line', async () => {
    const { answered } = createCommandLine(drape.env.DATABASE_URL)
    const { password } = await answered('operator', 'create', '--email', 'ada@example.com')
    const form = new URLSearchParams({ email: 'ada@example.com', password })
    const sent = { method: 'POST', body: form, headers: { origin: url }, redirect: 'manual' as const }
    const answer = await fetch(`${url}/sign-in`, sent)
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    const page = await fetch(`${url}/accounts`, { headers: { cookie } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('ada@example.com')])
    expect((await fetch(`${url}/tryon/v1/account`, { headers: { 'x-api-key': drape.apiKey, cookie } })).status).toBe(
      404,
    )
    // The public port has no dashboard, with or without a session.
    for (const path of ['/sign-in', '/accounts', '/dashboard.css', '/audit']) {
      expect((await fetch(`${drape.api.url}${path}`, { headers: { cookie } })).status, path).toBe(404)
      expect((await fetch(`${drape.api.probeUrl}${path}`, { headers: { cookie } })).status, path).toBe(404)
    }
    const posted = await fetch(`${drape.api.url}/sign-in`, { ...sent, headers: { origin: drape.api.url } })
    expect(posted.status).toBe(404)
    // Neither its password nor its session is in the log.
    const token = cookie.split('=')[1]
    expect(drape.api.output()).not.toMatch(new RegExp(`${password}|${token}`))
  })

  it('is closed where none is configured', async () => {
    const { DASHBOARD_PORT, ...env } = drape.env
    const closed = await startProgram('api', env)
    expect(closed.output()).not.toContain('dashboard listening')
    await closed.end()
  })

  it('opens while the identity provider is unavailable', async () => {
    const reserved = [await reserveFreePort(), await reserveFreePort()]
    await Promise.all(reserved.map((one) => one.release()))
    const [own, away] = reserved.map((one) => String(one.port))
    const env = { DASHBOARD_PORT: own, DASHBOARD_URL: `http://127.0.0.1:${own}`, OIDC_CLIENT_ID: 'drape' }
    const api = await startProgram('api', { ...drape.env, ...env, OIDC_ISSUER: `http://127.0.0.1:${away}` })
    const page = await fetch(`http://127.0.0.1:${own}/sign-in`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(`Sign in with 127.0.0.1:${away}`)])
    const answer = await fetch(`http://127.0.0.1:${own}/sign-in/provider`)
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('does not respond')])
    await api.end()
  })

  it('refuses an incomplete single sign-on configuration', () => {
    const issuer = { OIDC_ISSUER: 'https://login.example' }
    const whole = { ...issuer, OIDC_CLIENT_ID: 'drape', DASHBOARD_URL: 'https://ops.example', NODE_ENV: 'production' }
    const read = (env: Record<string, string>) => () =>
      readApiConfig({ ...drape.env, NODE_ENV: 'development', SIGNING_SECRET: 'a secret for this test', ...env })
    expect(read(issuer)).toThrow(/OIDC_CLIENT_ID\n.*DASHBOARD_URL/)
    expect(read(whole)).not.toThrow()
    expect(read({ ...whole, OIDC_TRUST_EMAIL: 'perhaps' })).toThrow('OIDC_TRUST_EMAIL')
    expect(read({ ...whole, OIDC_ISSUER: 'http://login.example' })).toThrow('OIDC_ISSUER must be https')
    expect(read({ ...whole, OIDC_OPERATORS: 'groups' })).toThrow('OIDC_OPERATORS')
    expect(read({ ...whole, OIDC_OPERATORS: 'groups=a, role=b=c' })).not.toThrow()
    expect(read({ ...whole, OIDC_SCOPE: 'email' })).toThrow('OIDC_SCOPE')
    expect(read({ ...whole, OIDC_ROLES: 'groups=a:admin,groups=b:c:support' })).not.toThrow()
    expect(read({ ...whole, OIDC_ROLES: 'groups=a:owner' })).toThrow('OIDC_ROLES')
  })

  it('starts only with a way to sign in, and asks admins for a second factor outside development', () => {
    const issuer = { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'a', DASHBOARD_URL: 'https://ops.example' }
    const read = (env: Record<string, string>) =>
      readApiConfig({ ...drape.env, NODE_ENV: 'development', SIGNING_SECRET: 'a secret for this test', ...env })
    expect(() => read({ DASHBOARD_PASSWORD_SIGN_IN: 'false' })).toThrow('DASHBOARD_PASSWORD_SIGN_IN=false needs')
    expect(read({ ...issuer, DASHBOARD_PASSWORD_SIGN_IN: 'false' }).DASHBOARD_PASSWORD_SIGN_IN).toBe('false')
    expect(read({}).DASHBOARD_SECOND_FACTOR).toBe('optional')
    expect(read({ NODE_ENV: 'production' }).DASHBOARD_SECOND_FACTOR).toBe('admin')
    expect(read({ NODE_ENV: 'production', DASHBOARD_SECOND_FACTOR: 'all' }).DASHBOARD_SECOND_FACTOR).toBe('all')
  })

  it('must differ from other ports, and have a valid URL', () => {
    const env = { ...drape.env, NODE_ENV: 'development', PORT: '8080' }
    expect(() => readApiConfig({ ...env, DASHBOARD_PORT: '8080' })).toThrow(
      'DASHBOARD_PORT must differ from the other ports',
    )
    expect(() => readApiConfig({ ...env, DASHBOARD_PORT: '8081', DASHBOARD_URL: 'nonsense' })).toThrow('DASHBOARD_URL')
  })
})
