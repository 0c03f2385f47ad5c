import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findOperator } from '../../../scripts/stack/demo-records.ts'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { APP_CONTEXT, eventOf } from '../../support/analytics-events.ts'
import { commandsOf } from '../../support/documented-blocks.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { spawnProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const [DEMO, TEST] = commandsOf('README.md', 'Two commands').split('\n')

describe('scripts/demo', () => {
  it('serves all printed URLs, a shop and a result; keeps account, sign-in, ports and result across restarts', async () => {
    const dataFolder = (await requestService('folder', null)).path
    // Other stacks of the tests may hold the usual ports during one of the two starts.
    const ports: Record<string, string> = {}
    for (const name of ['PORT', 'DASHBOARD_PORT', 'SHOP_PORT', 'POSTGRES_PORT', 'REDIS_PORT']) {
      const { port, release } = await reserveFreePort()
      await release()
      ports[name] = String(port)
    }
    const opened = join(dataFolder, 'opened')
    const opener = join(dataFolder, 'programs')
    await mkdir(opener)
    await writeFile(join(opener, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`)
    await chmod(join(opener, 'xdg-open'), 0o700)
    const env = { DATA_DIR: dataFolder, PATH: `${opener}:${process.env.PATH}`, ...ports }
    const first = await start(DEMO.replace('scripts/demo', 'scripts/demo --open'), env)
    const [, url, apiKey] = /^ {2}export DRAPE_URL=(\S+) DRAPE_API_KEY=(\S+) ACCOUNT=acc_\S+$/m.exec(first.output) ?? []
    const [, dashboard, email, password] =
      /(http:\S+) +dashboard .* as (\S+) with the password (\S+)/.exec(first.output) ?? []
    const [, result] = /^URL: +(\S+)$/m.exec(first.output) ?? []
    expect(first.output.indexOf(password)).toBeLessThan(first.output.indexOf('Trying'))
    expect(await readFile(opened, 'utf8')).toBe(`${url}/playground#key=${apiKey}`)
    const [, product] = /^ {2}(\S+) +a product of the sample shop/m.exec(first.output) ?? []
    expect(await (await fetch(product)).text()).toContain('<drape-try-on')
    for (const path of ['widget.js', 'public/check-credits', 'public/consent'])
      expect((await fetch(new URL(`/apps/drape/${path}`, product))).status).toBe(200)
    for (const page of [`${url}/playground`, `${url}/docs`, dashboard, result])
      expect((await fetch(page)).status).toBe(200)
    const form = new URLSearchParams({ email, password })
    const signedIn = await fetch(`${dashboard}/sign-in`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { origin: dashboard },
    })
    expect(signedIn.status).toBe(303)
    const account = { headers: { 'x-api-key': apiKey } }
    expect(await (await fetch(`${url}/tryon/v1/account/credits`, account)).json()).toEqual({ creditBalance: 99 })
    const [, publishableKey, shop] = /^ {2}export PUBLISHABLE_KEY=(pk_\S+) SHOP=(\S+)$/m.exec(first.output) ?? []
    const credits = await fetch(`${url}/public/check-credits`, { headers: { 'x-drape-shop': shop } })
    expect(await credits.json()).toEqual({ allowed: true, outfits: true })
    const events = await fetch(`${url}/storefront/v1/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${publishableKey}`,
        'content-type': 'application/json',
        'x-service-anonymous-id': APP_CONTEXT.anonymous_id,
      },
      body: JSON.stringify({ events: [eventOf('demo')], context: APP_CONTEXT }),
    })
    expect(await events.json()).toEqual({ success: true })
    const runBeside = (...args: string[]) =>
      spawnProcess({ command: `${ROOT}/scripts/shop`, args, cwd: '/', env: { ...process.env, ...env } })
    const beside = await runBeside()
    expect(await beside.ended, beside.output()).toBe(0)
    expect(await (await runBeside('--nosuch')).ended).toBe(2)
    expect(nextStepsOf(beside.output())).toBe(nextStepsOf(first.output))
    expect(await first.program.end('SIGTERM')).toBe(0)

    const [, path] = /^Result: +(\S+)$/m.exec(first.output) ?? []
    const again = await start(`${ROOT}/scripts/shop`, { ...env, WORKER_REPLICAS: '0' }, '/')
    expect(again.output).toMatch(new RegExp(`^Result: +${path}$`, 'm'))
    expect(again.output).not.toContain('Trying')
    expect(nextStepsOf(again.output)).toBe(nextStepsOf(first.output))
    expect(await again.program.end('SIGTERM')).toBe(0)
  })

  it('gives its operator a new password when it has lost the password', async () => {
    const [{ path }, { url }] = await Promise.all([requestService('folder', null), createTestDatabase()])
    const stack = { dataFolder: path, env: { ...process.env, DATABASE_URL: url } }
    const first = await findOperator(stack)
    await rm(join(path, 'demo/operator.json'))
    const second = await findOperator(stack)
    expect(second?.email).toBe(first?.email)
    expect(second?.password).toMatch(/^\w{24}$/)
    expect(second?.password).not.toBe(first?.password)
  })

  it('names the variable when it uses a database that does not answer', async () => {
    const { path } = await requestService('folder', null)
    const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/nothing'
    await expect(start(DEMO, { DATA_DIR: path, DATABASE_URL })).rejects.toThrow(/DATABASE_URL is set.*ECONNREFUSED/s)
  })
})

describe('scripts/test', () => {
  it('runs tests, here of one file', async () => {
    const line = TEST.replace('scripts/test', 'scripts/test test/scripts/stack/test-counts.test.ts')
    const program = await spawnProcess({ command: 'bash', args: ['-c', line], cwd: ROOT, env: process.env })
    expect(await program.ended, program.output()).toBe(0)
    expect(program.output()).toMatch(/\d+ passed/)
  })
})

/** The variables and addresses that the demo prints: the same after each start. */
function nextStepsOf(output: string): string {
  const text = output.slice(output.indexOf('In a browser:'))
  return text.slice(0, text.indexOf('X-Drape-Shop: '))
}

/** Starts a command line in the root of the clone, or in another folder, and waits until its program runs until it is stopped. */
async function start(line: string, env: Readonly<Record<string, string>>, cwd = ROOT) {
  const program = await spawnProcess({
    command: 'bash',
    args: ['-c', `exec ${line}`],
    cwd,
    env: { ...process.env, NODE_ENV: '', PORT: '', DASHBOARD_PORT: '', ...env },
  })
  const ended = program.ended.then(() => {
    throw new Error(program.output())
  })
  ended.catch(() => {})
  await until(() => Promise.race([ended, program.output().includes('keeps running')]))
  return { program, output: program.output() }
}
