import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createIdentityProvider } from '../../api/dashboard/sign-in/identity-provider.ts'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { useProxies } from '../../api/shared/network/proxies.ts'
import { generateWebhookSecret } from '../../api/shared/signing/webhook-signature.ts'
import { createWebhooks } from '../../api/webhooks/webhooks.store.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { CLIENT, startIdentityProvider } from '../support/identity-provider.ts'
import { reasonWithout } from '../support/missing.ts'
import { spawnProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { startS3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const TRY_ONS = 40
const CERTIFICATE = resolve(import.meta.dirname, '../fixtures/tls/shop-certificate.pem')
const reason = await reasonWithout('tinyproxy')
const store = await startS3Server()

describe.skipIf(reason || 'unavailable' in store)(`tinyproxy${reason && ` (skipped: ${reason})`}`, () => {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  /** Its log has a line for each request. */
  async function startProxy() {
    const { path } = await requestService('folder', null)
    const { port, release } = await reserveFreePort()
    const settings = join(path, 'tinyproxy.conf')
    await writeFile(settings, `Port ${port}\nListen 127.0.0.1\nAllow 127.0.0.1\nTimeout 600\nMaxClients 500\n`)
    await release()
    const command = REQUIREMENTS.tinyproxy.find() ?? 'tinyproxy'
    const proxy = await spawnProcess({ command, args: ['-d', '-c', settings], cwd: path, env: {} })
    undo.push(() => proxy.end('SIGKILL'))
    await until(() => /Accepting connections/.test(proxy.output()))
    const url = `http://127.0.0.1:${port}`
    const requests = () =>
      [...proxy.output().matchAll(/Request \(file descriptor \d+\): (\S+ \S+)/g)].map(([, line]) => line)
    return { requests, env: { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: 'localhost' } }
  }

  /** An https server with a certificate for `shop.example`. */
  async function startShop() {
    const key = await readFile(CERTIFICATE.replace('certificate', 'key'))
    const image = await readSample('garments/tshirt-navy.jpg')
    const shop = createServer({ cert: await readFile(CERTIFICATE), key }, (_, response) => response.end(image))
    await new Promise<void>((started) => shop.listen(0, '127.0.0.1', started))
    undo.push(
      () => shop.close(),
      () => shop.closeAllConnections(),
    )
    return (shop.address() as AddressInfo).port
  }

  it('carries images, webhooks and the object storage under load, and nothing is lost', async () => {
    if ('unavailable' in store) return
    undo.push(() => store.stop())
    const [proxy, shop, receiver] = [await startProxy(), await startShop(), await startWebhookReceiver()]
    undo.push(() => receiver.stop())
    // The proxy does not know these names.
    const names = { 'shop.example': '127.0.0.1', 'hooks.example': '127.0.0.1', 'private.example': '10.1.2.3' }
    const dns = await startDnsServer(names)
    undo.push(() => dns.stop())
    const drape = await startDrape({
      credits: TRY_ONS + 10,
      env: {
        ...proxy.env,
        STORAGE_URL: `s3://${store.bucket}?endpoint=${store.endpoint}&pathStyle=true`,
        AWS_ACCESS_KEY_ID: store.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: store.credentials.secretAccessKey,
        FETCH_DNS_SERVERS: dns.address,
        FETCH_ALLOW_PORTS: `${shop},${receiver.port}`,
        NODE_EXTRA_CA_CERTS: CERTIFICATE,
      },
    })
    undo.push(() => drape.stop())
    await Promise.all([drape.startWorker(), drape.startWorker()])
    await createWebhooks(drape.database).insert({
      accountId: drape.accountId,
      url: `http://hooks.example:${receiver.port}/`,
      eventTypes: ['generation.completed', 'generation.failed'],
      secret: generateWebhookSecret(),
    })

    const me = await readSmallPerson()
    const order = (path: string) => ({
      products: [{ images: [{ source: { url: `https://${path}` } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    })
    const accept = (path: string) => drape.tryOn(order(path), { me })
    const ids = await Promise.all(Array.from({ length: TRY_ONS }, (_, i) => accept(`shop.example:${shop}/${i}.jpg`)))
    const ended = await Promise.all(ids.map((id) => drape.finish(id)))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    const refused = await drape.finish(await accept(`private.example:${shop}/shirt.jpg`))
    expect(refused).toMatchObject({ status: 'FAILED', errorCode: 'PRODUCT_IMAGE_FETCH_FAILED' })

    await until(() => receiver.received.length > TRY_ONS)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(TRY_ONS + 1)
    const Sums = rowType(Type.Object({ charged: Type.Integer(), amount: Type.Integer() }))
    const sums = await drape.database.one(sql.type(Sums)`
      select count(distinct generation_id)::int as charged, sum(amount)::int as amount
      from ledger where account_id = ${drape.accountId} and generation_id is not null`)
    expect(sums).toEqual({ charged: TRY_ONS + 1, amount: -TRY_ONS })

    const seen = new Set(proxy.requests().map((line) => line.replace(/(\/images)\/.*/, '$1')))
    expect([...seen].filter((line) => /example|10\.1\.2\.3/.test(line))).toEqual([])
    for (const port of [shop, receiver.port]) expect(seen).toContain(`CONNECT 127.0.0.1:${port}`)
    expect(seen).toContain(`PUT ${store.endpoint}/images`)
  })

  it('carries the sign-in through an OpenID Connect provider', async () => {
    const proxy = await startProxy()
    const { port, release } = await reserveFreePort()
    await release()
    await using provider = await startIdentityProvider({ port, redirectUrls: [], people: {} })
    const issuer = provider.issuer.replace('localhost', '127.0.0.1')
    const dispatcher = getGlobalDispatcher()
    undo.push(
      () => setGlobalDispatcher(dispatcher),
      () => vi.unstubAllEnvs(),
    )
    for (const [name, value] of Object.entries(proxy.env)) vi.stubEnv(name, value)
    useProxies(process.env)
    const client = {
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      scope: 'openid',
      redirectUrl: 'https://drape.example/',
    }
    const { begin, createTicket } = createIdentityProvider({ issuer, ...client })
    await begin(createTicket()).catch(() => {})
    expect(proxy.requests()).toContain(`GET ${issuer}/.well-known/openid-configuration`)
  })
})
