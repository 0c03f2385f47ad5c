import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { spawnProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

describe('scripts/demo', () => {
  it('serves a result and all printed URLs, and keeps account, sign-in and ports across restarts', async () => {
    const dataFolder = (await requestService('folder', null)).path
    const first = await startDemo(dataFolder)
    const [, url, apiKey] = /^ {2}export DRAPE=(\S+) KEY=(\S+) ACCOUNT=acc_\S+$/m.exec(first.said) ?? []
    const [, dashboard, email, password] =
      /(http:\S+) +dashboard .* as (\S+) with the password (\S+)/.exec(first.said) ?? []
    const [, result] = /^URL: +(\S+)$/m.exec(first.said) ?? []
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
    expect(await first.demo.end('SIGTERM')).toBe(0)

    const again = await startDemo(dataFolder)
    expect(nextStepsOf(again.said)).toBe(nextStepsOf(first.said))
    expect(await (await fetch(`${url}/tryon/v1/account/credits`, account)).json()).toEqual({ creditBalance: 98 })
    expect(await again.demo.end('SIGTERM')).toBe(0)
  })
})

/** The variables and addresses that the demo prints: the same after each start. */
function nextStepsOf(said: string): string {
  return said.slice(said.indexOf('For the commands of the README'), said.indexOf('Drape keeps running'))
}

async function startDemo(dataFolder: string) {
  const demo = await spawnProcess({
    command: join(ROOT, 'scripts/demo'),
    args: [],
    cwd: '/',
    env: { ...process.env, PORT: '', DASHBOARD_PORT: '', DATA_DIR: dataFolder },
  })
  const ended = demo.ended.then(() => {
    throw new Error(demo.output())
  })
  ended.catch(() => {})
  await until(() => Promise.race([demo.output().includes('Drape keeps running'), ended]))
  return { demo, said: demo.output() }
}
