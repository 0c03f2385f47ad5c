import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRangeRule } from '../../../../api/shared/network/addresses.ts'
import type { ShopRecord } from '../../../../api/shops/shops.store.ts'
import { createShopifyPlatform } from '../../../../api/storefront/shop-platforms/shopify.ts'
import { createShopifyAdmin } from '../../../../api/storefront/shop-platforms/shopify-admin.ts'
import { createShopifyRequest } from '../../../../api/storefront/shop-platforms/shopify-request.ts'
import {
  createEndlessTokens,
  type Mishap,
  type ShopifyAdminServer,
  startShopifyAdmin,
} from '../../../support/shopify-admin.ts'

const SHIRT = {
  id: 'gid://shopify/Product/1',
  title: 'Shirt',
  description: 'Of linen',
  images: ['https://cdn.example/front.jpg', 'https://cdn.example/back.jpg'],
  variants: [{ id: 'gid://shopify/ProductVariant/11', images: ['https://cdn.example/blue.jpg'] }],
}
const HAT = {
  id: 'gid://shopify/Product/2',
  title: 'Hat',
  description: '',
  images: [],
  variants: [{ id: 'gid://shopify/ProductVariant/21', images: ['https://cdn.example/hat.jpg'] }],
}
const ANNA = { email: 'anna@example.com', marketingConsent: false }

