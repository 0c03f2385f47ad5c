import fc from 'fast-check'
import { Pool } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { generateKey } from '../../../api/accounts/credentials.ts'
import { STOREFRONT_ROUTES } from '../../../api/http/core-routes.ts'
import { completeForShop } from '../../support/completed.ts'
import { createContract } from '../../support/contract.ts'
import { readSample, startDrape } from '../../support/drape.ts'
import { type FuzzedRequest, headerTexts, requestsOf, type World } from '../../support/fuzz/requests.ts'
import { faultsOf, sendAll } from '../../support/fuzz/send-all.ts'
import { openDocument } from '../../support/openapi-document.ts'
import { createDevelopmentShop, type TestShop } from '../../support/shop.ts'

const LONG = process.env.LONG_TESTS === '1'
const SEED = 20_261_122
const PARTS = LONG ? 100 : 8
/** Enough shops that most requests stay within the limit of their shop. */
const SHOPS = 12

describe('any request of a shop', async () => {
  const drape = await startDrape({ credits: 1_000_000, env: { PROXY_HOPS: '1' } })
  const pool = new Pool(drape.api.url, { connections: 8 })
  afterAll(async () => {
    await pool.destroy()
    await drape.stop()
  })

  it('gets a documented response within 5 s', { timeout: 3_600_000 }, async () => {
    const text = (await (await fetch(`${drape.api.url}/tryon/v1/openapi.json`)).json()) as object
    const requests = await arbitraryRequests(text)
    const statuses = await sendAll({
      drape,
      pool,
      contract: createContract(text),
      requests,
      parts: PARTS,
      seed: SEED,
    })
    // Otherwise most requests would fail at the same check.
    for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 410, 429]) {
      expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0)
    }
  })

  it('is refused by every route for shops, unless a proxy has signed it', async () => {
    const routes = STOREFRONT_ROUTES.filter(({ access }) => access === 'shop')
    expect(routes.length).toBeGreaterThan(10)
    for (const { method, path } of routes) {
      const place = path.replaceAll(/\{\w+\}/g, 'x')
      const ask = (headers: Record<string, string>) =>
        drape.call(method.toUpperCase(), place, { key: null, headers, ...(method !== 'get' && { body: {} }) })
      for (const headers of [{}, { 'x-drape-shop': 'nobody.test' }] as Record<string, string>[])
        expect(await ask(headers), path).toMatchObject({ status: 401, body: { code: 'PROXY_SIGNATURE_INVALID' } })
    }
  })

  it('leaves the API running and every balance correct', async () => {
    expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
    expect(faultsOf(drape)).toBe('')
  })

  async function arbitraryRequests(document: object): Promise<fc.Arbitrary<FuzzedRequest>> {
    const { operations, resolve } = openDocument(document)
    const world = await createWorld(resolve)
    return fc.oneof(
      ...operations
        .filter(({ path }) => !path.startsWith('/tryon/v1/'))
        .map((operation) => ({
          weight: operation.bodies.size > 0 ? 4 : 2,
          arbitrary: requestsOf(operation, world),
        })),
    )
  }

  async function createWorld(resolve: World['vocabulary']['resolve']): Promise<World> {
    const photo = await readSample('persons/astronaut.jpg')
    const shops = await Promise.all(
      Array.from({ length: SHOPS }, (_, i) => createDevelopmentShop(drape, `shop-${i}.test`)),
    )
    const made = await Promise.all(shops.map((shop) => makeGenerations(shop, photo)))
    const generations = made.flatMap(({ live, gone }) => [live.generationId, live.generationId, gone.generationId])
    const publishable = await createAccounts(drape.database).insertKey(drape.accountId, 'publishable')
    const { body: upload } = await drape.call('POST', '/public/prepare-upload', {
      key: null,
      headers: shops[0].headers,
    })
    const link = new URL(upload?.uploadUrl ?? 'http://none')
    const { body: image } = await uploadPhoto(shops[0], photo)
    return {
      vocabulary: {
        resolve,
        texts: {
          generationId: [...generations, 'gen_0'],
          id: [...generations, 'gen_0'],
          token: [...made.flatMap(({ tokens }) => tokens), 'a'.repeat(22)],
          effectiveDomain: ['shop.example', 'WWW.SHOP.EXAMPLE', 'localhost', 'xn--bcher-kva.example'],
          url: made.flatMap(({ live, gone }) => [
            `${drape.api.url}/objects/${live.resultKey}`,
            `${drape.api.url}/objects/${gone.resultKey}?signature=x`,
            'https://example.com/a.jpg',
          ]),
          filename: ['Blue coat', '../../a', 'a".jpg', 'a\r\nb: c', 'Mäntel'],
          uploadKey: [upload?.uploadKey ?? 'upl_0', 'upl_0'],
          expires: [link.searchParams.get('expires') ?? '0'],
          signature: [link.searchParams.get('signature') ?? 'x', 'x'],
          userImageId: [image?.fileId ?? 'img_0', 'img_0'],
          productId: [...made.map(({ productId }) => productId), 'gid://shopify/Product/0'],
          variantId: ['gid://shopify/ProductVariant/1'],
          email: ['a@shop.example', 'A@Shop.Example', 'no address'],
        },
      },
      files: [photo, photo.subarray(0, 2000), Buffer.from('no image')],
      credentialsOf: () => credentials(shops, publishable),
    }
  }

  function credentials(shops: readonly TestShop[], publishable: string) {
    const known = fc.constantFrom(...shops).map(({ domain }) => ({ 'x-drape-shop': domain }))
    const unknown = fc.oneof(
      headerTexts.map((text) => ({ 'x-drape-shop': text })),
      fc.constantFrom('shop-0.test, shop-1.test', '').map((text) => ({ 'x-drape-shop': text })),
      fc.constantFrom(drape.apiKey, publishable, generateKey('publishable')).map((key) => ({
        authorization: `Bearer ${key}`,
      })),
      fc.constant({}),
    )
    // One of them reaches the limits of an address.
    const addresses = fc.oneof({ weight: 3, arbitrary: fc.constant(7) }, { weight: 1, arbitrary: fc.nat(250) })
    const browser = fc.tuple(fc.nat(500), addresses).map(([id, address]) => ({
      'x-service-anonymous-id': `anon_${id}`,
      'x-forwarded-for': `203.0.113.${address}`,
      origin: 'https://shop.example',
    }))
    const preflight = fc.constantFrom({}, {}, {}, { 'access-control-request-method': 'POST' })
    return fc
      .tuple(fc.oneof({ weight: 8, arbitrary: known }, { weight: 1, arbitrary: unknown }), browser, preflight)
      .map((headers) => Object.assign({}, ...headers) as Record<string, string>)
  }

  async function makeGenerations(shop: TestShop, image: Buffer) {
    const productId = `gid://shopify/Product/${shop.domain.replace(/\D/g, '')}`
    const options = { shopId: shop.id, image, productId }
    const live = await completeForShop(drape, options)
    const gone = await completeForShop(drape, { ...options, shopper: 'browser:anon_gone' })
    const tokens = await Promise.all(
      [live, gone].map(async ({ generationId }) => {
        // With the key of the account, as the server of the shop.
        const { body } = await drape.call('POST', '/public/share-generation', {
          headers: shop.headers,
          body: { generationId },
        })
        return body.shareToken as string
      }),
    )
    const customer = encodeURIComponent(`${shop.id}:browser:anon_gone`)
    await drape.call('DELETE', `/tryon/v1/customers/${customer}`)
    return { live, gone, tokens, productId }
  }

  async function uploadPhoto({ headers }: TestShop, photo: Buffer) {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(photo)]))
    return drape.call('POST', '/public/upload-image', { key: null, headers, body })
  }
})
