import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../api/shared/database/database.ts'
import { generateWebhookSecret } from '../../api/shared/signing/webhook-signature.ts'
import { createShops } from '../../api/shops/shops.store.ts'
import { pluginMessage, signMessage } from '../../api/shops/signature.ts'
import { createWebhooks } from '../../api/webhooks/webhooks.store.ts'
import { startDrape } from '../support/drape.ts'
import { startProgram } from '../support/process.ts'
import { readDump } from '../support/stored-text.ts'
import { until } from '../support/until.ts'

/** An attacker reads a dump of the database of an installation that stored its secrets in clear. */
describe('a dump of the database', async () => {
  const DOMAIN = 'dumped.example'
  const secrets = {
    shop: randomBytes(32).toString('base64url'),
    token: `shpat_${randomBytes(16).toString('hex')}`,
    app: `shpss_${randomBytes(16).toString('hex')}`,
    appToken: `shpat_${randomBytes(16).toString('hex')}`,
    webhook: generateWebhookSecret(),
  }
  let dump: () => Promise<string[]>

  const drape = await startDrape()
  const clear = createDatabase(drape.env.DATABASE_URL, { poolSize: 1 })
  const { accountId } = drape
  await createShops(clear).insert({
    accountId,
    platform: 'plugin',
    domain: DOMAIN,
    secret: secrets.shop,
    adminToken: secrets.token,
  })
  await createShops(clear).insert({
    accountId,
    platform: 'shopify',
    domain: 'dumped.myshopify.com',
    secret: secrets.app,
    adminToken: secrets.appToken,
  })
  const endpoint = { accountId, url: 'https://shop.example', eventTypes: ['credits.low' as const] }
  await createWebhooks(clear).insert({ ...endpoint, secret: secrets.webhook })
  await clear.end()
  dump = async () => {
    const text = await readDump(drape.env.DATABASE_URL)
    return Object.entries({ ...secrets, key: drape.apiKey }).flatMap(([name, value]) =>
      formsOf(value).some((form) => text.includes(form)) ? [name] : [],
    )
  }
  afterAll(() => drape.stop())

  const statusOfSigned = async (url: string) => {
    const [timestamp, nonce] = [String(Math.floor(Date.now() / 1000)), randomBytes(12).toString('hex')]
    const target = '/public/check-credits'
    const bodyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    const message = pluginMessage({ method: 'GET', target, timestamp, nonce, bodyHash })
    const headers = { 'x-drape-site': DOMAIN, 'x-drape-timestamp': timestamp, 'x-drape-nonce': nonce }
    const signature = signMessage(message, secrets.shop)
    return (await fetch(`${url}${target}`, { headers: { ...headers, 'x-drape-signature': signature } })).status
  }

  it('contains no secret once an API has started, and the shop keeps working', async () => {
    expect(await dump()).toEqual(['shop', 'token', 'app', 'appToken', 'webhook'])
    expect(await statusOfSigned(drape.api.url)).toBe(200)
    const api = await startProgram('api', drape.env)
    try {
      await until(async () => (await dump()).length === 0)
      expect(await statusOfSigned(api.url)).toBe(200)
    } finally {
      await api.end()
    }
  })
})

/** The text itself, and as columns of bytes or encoded fields show it. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  return [value, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')]
}
