import { readFileSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createShops } from '../../api/shops/shops.store.ts'
import { formOf, readSample, startDrape } from '../support/drape.ts'
import { createDevelopmentShop } from '../support/shop.ts'
import { type Parameters, pathSignedByShopify } from '../support/shop-proxies.ts'

const NEUTRAL = 'neutral-1'
type Headers = Readonly<Record<string, string>>

describe('a stranger with many addresses', async () => {
  const drape = await startDrape({ credits: 1000, env: { PROXY_HOPS: '1' } })
  const shop = await createDevelopmentShop(drape, 'asking.test', { requiresConsent: true })
  const photo = await readSample('persons/down-half-teal.jpg')
  afterAll(() => drape.stop())

  let names = 0
  const newShopper = (address: string): Headers => ({
    'x-drape-shop': shop.domain,
    'x-service-anonymous-id': `anon_lock-${names++}`,
    'x-forwarded-for': address,
  })
  const agree = (headers: Headers) =>
    drape.call('POST', '/public/consent', {
      key: null,
      headers,
      body: { policy: shop.domain, version: NEUTRAL, language: 'en' },
    })
  const withdraw = (headers: Headers) => drape.call('POST', '/public/withdraw-consent', { key: null, headers })
  const upload = (headers: Headers) =>
    drape.call('POST', '/public/upload-image', { key: null, headers, body: formOf(undefined, { file: photo }) })
  const inTurn = async (count: number, work: (i: number) => Promise<unknown>) => {
    for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => work(i + n)))
  }

  it('cannot prevent a visitor from withdrawing consent', async () => {
    const victim = newShopper('198.51.100.1')
    expect((await agree(victim)).status).toBe(201)
    expect((await upload(victim)).status).toBe(201)
    await inTurn(1020, (i) => withdraw(newShopper(`203.0.113.${i % 20}`)))
    expect((await withdraw(victim)).status).toBe(204)
  })

  it('cannot prevent a visitor of another network, or one whom the shop signed, from giving consent', async () => {
    const shopify = { domain: 'flooded.myshopify.com', secret: 'hush' }
    await createShops(drape.database).insert({ accountId: drape.accountId, platform: 'shopify', ...shopify })
    const agreeAs = (parameters: Parameters, address: string) =>
      drape.call('POST', pathSignedByShopify('/public/consent', shopify, parameters), {
        key: null,
        headers: { 'x-service-anonymous-id': `anon_lock-${names++}`, 'x-forwarded-for': `${address}, 23.227.38.1` },
        body: { policy: shopify.domain, version: NEUTRAL, language: 'en' },
      })
    await inTurn(5000, (i) => agreeAs([], `203.0.113.${i % 50}`))
    const others = []
    for (let i = 0; i < 3; i++) others.push((await agreeAs([], '198.51.100.1')).status)
    expect(others).toEqual([201, 201, 429])
    expect((await agreeAs([['logged_in_customer_id', '7']], '198.51.100.1')).status).toBe(201)
  })

  const sendForm = (file: Uint8Array<ArrayBuffer>, address: string) => {
    const form = new FormData()
    // Such addresses are accepted.
    form.set('email', 'ada?bcc=eve@example.com')
    form.set('reason', 'This is me.')
    form.set('file', new Blob([file]), 'x')
    const headers = { accept: 'application/json', 'x-forwarded-for': address }
    return fetch(`${drape.api.url}/removal`, { method: 'POST', body: form, headers })
  }
  const image = new Uint8Array(readFileSync(new URL('../fixtures/persons/apose-full.jpg', import.meta.url)))

  it('cannot use up the removal requests with invalid images', async () => {
    await inTurn(320, (i) => sendForm(new Uint8Array(8), `198.18.${i % 80}.1`))
    expect((await sendForm(image, '198.51.100.1')).status).toBe(200)
  })

  it('is limited in removal requests per network', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 25; i++) statuses.push((await sendForm(image, `2001:db8:7:${i.toString(16)}::1`)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.at(-1)).toBe(429)
    expect((await sendForm(image, '2001:db8:8::1')).status).toBe(200)
  })

  it('cannot fill the disk with endless removal forms', async () => {
    const stalled = Array.from({ length: 5 }, (_, i) => {
      const request = openRequest(`${drape.api.url}/removal`, {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=b', 'x-forwarded-for': `203.0.113.${i}` },
      })
      request.on('error', () => {})
      request.write('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n')
      request.write(Buffer.alloc(i < 4 ? 10_300_000 : 9_120_000))
      return request
    })
    await setTimeout(1500)
    const { status } = await sendForm(image, '198.51.100.1')
    for (const request of stalled) request.destroy()
    expect(status).toBe(200)
  })
})
