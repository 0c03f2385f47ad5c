import puppeteer, { type Browser } from 'puppeteer-core'
import { inspectProcess } from '../../scripts/stack/processes.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { reasonWithout } from './missing.ts'
import { requestService } from './request-service.ts'

/** Why no browser can start, or an empty text. Fails without `--allow-missing`. */
export const browserReason = await reasonWithout('chromium')

/** A headless Chromium with additional arguments; ends with the tests at the latest. */
export async function startBrowser({ args = [] }: { args?: readonly string[] } = {}): Promise<Browser> {
  const browser = await puppeteer.launch({
    executablePath: REQUIREMENTS.chromium.find(),
    // In containers tests run as root, for which the sandbox does not work. Without a GPU, its process draws everything on the CPU a
    // second time.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
    protocolTimeout: 120_000,
  })
  await guardBrowser(browser, 'chromium')
  return browser
}

/** Ends the processes of this browser with the tests, even after a crash. */
export async function guardBrowser(browser: Browser, name: string): Promise<void> {
  const pid = browser.process()?.pid
  const startedAt = pid === undefined ? undefined : inspectProcess(pid)?.startedAt
  if (pid === undefined || startedAt === undefined) return
  await requestService('guard', { name, pid, startedAt, signal: 'SIGKILL', graceSeconds: 5, stage: 1 })
}
