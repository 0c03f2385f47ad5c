import { EventEmitter } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { STOREFRONT_ROUTES } from '../../../api/http/core-routes.ts'
import type { AppContext } from '../../../api/http/state.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { type Budgets, createBudgets } from '../../../api/shops/limit-public-routes.ts'
import { type BudgetName, describeBudget, STOREFRONT_BUDGETS } from '../../../api/shops/public-rate-limits.ts'
import { hashAddress, type Shopper } from '../../../api/shops/shopper.ts'
import { createTestRedis } from '../../support/redis.ts'
import { UNLIMITED } from '../../support/unlimited.ts'
import { until } from '../../support/until.ts'

const SECRET = 'a secret of tests'

describe('the budgets of visitors', async () => {
  let shops = 0
  let networks = 0
  let local = 0

  const redis = createRedis(await createTestRedis(), {
    role: 'producer',
    log: createLog({ process: 'test', level: 'silent' }),
  })
  await until(redis.isReady)
  const replicas = [1, 2].map(() => createBudgets({ redis, signingSecret: SECRET, onLocal: () => local++ }))
  afterAll(() => redis.close())

  interface Sender extends Partial<Omit<Shopper, 'addressHash'>> {
    readonly shopId: string
  }
  const newShop = () => `shop_${shops++}`
  const shopperOf = ({ address = '203.0.113.1', shopId: _, ...known }: Sender): Shopper => ({
    customerId: null,
    visitorId: null,
    anonymousId: null,
    isAddressShared: false,
    ...known,
    address,
    addressHash: hashAddress(address, SECRET),
  })
  /** Sends a burst of these requests to all replicas, and counts those that no budget refuses. */
  async function countAllowed(name: BudgetName, senders: readonly Sender[]): Promise<number> {
    const refusals = await Promise.all(
      senders.map((sender, i) =>
        replicas[i % 2].findRefusal(name, { shopId: sender.shopId, shopper: shopperOf(sender) }),
      ),
    )
    return refusals.filter((refusal) => refusal === null).length
  }
  const each = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
  const times = (count: number, sender: Sender) => Array.from({ length: count }, () => sender)
  /** Repeats the work until Redis has counted all of it: on a busy machine replicas count some requests locally. */
  async function counted<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const before = local
      const result = await work()
      if (local === before) return result
    }
  }

  it.each([
    ['share', 20],
    ['download', 100],
  ] as const)('of %s are exactly %i for each visitor, with or without the address', async (name, limit) => {
    for (const named of [{ customerId: '1' }, { visitorId: 'v' }, { anonymousId: 'anon_a' }, {}]) {
      for (const isAddressShared of [false, true]) {
        const count = () => countAllowed(name, times(limit + 7, { shopId: newShop(), isAddressShared, ...named }))
        expect(await counted(count)).toBe(limit)
      }
    }
  })

  it('count visitors without a name and an address as one, whatever server the shop sends from', async () => {
    const count = (shopId: string) => {
      const servers = each(30, (i) => ({ shopId, isAddressShared: true, address: `198.51.100.${i}` }))
      return countAllowed('share', servers)
    }
    expect(await counted(() => count(newShop()))).toBe(20)
  })

  it.each([
    ['of an address', (i: number) => ({ anonymousId: `anon_${i}` })],
    ['in a /64 network', (i: number) => ({ anonymousId: `anon_${i}`, address: `2001:db8:1:2::${i.toString(16)}` })],
    ['of a shop without addresses', (i: number) => ({ anonymousId: `anon_${i}`, isAddressShared: true })],
    ['who are signed customers of an address', (i: number) => ({ customerId: String(i) })],
  ])('allow different visitors %s together 20 times the limit of one', async (_, make) => {
    const count = (shopId: string) =>
      countAllowed(
        'share',
        each(450, (i) => ({ shopId, ...make(i) })),
      )
    expect(await counted(() => count(newShop()))).toBe(400)
  })

  it('allow invented visitors of many addresses together 20 times the limit of one, and 2 of each network', async () => {
    const count = async (shopId: string) => {
      const flood = each(500, (i) => ({ shopId, anonymousId: `anon_${i}`, address: `203.0.113.${i % 100}` }))
      const other = { shopId, address: '198.51.100.1' }
      return [
        await countAllowed('share', flood),
        await countAllowed('share', times(3, { ...other, anonymousId: 'anon_other' })),
        // Visitors whom the shop or the service has signed are not invented.
        await countAllowed('share', times(21, { ...other, customerId: '7' })),
        await countAllowed('share', times(21, { ...other, visitorId: 'v' })),
      ]
    }
    expect(await counted(() => count(newShop()))).toEqual([402, 2, 20, 20])
  })

  it('do not let a refused visitor spend the budget of the address', async () => {
    const count = async (shopId: string) => {
      await countAllowed('share', times(500, { shopId, anonymousId: 'anon_loop' }))
      return countAllowed('share', times(20, { shopId, anonymousId: 'anon_next' }))
    }
    expect(await counted(() => count(newShop()))).toBe(20)
  })

  it('of all removal requests leave 2 to each network', async () => {
    const flood = each(400, (i) => ({ shopId: '', address: `198.18.${i % 16}.1` }))
    const count = async () => {
      await countAllowed('removal-store', flood)
      return countAllowed('removal-store', times(3, { shopId: '', address: `198.51.${networks++}.1` }))
    }
    expect(await counted(count)).toBe(2)
  })

  it('limit the open streams of a visitor and of an address, until they close', async () => {
    const shopId = newShop()
    const open = async (sender: Omit<Sender, 'shopId'>) => {
      const res = Object.assign(new EventEmitter(), { closed: false })
      const state = { shop: { id: shopId }, shopper: shopperOf({ shopId, ...sender }) }
      const headers = new Map<string, string>()
      const ctx = { res, state, set: (name: string, value: string) => headers.set(name, value) }
      await replicas[0].spend(ctx as unknown as AppContext, 'generation-events')
      return () => res.emit('close')
    }
    const close = await Promise.all(each(10, () => ({ anonymousId: 'anon_1' })).map(open))
    const refused = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 10 }
    await expect(open({ anonymousId: 'anon_1' })).rejects.toMatchObject(refused)
    const others = await Promise.all(each(50, (i) => ({ anonymousId: `anon_of-${i}` })).map(open))
    await expect(open({ anonymousId: 'anon_2' })).rejects.toMatchObject(refused)
    others[0]()
    await open({ anonymousId: 'anon_2' })
    close[0]()
    await open({ anonymousId: 'anon_1' })
    await expect(open({ anonymousId: 'anon_3' })).rejects.toMatchObject(refused)
  })

  it('of a shop that everyone shares reserve a part for each network', () => {
    const shared = Object.entries(STOREFRONT_BUDGETS).filter(
      ([, row]) => 'strangers' in row || 'shop' in row || 'all' in row,
    )
    expect(shared.length).toBeGreaterThan(5)
    expect(shared.filter(([, row]) => !('reserved' in row))).toEqual([])
  })

  it('exist for every public route, which names them', () => {
    let limits: BudgetName[] = []
    const inOtherWords: BudgetName[] = []
    const limit: Budgets['limit'] = (name) => {
      limits.push(name)
      return UNLIMITED.limit(name)
    }
    const pass = UNLIMITED.limit('share')
    // Events count by number and bytes; Shopify sends webhooks of all its shops from a few addresses.
    const parts = new Proxy({} as never, { get: (_, name) => (name === 'budgets' ? { ...UNLIMITED, limit } : pass) })
    const unlimited = STOREFRONT_ROUTES.filter((route) => {
      limits = []
      route.guards(parts)
      inOtherWords.push(...limits.filter((name) => !route.description?.includes(describeBudget(name))))
      return limits.length === 0
    })
    expect(unlimited.map(({ path }) => path)).toEqual([
      '/storefront/v1/events',
      '/public/tracking/events',
      '/webhooks/shopify',
    ])
    // Tests of their routes count them.
    expect(inOtherWords).toEqual(['upload-link', 'upload', 'verify', 'appeal-page'])
  })
})
