import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createShops } from '../api/shops/shops.store.ts'
import { pluginMessage, type QueryParameter, shopifyMessage, signMessage } from '../api/shops/signature.ts'
import { findMissingLanguages, LANGUAGES, type Language, runDocumented } from './support/documented-code.ts'
import { startDrape } from './support/drape.ts'
import { send } from './support/shop-proxies.ts'

const missingLanguages = await findMissingLanguages(LANGUAGES)

const DOCS = resolve(import.meta.dirname, '../docs')
const PAGE = readFileSync(join(DOCS, 'signing.md'), 'utf8')

interface PluginVector {
  readonly platform: 'plugin'
  readonly name: string
  readonly secret: string
  readonly site: string
  readonly method: string
  readonly target: string
  readonly timestamp: string
  readonly nonce: string
  readonly body: string
  readonly bodySha256: string
  readonly text: string
  readonly signature: string
}
interface ShopifyVector {
  readonly platform: 'shopify'
  readonly name: string
  readonly secret: string
  readonly parameters: readonly QueryParameter[]
  readonly text: string
  readonly signature: string
}
type Request = Pick<PluginVector, 'method' | 'target' | 'body' | 'site' | 'secret'> &
  Partial<Pick<PluginVector, 'timestamp' | 'nonce'>>

const { vectors } = JSON.parse(readFileSync(join(DOCS, 'signing-vectors.json'), 'utf8')) as {
  vectors: (PluginVector | ShopifyVector)[]
}
const PLUGIN = vectors.filter((vector) => vector.platform === 'plugin')
const SHOPIFY = vectors.filter((vector) => vector.platform === 'shopify')

/** Code after that of the page: reads requests as JSON from standard input, and writes the headers of each. */
const DRIVERS: Readonly<Record<Language, string>> = {
  ts: `
import { readFileSync } from 'node:fs'
const requests = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(requests.map((r: any) => signRequest(r, r, r.timestamp, r.nonce))))`,
  python: `
import json, sys
print(json.dumps([
    sign_request(r["method"], r["target"], r["body"].encode(), r["site"], r["secret"], r.get("timestamp"), r.get("nonce"))
    for r in json.load(sys.stdin.buffer)
]))`,
  php: `
echo json_encode(array_map(
    fn ($r) => sign_request($r['method'], $r['target'], $r['body'], $r['site'], $r['secret'], $r['timestamp'] ?? null, $r['nonce'] ?? null),
    json_decode(file_get_contents('php://stdin'), true)
));`,
  ruby: `
require "json"
requests = JSON.parse($stdin.read.force_encoding("UTF-8"), symbolize_names: true)
puts JSON.generate(requests.map { |r| sign_request(r[:method], r[:target], r[:body], **r.slice(:site, :secret, :timestamp, :nonce)) })`,
}

describe('the test vectors of docs/signing-vectors.json', () => {
  it.each(PLUGIN)('match the server: $name', ({ text, signature, secret, ...request }) => {
    const bodyHash = request.bodySha256
    expect(pluginMessage({ ...request, bodyHash })).toBe(text)
    expect(signMessage(text, secret)).toBe(signature)
  })

  it.each(SHOPIFY)('match an app proxy: $name', ({ parameters, text, signature, secret }) => {
    expect(shopifyMessage(parameters)).toBe(text)
    expect(signMessage(text, secret)).toBe(signature)
  })

  it('cover both platforms, and requests with and without a body', () => {
    expect(SHOPIFY.length).toBeGreaterThan(1)
    expect(PLUGIN.map(({ body }) => body === '')).toEqual(expect.arrayContaining([true, false]))
  })
})

describe('the code of docs/signing.md', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-signing-'))
  const drape = await startDrape({
    env: { NODE_ENV: 'production', SIGNING_SECRET: 'a secret of sixteen signs or more' },
  })
  const shop = { site: 'shop.example', secret: 'a secret of the shop' }
  await createShops(drape.database).insert({
    accountId: drape.accountId,
    platform: 'plugin',
    domain: shop.site,
    secret: shop.secret,
  })
  afterAll(async () => {
    await drape.stop()
    await rm(folder, { recursive: true })
  })

  /** The headers that the code of the page returns in this language. */
  const run = async (language: Language, requests: readonly Request[]) =>
    (await runDocumented(PAGE, { language, driver: DRIVERS[language], folder, input: requests })) as Record<
      string,
      string
    >[]

  describe.each(LANGUAGES)('in %s', (language) => {
    it.skipIf(missingLanguages[language] !== '')('computes the signatures of the test vectors', async () => {
      const made = await run(language, PLUGIN)
      expect(made).toEqual(
        PLUGIN.map(({ site, timestamp, nonce, signature }) => ({
          'X-Drape-Site': site,
          'X-Drape-Timestamp': timestamp,
          'X-Drape-Nonce': nonce,
          'X-Drape-Signature': signature,
        })),
      )
    })

    it.skipIf(missingLanguages[language] !== '')('signs requests that the service accepts', async () => {
      const body = '{"email":"ada@example.com","marketingConsent":true}'
      const requests: Request[] = [
        { ...shop, method: 'GET', target: '/public/check-credits', body: '' },
        { ...shop, method: 'POST', target: '/public/collect-email?logged_in_customer_id=42', body },
      ]
      const headers = await run(language, requests)
      for (const [i, { method, target: path, body: sent }] of requests.entries()) {
        const all = [...Object.entries(headers[i]), ['Content-Type', 'application/json'] as const]
        const answer = await send(drape.api.url, { method, path, headers: all, body: sent })
        expect(answer).toMatchObject({ status: 200 })
      }
      expect(headers[0]['X-Drape-Nonce']).not.toBe(headers[1]['X-Drape-Nonce'])
    })
  })
})
