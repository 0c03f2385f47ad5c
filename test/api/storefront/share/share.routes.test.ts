import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createGenerations } from '../../../../api/shared/generations/generations.store.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { acceptForShop, completeForShop } from '../../../support/completed.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop, type TestShop } from '../../../support/shop.ts'

const DAY_MS = 86_400_000

describe('sharing a generation', async () => {
  let shops = 0

  const image = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape({ credits: 1000, env: { SHARE_URL: 'https://look.example/' } })
  afterAll(() => drape.stop())

  /** Each shop has a budget of its own. */
  const openShop = () => createDevelopmentShop(drape, `shop-${shops++}.test`)
  const share = (shop: TestShop, body: unknown) =>
    drape.call('POST', '/public/share-generation', { key: null, headers: shop.headers, body })
  const complete = (shop: TestShop) => completeForShop(drape, { shopId: shop.id, image })
  const countLinks = (generationId: string) =>
    drape.database.oneFirst(sql.unsafe`
      select count(*)::int from share_links where generation_id = ${generationId}`)

  it('creates an unguessable link that is valid as long as the image', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const answer = await share(shop, { generationId })
    expect(answer.status).toBe(201)
    const { shareToken, shareUrl, expiresAt } = answer.body
    expect(shareToken).toMatch(/^[0-9A-Za-z]{22}$/)
    expect(shareUrl).toBe(`https://look.example/s/${shareToken}`)
    const imagesExpireAt = (await createGenerations(drape.database).find(generationId))?.imagesExpireAt
    expect(expiresAt).toBe(imagesExpireAt?.toISOString())
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('creates links for at most 30 days', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    await drape.database.query(sql.unsafe`
      update generations set images_expire_at = now() + interval '90 days' where id = ${generationId}`)
    const { body } = await share(shop, { generationId })
    const days = (Date.parse(body.expiresAt) - Date.now()) / DAY_MS
    expect(days).toBeGreaterThan(29.9)
    expect(days).toBeLessThanOrEqual(30)
  })

  it('returns the existing link for the same domain in any case, and another link for another domain', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const first = await share(shop, { generationId })
    const again = await share(shop, { generationId, effectiveDomain: shop.domain.toUpperCase() })
    expect(again).toMatchObject({ status: 200, body: first.body })
    const other = await share(shop, { generationId, effectiveDomain: 'www.shop.example' })
    expect(other.status).toBe(201)
    expect(other.body.shareToken).not.toBe(first.body.shareToken)
    expect(await countLinks(generationId)).toBe(2)
  })

  it('uses the domain of the shop instead of a foreign domain', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const own = await share(shop, { generationId })
    for (const effectiveDomain of [
      'evil.example',
      `evil.${shop.domain}`,
      `${shop.domain}.evil.example`,
      'shop.example',
    ]) {
      const answer = await share(shop, { generationId, effectiveDomain })
      expect(answer, effectiveDomain).toMatchObject({ status: 200, body: { shareToken: own.body.shareToken } })
    }
    const page = await fetch(`${drape.api.url}/s/${own.body.shareToken}`, { headers: { accept: 'text/html' } })
    expect(await page.text()).not.toContain('evil.example')
  })

  it('leads to the domain of the shop for links with a domain that the shop does not have', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const { body } = await share(shop, { generationId })
    const merchant = async () =>
      (await drape.call('GET', `/s/${body.shareToken}`, { headers: { accept: 'application/json' } })).body.merchant
    await drape.database.query(sql.unsafe`
      update share_links set domain = 'evil.example' where generation_id = ${generationId}`)
    expect(await merchant()).toMatchObject({ domain: shop.domain, url: `https://${shop.domain}/` })
    await createShops(drape.database).update(shop.id, { extraDomains: ['Evil.example'] })
    expect(await merchant()).toMatchObject({ domain: 'evil.example' })
  })

  it('creates a new link after the expiry of the old one', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const { body: old } = await share(shop, { generationId })
    await drape.database.query(sql.unsafe`
      update share_links set expires_at = now() where generation_id = ${generationId}`)
    const fresh = await share(shop, { generationId })
    expect(fresh.status).toBe(201)
    expect(fresh.body.shareToken).not.toBe(old.shareToken)
  })

  it('creates one link for concurrent calls', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const answers = await Promise.all(Array.from({ length: 15 }, () => share(shop, { generationId })))
    expect(new Set(answers.map(({ body }) => body.shareToken)).size).toBe(1)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(14).fill(200), 201])
    expect(await countLinks(generationId)).toBe(1)
  })

  it.each([
    ['nothing', undefined],
    ['no generation', {}],
    ['a generation that is no text', { generationId: 7 }],
    ['a list', []],
    ['a domain with a path', { generationId: 'gen_1', effectiveDomain: 'shop.example/path' }],
    ['a domain with a scheme', { generationId: 'gen_1', effectiveDomain: 'https://shop.example' }],
    ['a domain with a port', { generationId: 'gen_1', effectiveDomain: 'shop.example:80' }],
    ['a domain with someone in it', { generationId: 'gen_1', effectiveDomain: 'shop.example@evil.example' }],
    ['a domain that ends its attribute', { generationId: 'gen_1', effectiveDomain: '"><script>' }],
    ['an empty domain', { generationId: 'gen_1', effectiveDomain: '' }],
    ['a domain without end', { generationId: 'gen_1', effectiveDomain: 'a.'.repeat(200) }],
  ])('refuses %s and says why', async (_, body) => {
    const answer = await share(await openShop(), body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', message: expect.any(String) } })
  })

  it('returns 404 for generations of other shops', async () => {
    const [shop, neighbour] = [await openShop(), await openShop()]
    const { generationId } = await complete(neighbour)
    const foreign = await share(shop, { generationId })
    expect(foreign).toMatchObject({ status: 404, body: { code: 'GENERATION_NOT_FOUND' } })
    expect(await share(shop, { generationId: 'gen_0' })).toMatchObject({ status: 404 })
    await drape.database.query(sql.unsafe`update generations set shop_id = null where id = ${generationId}`)
    expect(await share(neighbour, { generationId })).toMatchObject({ status: 404 })
    expect(await countLinks(generationId)).toBe(0)
  })

  it('returns 404 for generations of other visitors, except with the key of the account', async () => {
    const shop = await openShop()
    const { generationId } = await complete(shop)
    const stranger = { 'x-drape-shop': shop.domain }
    for (const headers of [stranger, { ...stranger, 'x-service-anonymous-id': 'anon_stranger' }]) {
      expect(await share({ ...shop, headers }, { generationId })).toMatchObject({
        status: 404,
        body: { code: 'GENERATION_NOT_FOUND' },
      })
    }
    expect(await countLinks(generationId)).toBe(0)
    const byServer = (key: string, id = generationId) =>
      drape.call('POST', '/public/share-generation', { key, headers: stranger, body: { generationId: id } })
    const { apiKey: foreign } = await drape.createAccount(0)
    expect(await byServer(foreign)).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } })
    expect((await byServer(drape.apiKey)).status).toBe(201)
    // As the server API makes it.
    const { generationId: own } = await complete(shop)
    await drape.database.query(sql.unsafe`
      update generations set shop_id = null, external_user_id = 'user-1' where id = ${own}`)
    expect(await share(shop, { generationId: own })).toMatchObject({ status: 404 })
    expect([(await byServer(drape.apiKey, own)).status, (await byServer(drape.apiKey, own)).status]).toEqual([201, 200])
    const { id: accountId } = await drape.createAccount(0)
    const { id: shopId } = await createDevelopmentShop({ database: drape.database, accountId }, `shop-${shops++}.test`)
    const { generationId: foreignId } = await completeForShop(drape, { shopId, accountId, image })
    expect(await byServer(drape.apiKey, foreignId)).toMatchObject({ status: 404 })
  })

  it('refuses generations without a result, or with an expired result', async () => {
    const shop = await openShop()
    const waiting = await acceptForShop(drape, { shopId: shop.id })
    expect(await share(shop, { generationId: waiting })).toMatchObject({
      status: 400,
      body: { code: 'GENERATION_NOT_COMPLETED', message: expect.any(String) },
    })
    await createGenerations(drape.database).fail({
      id: waiting,
      attempt: null,
      code: 'GENERATION_FAILED',
      message: 'x',
    })
    expect((await share(shop, { generationId: waiting })).status).toBe(400)
    const { generationId } = await complete(shop)
    await drape.database.query(sql.unsafe`update generations set images_expire_at = now() where id = ${generationId}`)
    expect(await share(shop, { generationId })).toMatchObject({ status: 410, body: { code: 'SHARE_LINK_GONE' } })
  })
})
