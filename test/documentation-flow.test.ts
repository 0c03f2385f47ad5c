import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserReason, startBrowser } from './support/browser.ts'
import { blocksOf } from './support/documented-blocks.ts'
import { type Drape, startDrape } from './support/drape.ts'
import { inspectLooks, SIZES } from './support/page-looks.ts'

/** What people ask, and where the answer is. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'rotate a key': '/guide/api#keys',
  CORS: '/guide/api#',
  MCP: '/guide/cookbook#',
  'statuses of a generation': '/guide/cookbook#follow',
  'verify webhook signature': '/guide/webhooks#verify',
  'how do I erase a user': '/guide/cookbook#erase',
  CSP: '/guide/widget#content-security-policy',
  'rate limits': '/guide/api#rate-limits',
  'test key': '/guide/test-mode#',
  idempotency: '/guide/cookbook#retry',
  'supported image formats': '/guide/images#',
  Shopify: '/guide/shops#shopify',
  GPU: '/guide/kubernetes/gpu#',
  backup: '/guide/kubernetes/backup#',
  'restore a backup': '/guide/kubernetes/backup#',
  upgrade: '/guide/kubernetes/upgrade#',
  'install with helm': '/guide/kubernetes/install#',
  'scale the API': '/guide/kubernetes/sizing#',
  'second factor': '/guide/dashboard#second-factor',
  'create an operator': '/guide/kubernetes/dashboard#',
  'change language of the widget': '/guide/widget#texts-and-languages',
  'retention days': '/guide/retention#',
  'legal hold': '/guide/retention#legal-holds',
  'consent text': '/guide/privacy#consent',
  'no person detected': '/guide/engines/warp#what-it-refuses',
  'python client': '/guide/clients/python#',
  'poll for the result': '/guide/cookbook#get-the-result',
  'environment variables': '/guide/configuration#',
  'air gapped cluster': '/guide/kubernetes/air-gap#',
  'prometheus alerts': '/guide/runbooks#',
  'too many requests': '/guide/api#rate-limits',
  'how long are photos stored': '/guide/retention#how-long-images-are-stored',
  'max file size': '/guide/images#',
  PENDING: '/guide/cookbook#follow',
  'log in to dashboard': '/guide/dashboard#log-in',
  credits: '/guide/api#credits',
  price: '/guide/api#credits',
  'cost of a try-on': '/guide/api#credits',
  'share link expires': '/docs/storefront#create-a-public-link',
}
const LONG = process.env.LONG_TESTS !== undefined

if (browserReason) console.warn(`The walk through the documentation is skipped: ${browserReason}`)

describe.skipIf(browserReason)(`the documentation${browserReason && ` (skipped: ${browserReason})`}`, () => {
  let drape: Drape
  let browser: Browser
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    drape = await startDrape()
    browser = await startBrowser()
    page = await browser.newPage()
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
  })
  afterAll(async () => {
    await browser?.close()
    await drape?.stop()
  })

  const open = (path: string) => page.goto(`${drape.api.url}${path}`)
  const addresses = (selector: string) =>
    page.$$eval(selector, (links) => links.map((link) => link.getAttribute('href') ?? ''))

  /** Paths of all pages of the reference. */
  const pathsOfReference = async () => {
    await open('/docs')
    return [
      ...new Set(['/docs', ...(await addresses('article a[href^="/docs/"]'))].map((address) => address.split('#')[0])),
    ]
  }

  it('starts with a photo and its result, which a slider compares', async () => {
    await open('/')
    await page.focus('input[type=range]')
    await page.keyboard.press('Home')
    expect(await page.$eval('.comparison', ({ style }) => style.cssText)).toBe('--share: 0%;')
    expect(await inspectLooks(page, { name: 'start' })).toEqual([])
  })

  it('has an accessible reference on a desktop and a phone, light and dark', async () => {
    const paths = await pathsOfReference()
    expect(paths.length).toBeGreaterThan(10)
    const violations: string[] = []
    // All pages come from one template: the short form looks at the list and at the longest page.
    for (const path of LONG ? paths : ['/docs', '/docs/storefront']) {
      await open(path)
      violations.push(...(await inspectLooks(page, { name: path.slice(1).replace('/', '-') })))
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390)
    }
    expect(violations).toEqual([])
  })

  it('links every operation from the list', async () => {
    await page.setViewport(SIZES.desktop)
    await open('/docs')
    const links = (await addresses('main a[href*="#"]')).filter((address) => address.startsWith('/docs/'))
    const { body } = await drape.call('GET', '/tryon/v1/openapi.json')
    const operations = Object.values(body.paths).flatMap((methods) => Object.keys(methods as object))
    expect(links.length).toBeGreaterThanOrEqual(operations.length)
    const anchors = Map.groupBy(
      links.map((link) => link.split('#')),
      ([path]) => path,
    )
    for (const [path, found] of anchors) {
      const html = await (await fetch(`${drape.api.url}${path}`)).text()
      expect(found.filter(([, id]) => !new RegExp(`<h2[^>]* id="?${id}[" >]`).test(html))).toEqual([])
    }
  })

  it('loads less than 200 kB per page of the reference', async () => {
    const cold = await (await browser.createBrowserContext()).newPage()
    const sizes: number[] = []
    cold.on('response', async (answer) => sizes.push((await answer.buffer()).length))
    await cold.goto(`${drape.api.url}/docs/storefront`, { waitUntil: 'networkidle0' })
    expect(sizes.length).toBeGreaterThan(2)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000)
    await cold.close()
  })

  it('has diagrams that Mermaid draws', async () => {
    const diagrams = blocksOf('docs/contributing.md').filter(({ language }) => language === 'mermaid')
    const drawing = await (await browser.createBrowserContext()).newPage()
    await drawing.addScriptTag({ path: fileURLToPath(import.meta.resolve('@mermaid-js/tiny')) })
    const draw = (text: string) =>
      drawing.evaluate(`mermaid.render('drawn', ${JSON.stringify(text)}).then(({ svg }) => svg)`) as Promise<string>
    for (const { text } of diagrams) {
      const [, label = ''] = /\[(\w+)\]/.exec(text) ?? []
      expect(await draw(text)).toMatch(new RegExp(`<svg[\\s\\S]*${label}`))
    }
    expect(diagrams).toHaveLength(2)
    await expect(draw('flowchart LR\n  api -->|jobs redis')).rejects.toThrow('Parse error')
    await drawing.close()
  })

  it('has an accessible form for removal requests', async () => {
    expect(await inspectLooks(page, { name: 'removal', open: () => open('/removal') })).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  })

  it('has an accessible answer to a removal request, and to one without an image', async () => {
    const send = async (file: string) => {
      await open('/removal')
      const field = await page.$('input[type=file]')
      await field?.uploadFile(file)
      await page.type('[name=email]', 'ada@example.com')
      await page.type('[name=reason]', 'This is my photo.')
      await Promise.all([page.waitForNavigation(), page.click('button')])
    }
    await send('scripts/samples/persons/down-half-teal.jpg')
    const violations = await inspectLooks(page, { name: 'removal-received' })
    await send('package.json')
    violations.push(...(await inspectLooks(page, { name: 'removal-refused' })))
    expect(violations).toEqual([])
  })

  it('has an accessible form to verify an image, and accessible verdicts', async () => {
    const violations = await inspectLooks(page, { name: 'verify', open: () => open('/verify') })
    const field = await page.$('input[type=file]')
    await field?.uploadFile('scripts/samples/persons/down-half-teal.jpg')
    await Promise.all([page.waitForNavigation(), page.click('button')])
    expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe('No Content Credentials')
    violations.push(...(await inspectLooks(page, { name: 'verify-none' })))
    expect(violations).toEqual([])
  })

  it('leads to all pages from everywhere on a page', async () => {
    await open('/docs/storefront')
    await page.setViewport(SIZES.desktop)
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    expect(await page.$eval('#pages a[aria-current]', (link) => link.getBoundingClientRect().top)).toBeGreaterThan(0)
    await page.setViewport(SIZES.phone)
    await page.evaluate('scrollTo(0, 0)')
    await page.click('.to-pages')
    expect(await page.$eval('#pages', (pages) => pages.getBoundingClientRect().top)).toBeLessThan(SIZES.phone.height)
  })

  it('has an accessible guide with a search', async () => {
    await open('/guide/api')
    const violations = await inspectLooks(page, { name: 'guide' })
    await page.type('#query', 'idempot')
    await page.waitForSelector('#found a[href^="/guide/api#"]')
    violations.push(...(await inspectLooks(page, { name: 'guide-found', open: () => page.focus('#query') })))
    expect(violations).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await Promise.all([page.waitForNavigation(), page.click('#found a')])
    expect(new URL(page.url()).hash).not.toBe('')
  })

  it('answers questions by the first result', async () => {
    await open('/guide')
    await page.focus('#query')
    const hits: Record<string, string> = {}
    for (const question of Object.keys(QUESTIONS)) {
      await page.$eval('#query', (input) => Object.assign(input, { value: '' }))
      await page.type('#query', question, { delay: 0 })
      await page.waitForFunction(`document.querySelector('#found a')`)
      hits[question] = (await addresses('#found a'))[0] ?? ''
    }
    const wrong = Object.entries(hits).filter(([question, hit]) => !hit.startsWith(QUESTIONS[question]))
    expect(wrong).toEqual([])
  })

  it('is searched by keyboard, with excerpts', async () => {
    await open('/guide')
    await page.keyboard.press('/')
    await page.keyboard.type('legal hold')
    await page.waitForSelector('#found a')
    expect(await page.$eval('#found li p', ({ innerHTML }) => innerHTML)).toMatch(/<mark>[^<]*holds?/i)
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp'] as const) await page.keyboard.press(key)
    const [first] = await addresses('#found a')
    expect(await page.evaluate(`document.activeElement.getAttribute('href')`)).toBe(first)
    await page.keyboard.press('Escape')
    expect(await page.evaluate(`document.activeElement.id + document.querySelector('#found').hidden`)).toBe('querytrue')
    await page.keyboard.type('legal hold')
    await page.waitForSelector('#found a')
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    expect(page.url()).toBe(`${drape.api.url}${first}`)
  })

  it('copies code', async () => {
    await browser
      .defaultBrowserContext()
      .overridePermissions(drape.api.url, ['clipboard-read', 'clipboard-sanitized-write'])
    await open('/guide/cookbook')
    await page.click('.code button')
    await page.waitForFunction(`document.querySelector('.code button').textContent === 'Copied'`)
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('scripts/samples/persons')
  })

  it('shows an example in one language, chosen by keyboard', async () => {
    await open('/guide/start/api')
    const shown = () => page.$$eval('[role=tabpanel]:not([hidden]) code', ([code]) => code.className)
    const tabs = await page.$$eval('[role=tab]', (all) => all.map(({ textContent }) => textContent))
    expect([tabs, await shown()]).toEqual([['curl', 'TypeScript', 'Python'], 'language-sh'])
    await page.focus('[role=tab]')
    for (const key of ['ArrowLeft', 'ArrowLeft'] as const) await page.keyboard.press(key)
    expect(await shown()).toBe('language-ts')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('TypeScript')
    expect(await inspectLooks(page, { name: 'guide-tabs' })).toEqual([])
  })

  it('finds an operation by its path', async () => {
    await open('/docs')
    await page.type('#query', 'webhooks/listeners')
    await page.waitForSelector('#found a[href^="/docs/webhooks#"]')
  })

  it('violates no content security policy', () => {
    // The removal request that is no image is refused.
    expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([])
  })
})
