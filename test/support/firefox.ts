import puppeteer, { type Browser } from 'puppeteer-core'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { guardBrowser } from './browser.ts'
import { reasonWithout } from './missing.ts'
import { requestService } from './request-service.ts'

/** Why no Firefox can start, or an empty text. Fails without `--allow-missing`. */
export const firefoxReason = await reasonWithout('firefox')

/** A headless Firefox, controlled by WebDriver BiDi. Processes and profile end with the tests at the latest. */
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
