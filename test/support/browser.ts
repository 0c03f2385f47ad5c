import { existsSync } from 'node:fs'
import puppeteer, { type Browser } from 'puppeteer-core'
import { inspectProcess } from '../../scripts/stack/processes.ts'
import { requestService } from './request-service.ts'

const PROGRAM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** Why no browser can be started, or an empty text. */
export const browserReason = existsSync(PROGRAM) ? '' : `there is no ${PROGRAM}; CHROMIUM_PATH names another one`

/** A Chromium without a window, which does not outlive the tests; with these arguments beside its own. */
export async function startBrowser({ args = [] }: { args?: readonly string[] } = {}): Promise<Browser> {
  const browser = await puppeteer.launch({
    executablePath: PROGRAM,
    // In containers tests run as root, where its sandbox cannot.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
    protocolTimeout: 120_000,
  })
  const pid = browser.process()?.pid
  const startedAt = pid === undefined ? undefined : inspectProcess(pid)?.startedAt
  if (pid !== undefined && startedAt !== undefined) {
    await requestService('guard', { name: 'chromium', pid, startedAt, signal: 'SIGKILL', graceSeconds: 5, stage: 1 })
  }
  return browser
}
