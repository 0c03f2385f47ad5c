import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeadKeeper } from '../../api/lead-keeper.ts'
import { createDatabase } from '../../api/shared/database.ts'
import type { Log } from '../../api/shared/log.ts'
import { createMetrics } from '../../api/shared/metrics.ts'
import { createShopPlatforms } from '../../api/shop-platforms/shop-platforms.ts'
import { createLeads } from '../../api/stores/leads.ts'
import type { ShopRecord } from '../../api/stores/shops.ts'
import { type ShopifyAdminServer, startShopifyAdmin } from '../support/shopify-admin.ts'

const ANNA = { email: 'anna@example.com', marketingConsent: false }
const AWAY = { status: 503 }

describe('a lead that a shopper leaves', () => {
  let admin: ShopifyAdminServer
  let shop: ShopRecord
  let lines: unknown[][]
  let metrics: ReturnType<typeof createMetrics>

  beforeEach(async () => {
    admin = await startShopifyAdmin()
    lines = []
    metrics = createMetrics('test')
    shop = {
      id: 'shop_1',
      accountId: 'acc_1',
      platform: 'shopify',
      domain: 'shirts.myshopify.com',
      name: null,
      secrets: [],
      adminUrl: admin.url,
      adminToken: admin.token,
      monthlyGenerations: null,
      billingAllowed: true,
      planEndsAt: null,
      isActive: true,
    }
  })
  afterEach(() => admin.stop())

  function start(pausesMs: readonly number[]) {
    const write = (...line: unknown[]) => void lines.push(line)
    const log: Log = { fatal: write, error: write, warn: write, info: write, debug: write, child: () => log }
    const database = createDatabase('postgres://nobody@127.0.0.1:1/nothing', { poolSize: 1 })
    return createLeadKeeper({
      platformOf: createShopPlatforms({ leads: createLeads(database) }),
      log,
      metrics,
      pausesMs,
    })
  }
  const counted = async (outcome: string) => {
    const { values } = await metrics.leads.get()
    return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  }
  /** Everything that is ever to happen to the leads has happened. */
  const settled = async () => {
    for (;;) {
      const ended = (await counted('kept')) + (await counted('lost'))
      if (ended > 0) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  it('is kept after its platform was away for a while', async () => {
    admin.mishaps.push(AWAY, AWAY)
    start([1, 1]).keep(shop, ANNA)
    await settled()
    expect(admin.customers).toMatchObject([{ email: ANNA.email }])
    expect([await counted('kept'), await counted('retried')]).toEqual([1, 2])
    expect(lines).toEqual([])
  })

  it('is lost when its platform stays away, and the log says so without the address', async () => {
    admin.mishaps.push(AWAY, AWAY, AWAY)
    start([1, 1]).keep(shop, ANNA)
    await settled()
    expect([await counted('lost'), await counted('retried')]).toEqual([1, 2])
    expect(JSON.stringify(lines)).toContain('shop_1')
    expect(JSON.stringify(lines)).toContain('answered 503')
    expect(JSON.stringify(lines)).not.toContain('anna')
  })

  it('is not tried again when its platform refuses it', async () => {
    admin.scopes.delete('write_customers')
    start([1, 1]).keep(shop, ANNA)
    await settled()
    expect([await counted('lost'), await counted('retried')]).toEqual([1, 0])
    expect(JSON.stringify(lines)).toContain('ACCESS_DENIED')
  })

  it('is tried once more before the process ends', async () => {
    admin.mishaps.push(AWAY)
    const keeper = start([600_000])
    keeper.keep(shop, ANNA)
    while ((await counted('retried')) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await keeper.stop()
    expect(admin.customers).toMatchObject([{ email: ANNA.email }])
    expect(await counted('kept')).toBe(1)
  })

  it('is tried again, and told of without the address, where the database is away', async () => {
    start([1]).keep({ ...shop, adminToken: null }, ANNA)
    await settled()
    expect([await counted('lost'), await counted('retried')]).toEqual([1, 1])
    expect(JSON.stringify(lines)).not.toContain('anna')
  })

  it('does not wait without bound behind others', async () => {
    admin.mishaps.push(...Array(1000).fill(AWAY))
    const keeper = start([600_000])
    for (let i = 0; i < 1001; i++) keeper.keep(shop, { ...ANNA, email: `a${i}@example.com` })
    expect(await counted('lost')).toBe(1)
    await keeper.stop()
  })
})
