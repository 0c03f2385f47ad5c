import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import type { Log } from '../../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../../api/shared/telemetry/metrics.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { createVisitorAddresses } from '../../../../api/shops/visitor-addresses.store.ts'
import { startLeadDelivery } from '../../../../api/storefront/leads/lead-delivery.ts'
import { createLeadOutbox } from '../../../../api/storefront/leads/lead-outbox.store.ts'
import { createLeads } from '../../../../api/storefront/leads/leads.store.ts'
import { createShopPlatforms } from '../../../../api/storefront/shop-platforms/shop-platforms.ts'
import { createShopTokens } from '../../../../api/storefront/shop-platforms/shop-tokens.store.ts'
import { createShopifyRequest } from '../../../../api/storefront/shop-platforms/shopify-request.ts'
import { startShopperRetention } from '../../../../api/storefront/shops/shopper-retention.ts'
import { openTestDatabase } from '../../../support/postgres.ts'
import { TEST_SECRETS } from '../../../support/secrets.ts'
import { type ShopifyAdminServer, startShopifyAdmin } from '../../../support/shopify-admin.ts'
import { until } from '../../../support/until.ts'

const AWAY = { status: 503 }

describe('a lead that a shopper leaves', async () => {
  const { database } = await openTestDatabase({ poolSize: 4, secrets: TEST_SECRETS })
  let admin: ShopifyAdminServer
  let lines: unknown[][]
  let shops = 0
  const stops: (() => Promise<void>)[] = []

  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0, settings: {} })).id
  beforeEach(async () => {
    admin = await startShopifyAdmin()
    lines = []
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
    await admin.stop()
    await database.query(sql.unsafe`delete from lead_outbox`)
  })

  const openShop = async ({ isLocal = false } = {}) => {
    const created = await createShops(database).insert({
      accountId,
      platform: isLocal ? 'plugin' : 'shopify',
      domain: `shop-${shops++}.example`,
      secret: 'hush',
      ...(!isLocal && { adminUrl: admin.url, adminToken: admin.token }),
    })
    return created.id
  }
  const outbox = () => createLeadOutbox(database)
  const leave = (shopId: string, email = 'anna@example.com', marketingConsent = false) =>
    outbox().insert({ shopId, email, marketingConsent, externalUserId: `${shopId}:browser:anon_1` })
  const findWaiting = (shopId: string) =>
    database.any(sql.unsafe`
      select email, attempts, dead_at is not null as dead, reason from lead_outbox where shop_id = ${shopId}`)
  const isDelivered = (shopId: string) => until(async () => (await findWaiting(shopId)).length === 0)

  function start() {
    const write = (...line: unknown[]) => void lines.push(line)
    const log: Log = { fatal: write, error: write, warn: write, info: write, debug: write, child: () => log }
    const metrics = createMetrics('test')
    const delivery = startLeadDelivery({
      outbox: outbox(),
      shops: createShops(database),
      log,
      metrics,
      idleMs: 10,
      platformOf: createShopPlatforms({
        leads: createLeads(database),
        request: createShopifyRequest({ isPlainAllowed: () => true }),
        tokens: createShopTokens(database),
      }),
    })
    stops.push(delivery.stop)
    return async (outcome: string) =>
      (await metrics.leads.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  }

  it('belongs to every shopper who left the address, waiting and delivered', async () => {
    const shopId = await openShop({ isLocal: true })
    const leaveAs = (externalUserId: string) =>
      outbox().insert({ shopId, email: 'both@example.com', marketingConsent: false, externalUserId })
    const ownersIn = (table: 'lead_outbox' | 'leads') =>
      database.anyFirst(sql.unsafe`
        select unnest(owner_ids) from ${sql.identifier([table])} where email = 'both@example.com' order by 1`)
    for (const name of ['anna', 'browser', 'anna']) await leaveAs(name)
    expect(await ownersIn('lead_outbox')).toEqual(['anna', 'browser'])
    start()
    await isDelivered(shopId)
    await leaveAs('again')
    await isDelivered(shopId)
    expect(await ownersIn('leads')).toEqual(['again', 'anna', 'browser'])
  })

  it('is delivered once, even by a process that starts later', async () => {
    const shopId = await openShop()
    expect(await leave(shopId)).toBe(true)
    start()
    await isDelivered(shopId)
    expect(admin.customers).toMatchObject([{ email: 'anna@example.com' }])
  })

  it('waits while its platform is unavailable, and is then delivered', async () => {
    const shopId = await openShop()
    admin.mishaps.push(AWAY, AWAY)
    await leave(shopId)
    const counted = start()
    await until(async () => {
      await database.query(sql.unsafe`
        update lead_outbox set available_at = now() where available_at < now() + interval '10 s'`)
      return (await findWaiting(shopId)).length === 0
    })
    expect(admin.customers).toMatchObject([{ email: 'anna@example.com' }])
    // A lead is counted after its row is gone.
    await until(async () => (await counted('kept')) === 1)
    expect([await counted('retried'), await counted('lost')]).toEqual([2, 0])
  })

  it('waits while its platform refuses the token, and is delivered with a token that is accepted', async () => {
    const shopId = await openShop()
    const token = admin.token
    admin.token = 'another'
    await leave(shopId)
    const counted = start()
    const [waiting] = await until(async () => {
      const leads = await findWaiting(shopId)
      return JSON.stringify(leads).includes('the token') && leads
    })
    expect(waiting).toMatchObject({ dead: false })
    await until(async () => (await counted('retried')) === 1)
    admin.token = token
    await database.query(sql.unsafe`update lead_outbox set available_at = now()`)
    await isDelivered(shopId)
    expect(await counted('lost')).toBe(0)
  })

  it('remains if its platform rejects it, until an operator retries', async () => {
    const shopId = await openShop()
    admin.scopes.delete('write_customers')
    await leave(shopId)
    const counted = start()
    const refused = await until(async () =>
      (await findWaiting(shopId)).find((lead) => (lead as { dead: boolean }).dead),
    )
    expect(refused).toMatchObject({ reason: expect.stringContaining('ACCESS_DENIED') })
    await until(async () => (await counted('lost')) === 1)
    await until(() => JSON.stringify(lines).includes(shopId))
    expect(JSON.stringify(lines)).not.toContain('anna')
    admin.scopes.add('write_customers')
    expect(await outbox().retry(shopId)).toBe(1)
    await isDelivered(shopId)
    expect(admin.customers).toHaveLength(1)
  })

  it('is unaffected by a flood of another shop, which has its own limit', async () => {
    const [busy, calm] = [await openShop(), await openShop()]
    for (let i = 0; i < 6; i++) {
      const lead = { shopId: busy, email: `a${i}@example.com`, marketingConsent: false, externalUserId: 'x' }
      expect(await outbox().insert(lead, { max: 5 })).toBe(i < 5)
    }
    expect(await leave(calm)).toBe(true)
    const claim = { limit: 1, leaseSeconds: 0 }
    // The lead of the busy shop is older; with one of its leads in flight, the other shop is next.
    expect(await outbox().claim({ ...claim, inFlight: {} })).toMatchObject([{ shopId: busy }])
    expect(await outbox().claim({ ...claim, inFlight: { [busy]: 1 } })).toMatchObject([{ shopId: calm }])
    const claimed = await outbox().claim({ limit: 2, leaseSeconds: 60, inFlight: {} })
    expect(claimed.map(({ shopId }) => shopId).toSorted()).toEqual([busy, calm].toSorted())
  })

  it('is stored once for repeated submissions, and keeps given consent', async () => {
    const shopId = await openShop({ isLocal: true })
    await leave(shopId, 'Berta@example.com', true)
    await leave(shopId, 'berta@example.com', false)
    start()
    await isDelivered(shopId)
    const kept = await database.any(sql.unsafe`select email, marketing_consent from leads where shop_id = ${shopId}`)
    expect(kept).toEqual([{ email: 'Berta@example.com', marketing_consent: true }])
  })

  it('is not stored if erased during its delivery', async () => {
    const shopId = await openShop({ isLocal: true })
    await leave(shopId)
    const [lead] = await outbox().claim({ limit: 1, leaseSeconds: 60, inFlight: {} })
    expect(await createLeads(database).delete(shopId, 'ANNA@example.com')).toBe(true)
    await createLeads(database).take(lead.id, { tag: 'a', segment: 'b' })
    expect(await database.any(sql.unsafe`select from leads where shop_id = ${shopId}`)).toHaveLength(0)
  })

  it('is erased with the images of its shopper', async () => {
    const shopId = await openShop({ isLocal: true })
    await leave(shopId)
    await leave(shopId, 'berta@example.com')
    const [lead] = await outbox().claim({ limit: 1, leaseSeconds: 60, inFlight: {} })
    await createLeads(database).take(lead.id, { tag: 'a', segment: 'b' })
    const customer = { accountId, externalUserId: `${shopId}:browser:anon_1` }
    expect(await createRetention(database).deleteLeads({ ...customer, accountId: 'acc_other' }, 10)).toBe(0)
    expect(await createRetention(database).deleteLeads(customer, 10)).toBe(2)
    expect(await createLeads(database).list(shopId, { after: null, limit: 10 })).toEqual([])
  })

  it('is deleted after its retention from every table', async () => {
    const shopId = await openShop({ isLocal: true })
    await leave(shopId, 'old@example.com')
    await leave(shopId, 'young@example.com')
    await database.query(sql.unsafe`
      update lead_outbox set created_at = now() - interval '31 days' where email = 'old@example.com'`)
    await database.query(sql.unsafe`
      insert into leads (shop_id, email, updated_at) values
        (${shopId}, 'older@example.com', now() - interval '40 days'), (${shopId}, 'newer@example.com', now())`)
    const log = { info: () => {}, warn: () => {} } as unknown as Log
    const addresses = createVisitorAddresses(database)
    await startShopperRetention({ leads: createLeads(database), addresses, days: 30, log }).stop()
    const left = await createLeads(database).list(shopId, { after: null, limit: 10 })
    expect(left.map(({ email }) => email)).toEqual(['newer@example.com', 'young@example.com'])
  })
})
