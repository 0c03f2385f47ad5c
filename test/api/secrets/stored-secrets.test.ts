import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createSecretBox } from '../../../api/secrets/secret-box.ts'
import { createStoredSecrets } from '../../../api/secrets/stored-secrets.store.ts'
import { createDatabase, type Database, sql } from '../../../api/shared/database/database.ts'
import { clearText, type SecretBox } from '../../../api/shared/signing/secret-box.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { createWebhookDeliveries } from '../../../api/webhooks/webhook-deliveries.store.ts'
import { createWebhooks } from '../../../api/webhooks/webhooks.store.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { readStoredText } from '../../support/stored-text.ts'

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
const [oldId, newId] = [oldKey, newKey].map((key) => String(createSecretBox([key]).keyId))

describe('secrets in the database', async () => {
  let url: string
  let drop: () => Promise<void>
  const open: Database[] = []
  const databaseWith = (secrets: SecretBox) => {
    const database = createDatabase(url, { poolSize: 3, secrets })
    open.push(database)
    return database
  }
  const secrets = new Set<string>()
  const makeSecret = () => {
    const secret = `s3cret${randomBytes(12).toString('hex')}`
    secrets.add(secret)
    return secret
  }
  const addShop = async (database: Database, domain: string) => {
    const [secret, adminToken] = [makeSecret(), makeSecret()]
    const shop = { accountId, platform: 'shopify' as const, domain, secret, adminUrl: 'https://a.example', adminToken }
    return { ...(await createShops(database).insert(shop)), secret, adminToken }
  }
  const addEndpoint = async (database: Database) => {
    const secret = makeSecret()
    const endpoint = { accountId, url: 'https://a.example', eventTypes: ['credits.low' as const], secret }
    return { id: (await createWebhooks(database).insert(endpoint)).id, secret }
  }
  const readable = async () => {
    const text = await readStoredText(url)
    return [...secrets].filter((secret) => text.includes(secret))
  }

  ;({ url, drop } = await createTestDatabase())
  const plain = databaseWith(clearText)
  const sealed = databaseWith(createSecretBox([oldKey]))
  const accountId = (await createAccounts(plain).insert({ name: 'Test', email: null, credits: 0 })).id
  afterAll(async () => {
    await Promise.all(open.map((database) => database.end()))
    await drop()
  })

  it('are encrypted when written, added and replaced, and decrypted when used', async () => {
    const shops = createShops(sealed)
    const { id, domain, secret } = await addShop(sealed, 'sealed.example')
    const [added, token] = [makeSecret(), makeSecret()]
    await shops.addSecret(domain, added)
    await shops.update(id, { adminToken: token })
    expect(await shops.findByDomain(domain)).toMatchObject({
      secrets: [{ secret: added }, { secret }],
      adminToken: token,
    })
    expect((await shops.find(domain))?.shop).toMatchObject({
      secrets: [{ secret: added }, { secret }],
      adminToken: token,
    })
    const { edition = '' } = (await shops.findEdition(id)) ?? {}
    const another = makeSecret()
    await shops.updateEdition(id, { adminToken: another }, edition)
    expect((await shops.find(domain))?.shop.adminToken).toBe(another)
    await expect(shops.addSecret(domain, added)).rejects.toThrow('already active')
    await shops.removeSecret(domain, added)
    expect((await shops.find(domain))?.shop.secrets).toMatchObject([{ secret }])

    const endpoint = await addEndpoint(sealed)
    const second = makeSecret()
    await createWebhooks(sealed).addSecret(endpoint.id, second)
    await createWebhooks(sealed).insertTest(endpoint.id)
    const deliveries = createWebhookDeliveries(sealed)
    const [delivery] = await deliveries.claim({ limit: 1, leaseSeconds: 30, inFlight: {} })
    expect(await deliveries.openSecrets(delivery)).toEqual([second, endpoint.secret])
    expect(await readable()).toEqual([])
  })

  it('that are unencrypted are encrypted in the background, and work before and after', async () => {
    const shop = await addShop(plain, 'clear.example')
    const endpoint = await addEndpoint(plain)
    const many = makeSecret()
    await plain.query(sql.unsafe`
      insert into shops (id, account_id, platform, domain, secrets)
      select 'shop_' || lpad(i::text, 4, '0'), ${accountId}, 'plugin', i || '.example',
        jsonb_build_array(jsonb_build_object('secret', ${many}::text, 'createdAt', '2026-01-01T00:00:00.000Z'))
      from generate_series(1, 250) as i`)
    expect((await readable()).sort()).toEqual([shop.secret, shop.adminToken, endpoint.secret, many].sort())
    const find = async () => (await createShops(sealed).find('clear.example'))?.shop
    const opened = { secrets: [{ secret: shop.secret }], adminToken: shop.adminToken }
    expect(await find()).toMatchObject(opened)

    const stored = createStoredSecrets(sealed)
    expect(await stored.count()).toMatchObject({ clear: 253 })
    const counts = await Promise.all([stored.rewrap(), stored.rewrap()])
    expect(counts[0] + counts[1]).toBe(253)
    expect(await stored.count()).toEqual({ [oldId]: expect.any(Number) })
    expect(await readable()).toEqual([])
    expect(await find()).toMatchObject(opened)
    expect((await createShops(sealed).find('250.example'))?.shop.secrets).toEqual([
      { secret: many, createdAt: '2026-01-01T00:00:00.000Z' },
    ])
    expect(await stored.rewrap()).toBe(0)
  })

  it('are rewrapped with another key during changes, without a loss', async () => {
    const turning = databaseWith(createSecretBox([newKey, oldKey]))
    const shops = createShops(sealed)
    const added = makeSecret()
    const [count] = await Promise.all([
      createStoredSecrets(turning).rewrap(),
      shops.addSecret('clear.example', added),
      shops.update('sealed.example', { adminToken: null }),
    ])
    expect(count).toBeGreaterThan(250)
    await createStoredSecrets(turning).rewrap()
    expect(await createStoredSecrets(turning).count()).toEqual({ [newId]: expect.any(Number) })
    const turned = createShops(databaseWith(createSecretBox([newKey])))
    expect((await turned.find('clear.example'))?.shop.secrets.map(({ secret }) => secret)).toContain(added)
    expect((await turned.find('sealed.example'))?.shop.adminToken).toBeNull()
    await expect(shops.find('clear.example')).rejects.toThrow(newId)
  })

  it('of one shop cannot be decrypted in the row of another, and can be set again there', async () => {
    const database = databaseWith(createSecretBox([newKey]))
    const [victim, thief] = [await addShop(database, 'victim.example'), await addShop(database, 'thief.example')]
    await plain.query(sql.unsafe`
      update shops set secrets = (select secrets from shops where id = ${victim.id}) where id = ${thief.id}`)
    const shops = createShops(database)
    await expect(shops.find('thief.example')).rejects.toThrow('was changed or moved')
    await shops.addSecret('thief.example', makeSecret())
    await shops.removeSecret('thief.example', null)
    expect((await shops.find('thief.example'))?.shop.secrets).toHaveLength(1)
  })
})