describe('a shop on Shopify', () => {
  let admin: ShopifyAdminServer
  let shop: ShopRecord
  let pauses: number[]
  let marks: string[]
  const platform = createShopifyPlatform(
    createShopifyAdmin({
      request: createShopifyRequest({ isPlainAllowed: createRangeRule(['127.0.0.0/8']), answerMs: 2000 }),
      tokens: createEndlessTokens((mark) => marks.push(mark)),
      pause: async (ms) => void pauses.push(ms),
    }),
  )

  beforeEach(async () => {
    pauses = []
    marks = []
    admin = await startShopifyAdmin()
    admin.products.push(SHIRT, HAT)
    shop = {
      id: 'shop_1',
      accountId: 'acc_1',
      platform: 'shopify',
      domain: 'shirts.myshopify.com',
      extraDomains: [],
      name: null,
      secrets: [],
      adminUrl: `${admin.url}/`,
      adminToken: admin.token,
      adminClientId: null,
      adminRefusedAt: null,
      holdoutSince: new Date(),
      holdoutPercent: null,
      monthlyGenerations: null,
      addressGenerations: null,
      visitorGenerations: null,
      defaultEngine: null,
      requiresVisitorToken: false,
      safetyLevel: null,
      allowsSwimwear: null,
      requiresConsent: false,
      privacyContact: null,
      billingAllowed: true,
      planEndsAt: null,
      isActive: true,
    }
  })
  afterEach(() => admin.stop())

  const find = (product = SHIRT.id, variant: string | null = null) => platform.findProduct(shop, product, variant)
  const keep = (lead: Partial<typeof ANNA> = {}) => platform.keepLead(shop, { ...ANNA, ...lead, outboxId: 1 })
  const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', retryable: true }
  const REFUSED = { code: 'SERVICE_UNAVAILABLE', retryable: false }

  it.each([
    ['plain http to another address', 'http://203.0.113.7'],
    ['plain http to a name', 'http://localhost'],
    ['credentials in the address', 'https://user:secret@shirts.example'],
  ])('are not asked, and get no token, by %s', async (_, adminUrl) => {
    const { port } = new URL(admin.url)
    shop = { ...shop, adminUrl: `${adminUrl}:${port}` }
    await expect(find()).rejects.toMatchObject(REFUSED)
    expect(admin.products).toHaveLength(2)
  })

  describe('has products', () => {
    it('with their images', async () => {
      expect(await find()).toEqual({ title: 'Shirt', description: 'Of linen', imageUrls: SHIRT.images })
    })

    it('with the image of a variant first', async () => {
      expect((await find(SHIRT.id, SHIRT.variants[0].id))?.imageUrls).toEqual([
        'https://cdn.example/blue.jpg',
        ...SHIRT.images,
      ])
      expect(await find(HAT.id, HAT.variants[0].id)).toEqual({
        title: 'Hat',
        description: null,
        imageUrls: ['https://cdn.example/hat.jpg'],
      })
    })

    it('with the product images if the variant is unknown or of another product', async () => {
      for (const variant of [
        'gid://shopify/ProductVariant/99',
        HAT.variants[0].id,
        'gid://other/ProductVariant/11',
        '',
      ]) {
        expect((await find(SHIRT.id, variant))?.imageUrls).toEqual(SHIRT.images)
      }
    })

    it('and returns null for unknown ones', async () => {
      expect(await find('gid://shopify/Product/3')).toBeNull()
    })

    it.each(['gid://other/Product/1', 'gid://shopify/Product/1"', 'gid://shopify/Customer/1', '1', ''])(
      'and gets no request for %s',
      async (id) => {
        expect(await find(id)).toBeNull()
        expect(admin.operations).toEqual([])
      },
    )
  })

  describe('keeps leads', () => {
    it('as new customers with a tag, in a segment created for them', async () => {
      await keep()
      expect(admin.customers).toEqual([
        {
          id: 'gid://shopify/Customer/1',
          email: ANNA.email,
          tags: ['widget-lead'],
          marketingState: 'NOT_SUBSCRIBED',
        },
      ])
      expect(admin.segments).toEqual([{ name: 'Widget Leads', query: "customer_tags CONTAINS 'widget-lead'" }])
    })

    it('and finds the segment again', async () => {
      await keep()
      await keep({ email: 'berta@example.com' })
      expect(admin.segments).toHaveLength(1)
      expect(admin.operations.filter((name) => name === 'createSegment')).toHaveLength(1)
    })

    it('with consent only when it was given', async () => {
      await keep({ marketingConsent: true })
      await keep({ email: 'berta@example.com' })
      expect(admin.customers.map(({ marketingState }) => marketingState)).toEqual(['SUBSCRIBED', 'NOT_SUBSCRIBED'])
    })

    it('by a tag of existing customers, which are otherwise unchanged', async () => {
      const anna = {
        id: 'gid://shopify/Customer/9',
        email: 'Anna@Example.com',
        tags: ['vip'],
        marketingState: 'UNSUBSCRIBED',
      }
      admin.customers.push(anna)
      await keep()
      expect(admin.customers).toEqual([{ ...anna, tags: ['vip', 'widget-lead'], marketingState: 'UNSUBSCRIBED' }])
      await keep({ marketingConsent: true })
      expect(admin.customers[0].marketingState).toBe('SUBSCRIBED')
      await keep()
      expect(admin.customers[0].marketingState).toBe('SUBSCRIBED')
    })

    it('once for repeated leads, without further writes', async () => {
      await keep({ marketingConsent: true })
      admin.operations.length = 0
      await keep({ marketingConsent: true })
      expect(admin.customers).toHaveLength(1)
      expect(admin.operations).toEqual(['lead'])
    })

    it('that another program created concurrently', async () => {
      admin.before = (operation) => {
        if (operation === 'createCustomer') {
          admin.customers.push({
            id: 'gid://shopify/Customer/5',
            email: ANNA.email,
            tags: [],
            marketingState: 'UNSUBSCRIBED',
          })
        }
        if (operation === 'createSegment') admin.segments.push({ name: 'Widget Leads', query: 'x' })
      }
      await keep({ marketingConsent: true })
      expect(admin.customers).toMatchObject([{ tags: ['widget-lead'], marketingState: 'SUBSCRIBED' }])
      expect(admin.segments).toHaveLength(1)
    })

    it('and reports the refused request without the customer', async () => {
      const lead = keep({ email: 'not an address' })
      await expect(lead).rejects.toMatchObject(REFUSED)
      await expect(lead).rejects.toThrow('refused email')
      await expect(lead).rejects.not.toThrow('not an address')
    })
  })

  describe('that throttles requests', () => {
    const throttled = (requested: number, available: number): Mishap => ({ throttled: { requested, available } })

    it('is retried when enough points are available', async () => {
      admin.mishaps.push(throttled(112, 12), throttled(12, 2))
      expect(await find()).not.toBeNull()
      expect(pauses).toEqual([2000, 200])
    })

    it('is retried at the requested time', async () => {
      admin.mishaps.push({ status: 429, headers: { 'Retry-After': '1.5' } }, { status: 429 })
      expect(await find()).not.toBeNull()
      expect(pauses).toEqual([1500, 2000])
    })

    it.each<[string, Mishap[]]>([
      ['for long', [throttled(1000, 0)]],
      ['for a minute', [{ status: 429, headers: { 'Retry-After': '60' } }]],
      ['again and again', [throttled(112, 12), throttled(112, 12), throttled(112, 12)]],
    ])('is not waited for %s', async (_, mishaps) => {
      admin.mishaps.push(...mishaps)
      await expect(find()).rejects.toMatchObject(UNAVAILABLE)
    })
  })

  it.each<[string, Mishap]>([
    ['has a fault', { status: 500 }],
    ['is in maintenance', { status: 503, body: '<html>' }],
    ['takes us for an attack', { status: 430 }],
    ['does not answer', 'hang'],
    ['hangs up', 'hang up'],
    [
      'has a fault inside',
      { status: 200, body: '{"errors":[{"message":"Internal error","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}' },
    ],
  ])('is away for a moment when it %s', async (_, mishap) => {
    admin.mishaps.push(mishap)
    await expect(find()).rejects.toMatchObject(UNAVAILABLE)
    expect(await find()).not.toBeNull()
  })

  it.each<[string, Mishap]>([
    ['is frozen', { status: 402 }],
    ['is gone', { status: 404 }],
    ['answers no JSON', { status: 200, body: '<html>' }],
    ['answers no GraphQL', { status: 200, body: '[]' }],
    ['answers in another shape', { status: 200, body: '{"data":{"product":{"title":1}}}' }],
    ['answers without end', 'endless'],
  ])('refuses when it %s', async (_, mishap) => {
    admin.mishaps.push(mishap)
    await expect(find()).rejects.toMatchObject(REFUSED)
  })

  it('is asked again later when it refuses the token, which is marked until it is accepted', async () => {
    const old = { ...shop, adminToken: 'old' }
    await expect(platform.findProduct(old, SHIRT.id, null)).rejects.toMatchObject(UNAVAILABLE)
    expect(marks).toEqual(['refused'])
    await find()
    expect(marks).toHaveLength(1)
    shop = { ...shop, adminRefusedAt: new Date() }
    await find()
    expect(marks[1]).toBe('accepted')
  })

  it('refuses a token without the permission', async () => {
    admin.scopes.delete('read_products')
    await expect(find()).rejects.toMatchObject(REFUSED)
    await expect(find()).rejects.toThrow('ACCESS_DENIED')
    admin.scopes.delete('write_customers')
    await expect(keep()).rejects.toMatchObject(REFUSED)
  })

  it('gets the token, and no other host', async () => {
    const other = await startShopifyAdmin()
    admin.mishaps.push({ status: 307, headers: { Location: `${other.url}/admin/api/2026-07/graphql.json` } })
    await expect(find()).rejects.toMatchObject({ ...REFUSED, message: expect.stringContaining('307, a redirect') })
    expect(other.operations).toEqual([])
    await other.stop()
  })

  it('is unreachable at a port without a server', async () => {
    await admin.stop()
    await expect(find()).rejects.toMatchObject(UNAVAILABLE)
    admin = await startShopifyAdmin()
  })
})
