import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../api/shared/database/database.ts'
import { createShops } from '../api/shops/shops.store.ts'
import { type Drape, formOf, readSample, startDrape } from './support/drape.ts'
import { createDevelopmentShop } from './support/shop.ts'
import { type Sent, send, signedByPlugin } from './support/shop-proxies.ts'
import { until } from './support/until.ts'

const SITE = { domain: 'socks.example', secret: 'silence' }
const SOCKS = 'gid://plugin/Product/77'

describe('a shop with a plugin, on a production API', () => {
  let drape: Drape
  let fileId: string
  let jobId: string

  beforeAll(async () => {
    drape = await startDrape({ env: { NODE_ENV: 'production', SIGNING_SECRET: 'a secret of sixteen signs or more' } })
    await drape.startWorker()
    await createShops(drape.database).insert({
      accountId: drape.accountId,
      platform: 'plugin',
      requiresConsent: false,
      ...SITE,
    })
    const product = {
      externalId: '77',
      title: 'T-shirt',
      images: [{ source: { fileKey: 'shirt' }, classifications: { type: 'flat_lay' } }],
    }
    const shirt = await readSample('garments/tshirt-mustard.jpg')
    expect((await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt }) })).status).toBe(200)
  })
  afterAll(() => drape.stop())

  const call = (request: Partial<Sent> & { path: string }) => send(drape.api.url, signedByPlugin(SITE, request))
  const post = (path: string, body: object) =>
    call({ method: 'POST', path, headers: [['Content-Type', 'application/json']], body: JSON.stringify(body) })
  const asCustomer = (path: string) => `${path}?logged_in_customer_id=42`

  it('uploads the photo of a customer', async () => {
    const form = new Response(formOf(undefined, { file: await readSample('persons/down-half-teal.jpg') }))
    const answer = await call({
      method: 'POST',
      path: asCustomer('/public/upload-image'),
      headers: [['Content-Type', form.headers.get('content-type') ?? '']],
      body: new Uint8Array(await form.arrayBuffer()),
    })
    expect(answer).toMatchObject({ status: 201, body: { fileId: expect.any(String), fileUrl: expect.any(String) } })
    fileId = answer.body.fileId
    const owner = await drape.database.oneFirst(sql.unsafe`select external_user_id from images where id = ${fileId}`)
    expect(owner).toMatch(/^shop_[\w-]+:customer:42$/)
  })

  it('runs a try-on and gets the result', async () => {
    const answer = await post(asCustomer('/public/fitting-room'), { userImageId: fileId, productId: SOCKS })
    expect(answer).toMatchObject({ body: { jobId: expect.stringMatching(/^gen_/) } })
    jobId = answer.body.jobId
    const { body } = await until(async () => {
      const status = await call({ path: asCustomer(`/public/generation/${jobId}`) })
      return ['COMPLETED', 'FAILED'].includes(status.body.status) && status
    })
    expect(body).toMatchObject({ status: 'COMPLETED', resultImageUrl: expect.any(String) })
  })

  it('shares the result, checks its credits and collects an e-mail address', async () => {
    expect(await post('/public/share-generation', { generationId: jobId })).toMatchObject({ status: 404 })
    expect(await post(asCustomer('/public/share-generation'), { generationId: jobId })).toMatchObject({ status: 201 })
    expect(await call({ path: '/public/check-credits' })).toMatchObject({ status: 200, body: { allowed: true } })
    expect(await post('/public/collect-email', { email: 'anna@example.com' })).toMatchObject({
      status: 200,
      body: { success: true },
    })
    await until(() => drape.database.maybeOne(sql.unsafe`select from leads where email = 'anna@example.com'`))
  })

  it('sends events with the customer ID that it signs', async () => {
    const path = asCustomer('/storefront/v1/events')
    const answer = await post(path, {
      events: [
        { event: 'widget:button_click', properties: {}, timestamp: new Date().toISOString(), $insert_id: 'click-1' },
      ],
      context: {
        anonymous_id: 'anon_1',
        session_id: 'sess_1',
        $pageview_id: 'page-1',
        widget_version: 'wv_1',
        widget_enabled: true,
        product_id: null,
        variant_id: null,
        $screen_width: 0,
        $screen_height: 0,
        $timezone: 'Europe/Berlin',
      },
    })
    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    const event = await drape.database.one(sql.unsafe`
      select customer_id, customer_signed from event_details where insert_id = 'click-1'`)
    expect(event).toEqual({ customer_id: '42', customer_signed: true })
  })

  it('is refused without a signature, whatever shop the request names', async () => {
    const { headers } = await createDevelopmentShop(drape)
    const sent: Sent = { method: 'GET', path: '/public/check-credits', headers: Object.entries(headers), body: '' }
    for (const domain of ['shop.test', SITE.domain]) {
      const named = { ...sent, headers: [['X-Drape-Shop', domain] as const] }
      expect(await send(drape.api.url, named)).toMatchObject({ status: 401, body: { code: 'PROXY_SIGNATURE_INVALID' } })
    }
  })
})
