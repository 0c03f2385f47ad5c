import puppeteer, { type Browser } from 'puppeteer-core'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { guardBrowser } from './browser.ts'
import { reasonWithout } from './missing.ts'
import { requestService } from './request-service.ts'

/** Why no Firefox can be started, or an empty text. Without `--allow-missing` that fails. */
export const firefoxReason = await reasonWithout('firefox')

/** A Firefox without a window, driven by WebDriver BiDi. Neither its processes nor its profile outlive the tests. */
export async function startFirefox(): Promise<Browser> {
  const { path: userDataDir } = await requestService('folder', null)
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: REQUIREMENTS.firefox.find(),
    userDataDir,
    protocolTimeout: 120_000,
  })
  await guardBrowser(browser, 'firefox')
  return browser
}
