import { v7 as uuidv7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { acceptGeneration } from '../../../../api/generations/acceptance.store.ts'
import { createProducts } from '../../../../api/products/products.store.ts'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createImages } from '../../../../api/shared/image/person-photos.store.ts'
import { createShops, type ShopRecord } from '../../../../api/shops/shops.store.ts'
import { createFittings } from '../../../../api/storefront/fitting-room/fittings.store.ts'
import type { PlatformProduct } from '../../../../api/storefront/shop-platforms/shop-platform.ts'
import { namesOfProduct, type ProductGid, resolveShopProduct } from '../../../../api/storefront/shops/products.ts'
import { callOf, createCaller } from '../../../support/accepted.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

const PRODUCT = 'gid://shopify/Product/1'
const RED = 'gid://shopify/ProductVariant/11'
const BLUE = 'gid://shopify/ProductVariant/12'

describe('a product of a shop', async () => {
  const { database } = await openTestDatabase({ poolSize: 5 })
  let shop: ShopRecord
  let imageId: string
  let questions: (string | null)[][]
  /** Products of the platform of the shop. */
  let answer: (variant: string | null) => PlatformProduct | null

  beforeEach(async () => {
    questions = []
    answer = (variant) => ({
      title: 'Shirt',
      description: 'Of linen.',
      imageUrls: [`https://cdn.example/${variant?.split('/').at(-1) ?? 'default'}.jpg`, 'https://cdn.example/back.jpg'],
    })
    const { accountId } = await createCaller(database, 100)
    const domain = `${uuidv7()}.test`
    const { id } = await createShops(database).insert({ accountId, platform: 'shopify', domain })
    const found = await createShops(database).find(domain)
    if (!found) throw new Error(`There is no ${id}`)
    shop = found.shop
    imageId = `img_${uuidv7()}`
    await createImages(database).insert({
      id: imageId,
      accountId,
      objectKey: `persons/${accountId}/${imageId}.jpg`,
      externalUserId: `${id}:customer:1`,
      bytes: 1,
      width: 800,
      height: 1000,
      cropMode: 'auto',
      expiresAt: new Date(Date.now() + 3_600_000),
    })
  })

  const findProduct = async (_: ShopRecord, product: string, variant: string | null) => {
    questions.push([product, variant])
    return answer(variant)
  }
  /** Images that a generation of the product gets. */
  async function wear(variant: string | null = null, product = PRODUCT) {
    const gid: ProductGid = { product, variant }
    const { accountId, id: shopId } = shop
    const { hasImage, products: known } = await createFittings(database).find({
      accountId,
      photoOwners: [`${shopId}:customer:1`],
      imageId,
      externalIds: namesOfProduct(gid),
    })
    expect(hasImage).toBe(true)
    const input = await resolveShopProduct(gid, { known, shop, findProduct })
    const call = callOf(
      { accountId, imageId },
      { product: input, shop: { id: shopId, weeklyGenerations: 100 }, shopperHash: 'hash' },
    )
    await acceptGeneration(database, { ...call, externalUserId: `${shopId}:customer:1` })
    return database.one(sql.unsafe`
      select product_external_id as name, snapshot #>> '{images,0,sourceUrl}' as "firstImage" from generations
      where id = ${call.generationId}`)
  }
  const find = (externalId: string) => createProducts(database).find({ accountId: shop.accountId, externalId })
  const insert = (externalId: string, metadata = {}) =>
    createProducts(database).upsert(shop.accountId, {
      id: uuidv7(),
      externalId,
      anonymous: false,
      images: [
        { sourceUrl: `https://shop.example/${externalId.split('/').at(-1)}.jpg`, order: 0, classifications: null },
      ],
      metadata,
    })

  it('is fetched from its platform once, and stored in the catalog', async () => {
    expect(await wear()).toEqual({ name: PRODUCT, firstImage: 'https://cdn.example/default.jpg' })
    expect(await wear()).toEqual({ name: PRODUCT, firstImage: 'https://cdn.example/default.jpg' })
    expect(questions).toEqual([[PRODUCT, null]])
    expect(await find(PRODUCT)).toMatchObject({
      title: 'Shirt',
      description: 'Of linen.',
      images: [
        { sourceUrl: 'https://cdn.example/default.jpg', order: 0, classifications: null },
        { sourceUrl: 'https://cdn.example/back.jpg', order: 1, classifications: null },
      ],
      metadata: { source: 'shop-platform', shop: shop.domain, productId: PRODUCT, variantId: null },
      validForDays: 15,
    })
  })

  it('is used in the requested variant, and each variant is stored', async () => {
    expect(await wear(RED)).toEqual({ name: PRODUCT, firstImage: 'https://cdn.example/11.jpg' })
    expect(await wear(BLUE)).toEqual({ name: BLUE, firstImage: 'https://cdn.example/12.jpg' })
    for (let i = 0; i < 2; i++) {
      expect(await wear(RED)).toMatchObject({ firstImage: 'https://cdn.example/11.jpg' })
      expect(await wear(BLUE)).toMatchObject({ firstImage: 'https://cdn.example/12.jpg' })
    }
    expect(questions).toEqual([
      [PRODUCT, RED],
      [PRODUCT, BLUE],
    ])
    expect((await find(PRODUCT))?.metadata).toMatchObject({ variantId: RED })
  })

  it('of the catalog of the account is used for every variant, without a request to the platform', async () => {
    await insert(PRODUCT, { variantId: 'of their own' })
    for (const variant of [null, RED]) expect(await wear(variant)).toMatchObject({ name: PRODUCT })
    await insert('2')
    expect(await wear(BLUE, 'gid://shopify/Product/2')).toMatchObject({ name: '2' })
    expect(questions).toEqual([])
  })

  it('is not confused with a product that was requested with a foreign variant', async () => {
    const other = 'gid://shopify/Product/9'
    answer = () => ({ title: 'Other', description: null, imageUrls: ['https://cdn.example/other.jpg'] })
    await wear(null, other)
    await wear(RED, other)
    answer = () => ({ title: 'Shirt', description: null, imageUrls: ['https://cdn.example/11.jpg'] })
    await wear(null)
    for (let i = 0; i < 2; i++) expect(await wear(RED)).toMatchObject({ firstImage: 'https://cdn.example/11.jpg' })
  })

  it('can be requested without a variant after one with a variant', async () => {
    for (const variant of [RED, null, RED, null]) {
      const firstImage = `https://cdn.example/${variant === RED ? '11' : 'default'}.jpg`
      expect(await wear(variant)).toMatchObject({ firstImage })
    }
    expect(questions).toHaveLength(3)
  })

  it('without an entry or an image on its platform is not found', async () => {
    answer = () => null
    await expect(wear()).rejects.toMatchObject({ code: 'PRODUCT_NOT_FOUND' })
    answer = () => ({ title: 'Bare', description: null, imageUrls: [] })
    await expect(wear()).rejects.toMatchObject({ code: 'PRODUCT_NOT_FOUND' })
    expect(await find(PRODUCT)).toBeNull()
  })

  it('is unavailable while its platform is', async () => {
    answer = () => {
      throw new DrapeError('SERVICE_UNAVAILABLE', 'away', { retryable: true })
    }
    await expect(wear()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  it('is stored within the limits of the catalog', async () => {
    answer = () => ({
      title: 'T'.repeat(5000),
      description: 'D'.repeat(50_000),
      imageUrls: Array.from({ length: 50 }, (_, i) => `https://cdn.example/${i}.jpg`),
    })
    await wear()
    const kept = await find(PRODUCT)
    expect(kept?.title).toHaveLength(1000)
    expect(kept?.description).toHaveLength(20_000)
    expect(kept?.images).toHaveLength(10)
  })

  it('is stored once for concurrent requests', async () => {
    const worn = await Promise.all(Array.from({ length: 8 }, () => wear()))
    expect(new Set(worn.map((seen) => JSON.stringify(seen))).size).toBe(1)
    const count = await database.oneFirst(sql.unsafe`
      select count(*)::int as n from products where account_id = ${shop.accountId}`)
    expect(count).toBe(1)
  })
})
