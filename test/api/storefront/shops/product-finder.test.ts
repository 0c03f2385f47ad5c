import { afterAll, describe, expect, it } from 'vitest'
import { createRangeRule } from '../../../../api/shared/network/addresses.ts'
import type { Shopper } from '../../../../api/shops/shopper.ts'
import type { ShopRecord } from '../../../../api/shops/shops.store.ts'
import { createShopifyPlatform } from '../../../../api/storefront/shop-platforms/shopify.ts'
import { createShopifyAdmin } from '../../../../api/storefront/shop-platforms/shopify-admin.ts'
import { createShopifyRequest } from '../../../../api/storefront/shop-platforms/shopify-request.ts'
import { createProductFinder } from '../../../../api/storefront/shops/product-finder.ts'
import { createEndlessTokens, startShopifyAdmin } from '../../../support/shopify-admin.ts'

const SHIRT = { id: 'gid://shopify/Product/1', title: 'Shirt', description: '', images: ['https://cdn.example/a.jpg'] }
const MINUTE = 60_000

describe('products of a shop are looked up', async () => {
  let now = 0
  let left = 5
  const platform = createShopifyPlatform(
    createShopifyAdmin({
      request: createShopifyRequest({ isPlainAllowed: createRangeRule(['127.0.0.0/8']) }),
      tokens: createEndlessTokens(),
    }),
  )
  const spent = new Set<string>()
  const findFor = createProductFinder(() => platform, {
    findRefusal: async ({ shopId, shopper: { addressHash } }) => {
      if (spent.has(`${shopId}:${addressHash}`)) return { layer: 'address', retrySeconds: 60 }
      return left-- > 0 ? null : { layer: 'shop', retrySeconds: 60 }
    },
    now: () => now,
  })
  const from = (addressHash: string) => findFor({ addressHash } as Shopper)
  const find = from('a')
  const admin = await startShopifyAdmin()
  admin.products.push(SHIRT)
  const shop = { id: 'shop_1', domain: 'shirts.example', adminUrl: admin.url, adminToken: admin.token } as ShopRecord
  afterAll(() => admin.stop())
  const calls = () => admin.operations.splice(0).length

  it('once for concurrent equal requests', async () => {
    const found = await Promise.all([1, 2, 3].map(() => find(shop, SHIRT.id, null)))
    expect(found.map((product) => product?.title)).toEqual(['Shirt', 'Shirt', 'Shirt'])
    expect(calls()).toBe(1)
  })

  it('once per minute if the platform does not have them, for any variant', async () => {
    const unknown = 'gid://shopify/Product/404'
    for (const variant of [null, 'gid://shopify/ProductVariant/1', 'gid://shopify/ProductVariant/2']) {
      expect(await find(shop, unknown, variant)).toBeNull()
    }
    expect(calls()).toBe(1)
    now += MINUTE
    expect(await find(shop, unknown, null)).toBeNull()
    expect(calls()).toBe(1)
  })

  it.each([{ status: 'DRAFT' }, { status: 'ARCHIVED' }, { publishedAt: null }])('not at all for %j', async (state) => {
    const id = `gid://shopify/Product/5${admin.products.length}`
    admin.products.push({ ...SHIRT, id, ...state })
    left = 1
    expect(await find(shop, id, null)).toBeNull()
    expect(calls()).toBe(1)
  })

  it('within the budget of the shop', async () => {
    left = 1
    await find(shop, 'gid://shopify/Product/405', null)
    await expect(find(shop, 'gid://shopify/Product/406', null)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      retryAfterSeconds: 60,
    })
    expect(calls()).toBe(1)
  })

  it('within the budget of the address, which others do not share', async () => {
    left = 3
    spent.add('shop_1:a')
    await expect(find(shop, 'gid://shopify/Product/407', null)).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterSeconds: 60,
    })
    expect(left).toBe(3)
    expect(await from('b')(shop, SHIRT.id, null)).not.toBeNull()
    expect(calls()).toBe(1)
  })
})
