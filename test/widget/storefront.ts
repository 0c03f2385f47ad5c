import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { registerProducts } from '../../scripts/samples/shop/products.ts'
import { type DemoShop, type ShopOptions, startShop } from '../../scripts/samples/shop/server.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { startBrowser } from '../support/browser.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts'
import { useQuickEngine } from '../support/quick-engine.ts'

/** The demo shop and its own service. A proxy that can inject faults connects the service to the shop and the browser. */
export interface Storefront {
  readonly drape: Drape
  readonly shop: DemoShop
  readonly proxy: FaultyProxy
  readonly browser: Browser
  readonly shopId: string
  readonly downloads: string
  /** Options to start another server for the same shop. */
  readonly shopOptions: ShopOptions
  /** Console errors, console warnings and uncaught errors of all pages so far, including CSP violations. */
  readonly browserErrors: string[]
  /** Opens a page in a new browser context. `camera` grants the shop access to the camera. */
  openPage(options?: { camera?: boolean }): Promise<Page>
  stop(): Promise<void>
}

const SITE = {
  platform: 'plugin',
  domain: 'halden.example',
  name: 'Halden',
  secret: 'silence',
  requiresConsent: true,
} as const

/**
 * What answers orders for the warp engine: the mock engine, with the photo as it is; the mock engine, and the warp engine for
 * photos without a person (`refusing`); or the warp engine, whose start and results take seconds of processor time.
 */
type Answering = 'mock' | 'refusing' | 'warp'

/** `env` is for the service. `launch` starts another browser than Chromium; `openPage` needs Chromium. */
export async function startStorefront({
  credits = 50,
  answering = 'mock',
  env = {},
  launch = () => startBrowser({ args: ['--use-fake-device-for-media-stream'] }),
}: {
  credits?: number
  answering?: Answering
  env?: Readonly<Record<string, string>>
  launch?: () => Promise<Browser>
} = {}): Promise<Storefront> {
  const reserved = await reserveFreePort()
  const proxyUrl = `http://127.0.0.1:${reserved.port}`
  const drape = await startDrape({
    credits,
    env: { ...env, PUBLIC_URL: proxyUrl },
    defaultEngines: answering !== 'mock',
  })
  if (answering === 'refusing') await useQuickEngine(drape.database, { refusals: true })
  await drape.startWorker({ PUBLIC_URL: proxyUrl })
  await reserved.release()
  const proxy = await startFaultyProxy(drape.api.url, { port: reserved.port })
  const { id: shopId } = await createShops(drape.database).insert({ accountId: drape.accountId, ...SITE })
  const publishableKey = await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')
  await registerProducts({ apiUrl: drape.api.url, apiKey: drape.apiKey })
  const shopOptions = {
    apiUrl: proxy.url,
    site: SITE.domain,
    secret: SITE.secret,
    publishableKey,
    customerId: '',
    port: 0,
  }
  const shop = await startShop(shopOptions)
  const browser = await launch()
  const downloads = await mkdtemp(join(tmpdir(), 'drape-downloads-'))
  const browserErrors: string[] = []

  return {
    drape,
    shop,
    proxy,
    browser,
    shopId,
    downloads,
    shopOptions,
    browserErrors,
    openPage: async ({ camera = false } = {}) => {
      const context = await browser.createBrowserContext()
      await context.overridePermissions(shop.url, camera ? ['camera'] : [])
      const page = await context.newPage()
      page.on('console', (message) => {
        if (['error', 'warn'].includes(message.type())) browserErrors.push(message.text())
      })
      page.on('pageerror', (error) => browserErrors.push(String(error)))
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
      await proxy[Symbol.asyncDispose]()
      await drape.stop()
      await rm(downloads, { recursive: true, force: true })
    },
  }
}
