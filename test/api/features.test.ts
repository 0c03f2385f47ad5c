import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../api/accounts/restrictions.ts'
import { chooseFeatures, FEATURES } from '../../api/features.ts'
import { operationsOf } from '../../api/http/core-routes.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { spawnProcess, startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'

/** Paths of each extension, beside its operations of the OpenAPI document. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  outfits: ['/tryon/v1/outfits'],
  storefront: ['/s/unknown'],
  trust: ['/verify', '/removal'],
  widget: ['/widget.js', '/widget/de.json'],
  playground: ['/playground'],
  guide: ['/guide', '/docs', '/llms.txt'],
}
const CORE_PAGES = ['/', '/healthz', '/tryon/v1/openapi.json']
/** Missing where the extension that measures them is left out. */
const METRICS: Readonly<Record<string, readonly string[]>> = {
  trust: ['drape_reviews_oldest_seconds', 'drape_erasures_oldest_seconds'],
  storefront: ['drape_shop_tokens_refused_seconds'],
}

const NAMES = FEATURES.map(({ name }) => name)
const METHODS = ['get', 'post', 'put', 'delete', 'patch']

describe('the extensions', async () => {
  /** Without extensions. */
  let api: TestProgram | undefined

  const port = await reserveFreePort()
  await port.release()
  const dashboardPort = port.port
  const drape = await startDrape({ env: { FEATURES: 'none', DASHBOARD_PORT: String(dashboardPort) } })
  const keys = createApiKeys(drape.database)
  const { key: testKey } = await keys.insert(drape.accountId, 'secret', { ...UNRESTRICTED, isTest: true })
  afterEach(() => api?.end())
  afterAll(() => drape.stop())

  const start = async (list: string): Promise<TestProgram> => {
    api = await startProgram('api', { ...drape.env, FEATURES: list })
    return api
  }
  const isThere = async (url: string, method = 'GET') => {
    const response = await fetch(url, { method })
    const text = await response.text()
    return !(response.status === 404 && text.includes('ROUTE_NOT_FOUND'))
  }

  /** Everything that the process offers, as the names of extensions would have it. */
  async function seeParts({ url, probeUrl }: Pick<TestProgram, 'url' | 'probeUrl'>) {
    const pages = Object.entries(PAGES).flatMap(([name, paths]) => paths.map((path) => ({ name, path })))
    const there = await Promise.all(pages.map(({ path }) => isThere(`${url}${path}`)))
    const testing = await fetch(`${url}/tryon/v1/account`, { headers: { 'x-api-key': testKey } })
    const dashboard = await fetch(`http://127.0.0.1:${dashboardPort}/`).then(
      () => true,
      () => false,
    )
    const document = await (await fetch(`${url}/tryon/v1/openapi.json`)).json()
    const { paths } = document as { paths: Readonly<Record<string, object>> }
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => METHODS.includes(method))
        .map((method) => ({ method, path })),
    )
    const metrics = await (await fetch(`${probeUrl}/metrics`)).text()
    return {
      parts: [
        ...new Set(pages.filter((_, index) => there[index]).map(({ name }) => name)),
        ...(testing.status === 200 ? ['test-mode'] : []),
        ...(dashboard ? ['dashboard'] : []),
      ].toSorted(),
      operations: operations.map(({ method, path }) => `${method} ${path}`).toSorted(),
      metrics: Object.values(METRICS)
        .flat()
        .filter((name) => metrics.includes(name)),
      core: await Promise.all(CORE_PAGES.map((path) => isThere(`${url}${path}`))),
    }
  }

  const partsOf = (list: string) => ({
    parts: chooseFeatures(list)
      .map(({ name }) => name)
      .toSorted(),
    operations: operationsOf(chooseFeatures(list))
      .map(({ method, path }) => `${method} ${path}`)
      .toSorted(),
    metrics: Object.keys(METRICS)
      .filter((name) => chooseFeatures(list).some((feature) => feature.name === name))
      .flatMap((name) => METRICS[name]),
    core: CORE_PAGES.map(() => true),
  })

  it('can all be left out: then the service completes a try-on, and has none of their parts', async () => {
    expect(await seeParts(drape.api)).toEqual(partsOf('none'))
    const left = operationsOf(FEATURES).filter((operation) => !operationsOf([]).includes(operation))
    const there = await Promise.all(
      left.map(({ path, method }) => isThere(`${drape.api.url}${path.replaceAll(/[{}]/g, '')}`, method.toUpperCase())),
    )
    expect(left.filter((_, index) => there[index]).map(({ path }) => path)).toEqual([])
    const worker = await drape.startWorker()
    const body = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      externalUserId: 'someone',
    }
    const files = { me: await readSmallPerson(), shirt: await readSample('garments/tshirt-navy.jpg') }
    const { status } = await drape.call('POST', '/tryon/v1/try-on', { body: formOf(body, files), key: testKey })
    expect(status).toBe(401)
    expect((await drape.finish(await drape.tryOn(body, files))).status).toBe('COMPLETED')
    const erased = await drape.call('DELETE', '/tryon/v1/customers/someone')
    expect(erased.status).toBe(204)
    const header = { 'X-Receipt-Email': 'someone@example.com' }
    expect((await drape.call('DELETE', '/tryon/v1/customers/someone', { headers: header })).status).toBe(400)
    await worker.end()
  })

  it.each([...NAMES, 'all'])('start without the others: %s', async (list) => {
    const started = await start(list)
    const expected = partsOf(list)
    // Measured in the background.
    await until(async () => (await seeParts(started)).metrics.length === expected.metrics.length)
    expect(await seeParts(started)).toEqual(expected)
  })

  it('are named by FEATURES: the process exits with 2 and one line for an unknown name', async () => {
    const started = await spawnProcess({
      command: process.execPath,
      args: ['api/main.ts'],
      cwd: process.cwd(),
      env: { ...process.env, ...drape.env, NODE_ENV: 'development', FEATURES: 'guide, gide' },
    })
    expect(await started.ended).toBe(2)
    expect(started.output()).toMatch(/^The configuration is not valid: FEATURES names gide, but must be [^\n]+\n$/)
  })
})
