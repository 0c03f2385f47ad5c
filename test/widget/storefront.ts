import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { createAccounts } from '../../api/stores/accounts.ts'
import { createShops } from '../../api/stores/shops.ts'
import { registerProducts } from '../../scripts/samples/shop/products.ts'
import { type DemoShop, type ShopOptions, startShop } from '../../scripts/samples/shop/server.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { startBrowser } from '../support/browser.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { type FaultyLine, startFaultyLine } from '../support/faulty-line.ts'

/** The demo shop before a service of its own, with a line between them and the browser on which things can go wrong. */
export interface Storefront {
  readonly drape: Drape
  readonly shop: DemoShop
  readonly line: FaultyLine
  readonly browser: Browser
  readonly shopId: string
  readonly downloads: string
  /** What a shop needs to know to be this one. */
  readonly shopOptions: ShopOptions
  /** What browsers have complained of so far, violations of a policy among it. */
  readonly complaints: string[]
  /** A page of a browser that has never been here, and that lets the shop use its camera or not. */
  openPage(options?: { camera?: boolean }): Promise<Page>
  stop(): Promise<void>
}

const SITE = { platform: 'plugin', domain: 'halden.example', name: 'Halden', secret: 'silence' } as const

/** `launch` starts another browser than Chromium; `openPage` needs Chromium. */
export async function startStorefront({
  credits = 50,
  launch = () => startBrowser({ args: ['--use-fake-device-for-media-stream'] }),
}: {
  credits?: number
  launch?: () => Promise<Browser>
} = {}): Promise<Storefront> {
  const reserved = await reserveFreePort()
  const lineUrl = `http://127.0.0.1:${reserved.port}`
  const drape = await startDrape({ credits, env: { PUBLIC_URL: lineUrl }, pictures: true })
  await drape.startWorker({ PUBLIC_URL: lineUrl })
  await reserved.release()
  const line = await startFaultyLine(drape.api.url, { port: reserved.port })
  const { id: shopId } = await createShops(drape.database).insert({ accountId: drape.accountId, ...SITE })
  const publishableKey = await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')
  await registerProducts({ apiUrl: drape.api.url, apiKey: drape.apiKey })
  const shopOptions = {
    ...{ apiUrl: line.url, site: SITE.domain, secret: SITE.secret, publishableKey },
    ...{ customerId: '', port: 0 },
  }
  const shop = await startShop(shopOptions)
  const browser = await launch()
  const downloads = await mkdtemp(join(tmpdir(), 'drape-downloads-'))
  const complaints: string[] = []

  return {
    ...{ drape, shop, line, browser, shopId, downloads, shopOptions, complaints },
    openPage: async ({ camera = false } = {}) => {
      const context = await browser.createBrowserContext()
      await context.overridePermissions(shop.url, camera ? ['camera'] : [])
      const page = await context.newPage()
      page.on('console', (message) => {
        if (['error', 'warn'].includes(message.type())) complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      const session = await browser.target().createCDPSession()
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: downloads,
        browserContextId: context.id,
      })
      return page
    },
    stop: async () => {
      await browser.close()
      await shop.stop()
      await line[Symbol.asyncDispose]()
      await drape.stop()
      await rm(downloads, { recursive: true, force: true })
    },
  }
}
