import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import type { NewShop } from '../../api/shops/shops.store.ts'
import { createVisitorAddresses } from '../../api/shops/visitor-addresses.store.ts'
import { startCaptchaProvider } from '../support/captcha-provider.ts'
import { acceptForShop } from '../support/completed.ts'
import { formOf, readSample, startDrape } from '../support/drape.ts'
import { createSignedShop } from '../support/shop.ts'
import { pathSignedByShopify, send, signedByPlugin } from '../support/shop-proxies.ts'
import { startShopifyAdmin } from '../support/shopify-admin.ts'
import { until } from '../support/until.ts'

const SHIRT = 'gid://shopify/Product/1'
type Headers = Readonly<Record<string, string>>
interface PluginRequest {
  readonly method?: string
  readonly path: string
  readonly body?: object | null
  readonly headers?: readonly (readonly [string, string])[]
}

describe('a visitor who invents identities', async () => {
  let number = 0

  const provider = await startCaptchaProvider()
  const photo = await readSample('persons/down-half-teal.jpg')
  const captcha = { CAPTCHA_VERIFY_URL: provider.url, CAPTCHA_SECRET: 'captcha-secret' }
  const drape = await startDrape({ credits: 1000, env: { PROXY_HOPS: '1', ...captcha } })
  const images = [{ source: { url: 'https://shop.example/1.jpg' } }]
  await drape.call('POST', '/tryon/v1/products', { body: { externalId: SHIRT, images } })
  afterAll(async () => {
    await drape.stop()
    provider.stop()
  })

  const openShop = (settings: Partial<NewShop> = {}) =>
    createSignedShop(drape, { domain: `shop-${number++}.myshopify.com`, secret: 'hush' }, settings)
  type Shop = Awaited<ReturnType<typeof openShop>>
  /** What Shopify passes on of a request of this address, as our own proxy passes it on. */
  const from = (address: string): Headers => ({
    'x-forwarded-for': `192.0.2.${number++ % 250}, ${address}, 23.227.38.1`,
  })
  const post = (shop: Shop, path: string, body: unknown, headers: Headers, customer?: string) =>
    drape.call('POST', pathSignedByShopify(path, shop, customer ? [['logged_in_customer_id', customer]] : []), {
      key: null,
      headers,
      body,
    })
  /** A request that the plugin of a shop passes on. */
  const byPlugin = (
    shop: Shop,
    { method = 'POST', path, body = null, headers = [] }: PluginRequest,
  ): ReturnType<typeof send> =>
    send(
      drape.api.url,
      signedByPlugin(shop, {
        method,
        path,
        headers: [['Content-Type', 'application/json'], ...headers],
        body: body === null ? '' : JSON.stringify(body),
      }),
    )
  async function upload(shop: Shop, headers: Headers, customer?: string): Promise<string> {
    const answer = await post(shop, '/public/upload-image', formOf(undefined, { file: photo }), headers, customer)
    expect(answer.status).toBe(201)
    return answer.body.fileId
  }
  const enter = (shop: Shop, userImageId: string, headers: Headers, customer?: string) =>
    post(shop, '/public/fitting-room', { userImageId, productId: SHIRT }, headers, customer)
  const anonymous = (name: string): Headers => ({ 'x-service-anonymous-id': `anon_${name}` })
  /** Assigns the photo to the user of the next request, as an attacker does with one upload per name. */
  const own = (id: string, shop: Shop, name: string) =>
    drape.database.query(sql.unsafe`update images set external_user_id = ${`${shop.id}:${name}`} where id = ${id}`)
  async function getToken(shop: Shop, headers: Headers): Promise<Headers> {
    const answer = await post(shop, '/public/visitor', { captcha: 'solved' }, headers)
    expect(answer.status).toBe(201)
    return { 'x-service-visitor-token': answer.body.visitorToken }
  }

  it('spends at most the limit of the address, whatever precedes it in X-Forwarded-For', async () => {
    const shop = await openShop()
    const imageId = await upload(shop, { ...from('203.0.113.1'), ...anonymous('a') })
    let accepted = 0
    for (let i = 0; i < 34; i++) {
      await own(imageId, shop, `browser:anon_${i}`)
      const answer = await enter(shop, imageId, { ...from('203.0.113.1'), ...anonymous(String(i)) })
      if (answer.status === 200) accepted++
      else expect(answer).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED', period: 'day' } })
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(86_400)
    }
    expect(accepted).toBe(30)
    await own(imageId, shop, 'browser:anon_other')
    expect(await enter(shop, imageId, { ...from('203.0.113.2'), ...anonymous('other') })).toMatchObject({ status: 200 })
  })

  it('spends at most the visitor limit of the shop from many addresses, which customers do not share', async () => {
    const shop = await openShop({ visitorGenerations: 3, addressGenerations: 2 })
    const imageId = await upload(shop, { ...from('2001:db8::1'), ...anonymous('v6') })
    const statuses: number[] = []
    // The same /64 network counts as one address.
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '203.0.113.5', '203.0.113.6']) {
      statuses.push((await enter(shop, imageId, { ...from(address), ...anonymous('v6') })).status)
    }
    expect(statuses).toEqual([200, 200, 429, 200, 429])
    const theirs = await upload(shop, from('203.0.113.6'), '77')
    expect(await enter(shop, theirs, from('203.0.113.6'), '77')).toMatchObject({ status: 200 })
  })

  it('is limited in try-ons that are cancelled before a worker starts them', async () => {
    const shop = await openShop({ addressGenerations: 2, visitorGenerations: 100 })
    const imageId = await upload(shop, { ...from('203.0.113.60'), ...anonymous('a') })
    const statuses = []
    for (let i = 0; i < 7; i++) {
      const headers = { ...from('203.0.113.60'), ...anonymous('a') }
      const { status, body } = await enter(shop, imageId, headers)
      statuses.push(status)
      if (status === 200) await post(shop, `/public/generation/${body.jobId}/cancel`, undefined, headers)
    }
    expect(statuses).toEqual([...Array(6).fill(200), 429])
  })

  it('is limited in failing try-ons', async () => {
    const shop = await openShop({ addressGenerations: 2, visitorGenerations: 100 })
    const imageId = await upload(shop, { ...from('203.0.113.50'), ...anonymous('a') })
    const enterAndFail = async (name: string) => {
      await own(imageId, shop, `browser:anon_${name}`)
      const { status, headers } = await enter(shop, imageId, { ...from('203.0.113.50'), ...anonymous(name) })
      // What a worker does with a photo or a product image that it cannot use.
      await drape.database.query(sql.unsafe`
        update generations set status = 'FAILED', started_at = now(), finished_at = now(), error_code = 'NO_PERSON_DETECTED'
        where shop_id = ${shop.id} and status = 'PENDING'`)
      return [status, headers.has('retry-after')]
    }
    const answers = []
    for (let i = 0; i < 8; i++) answers.push(await enterAndFail(`fails-${i}`))
    expect(answers).toEqual([...Array(6).fill([200, false]), ...Array(2).fill([429, true])])
    expect(await createVisitorAddresses(drape.database).countToday(shop.id)).toMatchObject({
      generations: 0,
      failed: 6,
    })
  })

  it('does not use up the limit of the account by failing try-ons, which have their own limit', async () => {
    const account = await drape.createAccount(20, { failedGenerationsPerHour: 2 })
    const { id } = await openShop({ accountId: account.id })
    const tryOn = async () => {
      const body = formOf(
        { products: [{ images: [{ source: { fileKey: 'me' } }] }], person: { image: { source: { fileKey: 'me' } } } },
        { me: photo },
      )
      return drape.call('POST', '/tryon/v1/try-on', { key: account.apiKey, body })
    }
    const failAll = (shopId: string | null) =>
      drape.database.query(sql.unsafe`
        update generations set status = 'FAILED', started_at = now(), finished_at = now(), shop_id = ${shopId}
        where account_id = ${account.id} and status = 'PENDING'`)
    for (let i = 0; i < 3; i++) expect((await tryOn()).status).toBe(201)
    await failAll(id)
    for (let i = 0; i < 2; i++) expect((await tryOn()).status).toBe(201)
    await failAll(null)
    const refused = await tryOn()
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
    expect(refused.headers.get('retry-after')).toBe('60')
  })

  it('does not use up the shares and downloads of the other visitors of a shop', async () => {
    const shop = await openShop()
    const share = (address: string, name = 's') =>
      post(shop, '/public/share-generation', { generationId: 'gen_0' }, { ...from(address), ...anonymous(name) })
    const download = (address: string) =>
      drape.call(
        'GET',
        pathSignedByShopify('/public/download-image', shop, [['url', `${drape.api.url}/objects/x.jpg`]]),
        {
          key: null,
          headers: from(address),
        },
      )
    const shares = await Promise.all(Array.from({ length: 25 }, () => share('203.0.113.30')))
    expect(shares.filter(({ status }) => status === 429)).toHaveLength(5)
    const downloads = await Promise.all(Array.from({ length: 105 }, () => download('203.0.113.30')))
    expect(downloads.filter(({ status }) => status === 429)).toHaveLength(5)
    expect((await share('203.0.113.30', 'neighbour')).status).toBe(404)
    expect((await download('203.0.113.31')).status).not.toBe(429)
  })

  it('has exactly the shares of one visitor in a shop whose plugin names no addresses', async () => {
    const shop = await openShop({ platform: 'plugin' })
    const share = (headers: [string, string][]) =>
      byPlugin(shop, { path: '/public/share-generation', body: { generationId: 'gen_0' }, headers })
    for (const headers of [[['X-Service-Anonymous-Id', 'anon_one']], []] as [string, string][][]) {
      const answers = await Promise.all(Array.from({ length: 24 }, () => share(headers)))
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(4)
    }
    expect((await share([['X-Service-Anonymous-Id', 'anon_two']])).status).toBe(404)
  })

  it('may poll and follow try-ons only within its budgets', async () => {
    const shop = await openShop()
    const id = await acceptForShop(drape, { shopId: shop.id, shopper: 'browser:anon_polls' })
    const headers = { ...from('203.0.113.60'), ...anonymous('polls') }
    const ask = async (path: string, signal?: AbortSignal) => {
      const options = { headers, ...(signal && { signal }) }
      return (await fetch(`${drape.api.url}${pathSignedByShopify(path, shop, [])}`, options)).status
    }
    const polls = await Promise.all(Array.from({ length: 310 }, () => ask(`/public/generation/${id}`)))
    expect(polls.filter((status) => status === 429)).toHaveLength(10)
    const leaving = new AbortController()
    const follow = () => ask(`/public/generation/${id}/events`, leaving.signal)
    const streams = await Promise.all(Array.from({ length: 15 }, follow))
    expect(streams.filter((status) => status === 200)).toHaveLength(10)
    leaving.abort()
    await until(async () => (await ask(`/public/generation/${id}/events`, AbortSignal.timeout(1000))) === 200)
  })

  it('does not use up the product look-ups of the other visitors of a shop', async () => {
    const admin = await startShopifyAdmin()
    const shirt = { title: 'Shirt', description: '', images: ['https://cdn.example/a.jpg'] }
    admin.products.push({ ...shirt, id: 'gid://shopify/Product/9001' })
    const shop = await openShop({ adminUrl: admin.url, adminToken: admin.token })
    const imageId = await upload(shop, { ...from('203.0.113.40'), ...anonymous('looks') })
    const ask = (address: string, product: number, headers = anonymous('looks')) =>
      post(
        shop,
        '/public/fitting-room',
        { userImageId: imageId, productId: `gid://shopify/Product/${product}` },
        { ...from(address), ...headers },
      )
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask('203.0.113.40', 70_000 + i)))
    const statuses = answers.map(({ status }) => status)
    if (process.env.SHOW_COST) console.log(`COST look-ups of one address: ${admin.operations.length}`)
    expect(admin.operations).toHaveLength(20)
    expect(statuses.filter((status) => status === 404)).toHaveLength(20)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({ jobId: '', code: 'RATE_LIMIT_EXCEEDED' })
    expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    // The same visitor from another network, and products that the platform is known not to have.
    expect((await ask('203.0.113.41', 9001)).status).toBe(200)
    const unknown = 70_000 + statuses.indexOf(404)
    expect((await ask('203.0.113.40', unknown)).status).toBe(404)
    await admin.stop()
  })

  it('does not lock out a shop whose plugin names no addresses, and names the missing header', async () => {
    const shop = await openShop({ platform: 'plugin', visitorGenerations: 5, addressGenerations: 2 })
    // Uploaded through another shop: this is about the budgets of try-ons.
    const imageId = await upload(await openShop(), { ...from('203.0.113.20'), ...anonymous('plugin') })
    const enterBy = async (name: string, address: [string, string][] = []) => {
      await own(imageId, shop, `browser:anon_${name}`)
      const headers: [string, string][] = [['X-Service-Anonymous-Id', `anon_${name}`], ...address]
      return byPlugin(shop, {
        path: '/public/fitting-room',
        body: { userImageId: imageId, productId: SHIRT },
        headers,
      })
    }
    for (let i = 0; i < 3; i++) expect(await enterBy(`p${i}`)).toMatchObject({ status: 200 })
    const named: [string, string][] = [['X-Drape-Shopper-Address', '203.0.113.21']]
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await enterBy(`n${i}`, named)).status)
    expect(statuses).toEqual([200, 200, 429])
    expect(await enterBy('last')).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMIT_EXCEEDED', message: expect.stringContaining('X-Drape-Shopper-Address') },
    })
    expect(await createVisitorAddresses(drape.database).countToday(shop.id)).toMatchObject({
      generations: 5,
      addresses: [{ generations: 3 }, { generations: 2 }],
    })
  })

  it('uses, reads and shares nothing of other visitors whose address the proxy does not forward', async () => {
    const shop = await openShop({ platform: 'plugin' })
    const ask = (method: string, path: string, body: object | null, headers: [string, string][] = []) =>
      byPlugin(shop, { method, path, body, headers })
    const wish = { userImageId: (await drape.upload(photo)).imageId, productId: SHIRT }
    const made = await ask('POST', '/public/fitting-room', wish)
    expect(made).toMatchObject({ status: 200 })
    // As if the nameless visitor had uploaded the photo too.
    await drape.database.query(sql.unsafe`
      update images set external_user_id = (select external_user_id from generations where id = ${made.body.jobId})
      where id = ${wish.userImageId}`)
    for (const headers of [[], [['X-Service-Anonymous-Id', 'anon_other']]] as [string, string][][]) {
      const statuses = [
        await ask('GET', `/public/generation/${made.body.jobId}`, null, headers),
        await ask('POST', '/public/share-generation', { generationId: made.body.jobId }, headers),
        await ask('POST', '/public/fitting-room', wish, headers),
      ].map(({ status }) => status)
      expect(statuses).toEqual([404, 404, 404])
    }
    expect(await ask('POST', '/public/prepare-upload', null)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: expect.stringContaining('X-Service-Anonymous-Id') },
    })
    const named: [string, string][] = [['X-Service-Anonymous-Id', 'anon_other']]
    expect(await ask('POST', '/public/prepare-upload', null, named)).toMatchObject({ status: 200 })
  })

  it('uses no photo of another visitor', async () => {
    const shop = await openShop()
    const address = from('203.0.113.8')
    const victim = { ...address, ...(await getToken(shop, address)), ...anonymous('victim') }
    const imageId = await upload(shop, victim)
    const thief = { ...address, ...(await getToken(shop, address)) }
    for (const headers of [thief, { ...address, ...anonymous('victim') }, { ...address, ...anonymous('x') }, address]) {
      expect(await enter(shop, imageId, headers)).toMatchObject({ status: 404 })
    }
    expect(await enter(shop, imageId, victim)).toMatchObject({ status: 200 })
    expect(await enter(shop, imageId, victim, '78')).toMatchObject({ status: 200 })
  })

  it('is refused with a changed or foreign token, and counted by a valid one', async () => {
    const [shop, other] = [await openShop({ requiresVisitorToken: true }), await openShop()]
    const address = from('203.0.113.9')
    const { 'x-service-visitor-token': token } = await getToken(shop, address)
    const imageId = await upload(shop, { ...address, 'x-service-visitor-token': token })
    const foreign = await getToken(other, address)
    for (const forged of [
      token.replace('vis_', 'vis_a'),
      `${token}a`,
      token.replace(/\.\d+\./, '.9999999999.'),
      foreign['x-service-visitor-token'],
      '',
    ]) {
      const answer = await enter(shop, imageId, { ...address, ...anonymous('x'), 'x-service-visitor-token': forged })
      expect(answer, forged).toMatchObject({ status: 403, body: { code: 'VISITOR_TOKEN_REQUIRED' } })
    }
    const statuses: number[] = []
    for (let i = 0; i < 11; i++) {
      const headers = { ...address, ...anonymous(`new-${i}`), 'x-service-visitor-token': token }
      statuses.push((await enter(shop, imageId, headers)).status)
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429])
  })

  it('gets a token only with a response that the CAPTCHA provider confirms, and at most 20 an hour', async () => {
    const shop = await openShop()
    const address = from('203.0.113.10')
    for (const body of [{}, { captcha: 'wrong' }]) {
      expect(await post(shop, '/public/visitor', body, address)).toMatchObject({
        status: 403,
        body: { code: 'CAPTCHA_REQUIRED' },
      })
    }
    await getToken(shop, address)
    expect(Object.fromEntries(provider.asked.at(-1) ?? [])).toEqual({
      secret: 'captcha-secret',
      response: 'solved',
      remoteip: '203.0.113.10',
    })
    expect(await post(shop, '/public/visitor', { captcha: 'broken' }, address)).toMatchObject({ status: 503 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(shop, '/public/visitor', { captcha: 'solved' }, address)),
    )
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4)
  })
})
