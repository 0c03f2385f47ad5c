import { afterAll, describe, expect, it } from 'vitest'
import { createApp } from '../../../../api/http/app.ts'
import { mount } from '../../../../api/http/mount.ts'
import type { AppState } from '../../../../api/http/state.ts'
import { createDatabase, sql } from '../../../../api/shared/database/database.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../../api/shared/telemetry/metrics.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { isHeldOut } from '../../../../api/storefront/events/holdout.ts'
import { cacheAllowed, checkCreditsRoutes } from '../../../../api/storefront/shops/check-credits.routes.ts'
import { createShopCredits } from '../../../../api/storefront/shops/shop-credits.store.ts'
import { acceptForShop } from '../../../support/completed.ts'
import { startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'
import { UNLIMITED } from '../../../support/unlimited.ts'

describe('GET /public/check-credits', async () => {
  const drape = await startDrape()
  const shop = await createDevelopmentShop(drape)
  afterAll(() => drape.stop())

  let shops = 0
  const ask = (headers: Readonly<Record<string, string>>) =>
    drape.call('GET', '/public/check-credits', { key: null, headers })
  /** A new shop of a new account, without cached credits. */
  async function openShop(credits: number, settings = {}) {
    const account = await drape.createAccount(credits, settings)
    const domain = `shop-${shops++}.test`
    const { id } = await createShops(drape.database).insert({ accountId: account.id, platform: 'development', domain })
    return { id, accountId: account.id, headers: { 'x-drape-shop': domain } }
  }
  const setShop = (id: string, change: ReturnType<typeof sql.fragment>) =>
    drape.database.query(sql.unsafe`update shops set ${change} where id = ${id}`)

  it('allows a shop whose account has credits, cached for 2 minutes', async () => {
    const { status, headers, body } = await ask(shop.headers)
    expect({ status, body }).toEqual({ status: 200, body: { allowed: true, outfits: true } })
    expect(headers.get('cache-control')).toBe('private, max-age=120')
  })

  it('refuses a shop without credits', async () => {
    const { headers } = await openShop(0)
    expect((await ask(headers)).body).toEqual({ allowed: false })
  })

  it('refuses a shop with stopped billing or an ended plan', async () => {
    for (const change of [sql.fragment`billing_allowed = false`, sql.fragment`plan_ends_at = now()`]) {
      const { id, headers } = await openShop(5)
      await setShop(id, change)
      expect((await ask(headers)).body).toEqual({ allowed: false })
    }
  })

  it('refuses a shop at the monthly limit of the shop or its account', async () => {
    const one = await openShop(5)
    await setShop(one.id, sql.fragment`monthly_generations = 2`)
    const other = await openShop(5, { monthlyGenerations: 1 })
    for (const { id, accountId } of [one, one, other]) await acceptForShop(drape, { shopId: id, accountId })
    for (const { headers } of [one, other]) expect((await ask(headers)).body).toEqual({ allowed: false })
    const free = await openShop(5)
    await setShop(free.id, sql.fragment`monthly_generations = 2`)
    await acceptForShop(drape, { shopId: free.id, accountId: free.accountId })
    expect((await ask(free.headers)).body).toEqual({ allowed: true, outfits: true })
  })

  it('caches the result of each shop for 2 minutes', async () => {
    const { id, headers } = await openShop(5)
    expect((await ask(headers)).body).toEqual({ allowed: true, outfits: true })
    await setShop(id, sql.fragment`billing_allowed = false`)
    expect((await ask(headers)).body).toEqual({ allowed: true, outfits: true })
    expect((await ask((await openShop(0)).headers)).body).toEqual({ allowed: false })
  })

  it('names the group of each visitor of a shop with a holdout', async () => {
    const { id, headers } = await openShop(5)
    await setShop(id, sql.fragment`holdout_percent = 50`)
    const visitors = Array.from({ length: 8 }, (_, i) => `anon_${i}`)
    const answers = await Promise.all(visitors.map((visitor) => ask({ ...headers, 'x-service-anonymous-id': visitor })))
    const groups = visitors.map((visitor) => isHeldOut(id, visitor, 50))
    expect(answers.map(({ body }) => body)).toEqual(
      groups.map((holdout) => ({ allowed: true, outfits: true, holdout })),
    )
    for (const answer of answers) expect(answer.headers.get('vary')).toMatch(/X-Service-Anonymous-Id/i)
    for (const unknown of ['', 'me'])
      expect((await ask({ ...headers, 'x-service-anonymous-id': unknown })).body).toEqual({
        allowed: true,
        outfits: true,
      })
  })

  describe('when the service has a fault', () => {
    it('allows while Postgres does not respond', async () => {
      const { headers } = await openShop(0)
      // Queries of these tables wait for this transaction.
      const release = await holdTables()
      try {
        const answers = await Promise.all([ask(headers), ask(shop.headers), ask(headers)])
        for (const { status, body } of answers)
          expect({ status, body }).toMatchObject({ status: 200, body: { allowed: true } })
      } finally {
        await release()
      }
    })

    it('does not wait for a response that never arrives', async () => {
      const server = await startApp(() => new Promise(() => {}))
      expect(await server.ask()).toEqual({ status: 200, body: { allowed: true } })
      server.close()
    })

    it('allows after an error of Postgres, and does not cache it', async () => {
      let isAway = true
      const server = await startApp(async () => {
        if (isAway) throw new Error('away')
        return false
      })
      expect(await server.ask()).toEqual({ status: 200, body: { allowed: true } })
      isAway = false
      expect(await server.ask()).toEqual({ status: 200, body: { allowed: false } })
      server.close()
    })

    it('allows without Postgres', async () => {
      const nowhere = createDatabase('postgres://postgres@127.0.0.1:1/nothing', { poolSize: 1 })
      const server = await startApp(createShopCredits(nowhere).find)
      expect(await server.ask()).toEqual({ status: 200, body: { allowed: true } })
      server.close()
      await nowhere.end()
    })
  })

  it('queries once in 2 minutes for any number of requests', async () => {
    let looks = 0
    let time = 0
    const server = await startApp(
      async () => {
        looks++
        return true
      },
      () => time,
    )
    await Promise.all(Array.from({ length: 20 }, () => server.ask()))
    time = 119_999
    await server.ask()
    expect(looks).toBe(1)
    time = 120_000
    await server.ask()
    expect(looks).toBe(2)
    server.close()
  })

  /** The route alone, behind a proxy that lets everybody through. */
  async function startApp(findAllowed: (shopId: string) => Promise<boolean>, now?: () => number) {
    const found = await createShops(drape.database).find(shop.domain)
    const enter = (ctx: { state: AppState }, next: () => Promise<unknown>) => {
      Object.assign(ctx.state, found, { shopper: { customerId: null, anonymousId: 'anon_a', addressHash: '' } })
      return next()
    }
    const parts = {
      fromShop: enter,
      budgets: UNLIMITED,
      isAllowed: cacheAllowed(findAllowed, now),
      offersOutfits: async () => false,
      keepAnswer: () => {},
    }
    const routes = [mount(checkCreditsRoutes, parts)]
    const log = createLog({ process: 'test', level: 'silent' })
    const server = createApp({ log, metrics: createMetrics('test'), routes }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/public/check-credits`
    return {
      ask: async () => {
        const answer = await fetch(url)
        return { status: answer.status, body: await answer.json() }
      },
      close: () => server.close(),
    }
  }

  async function holdTables(): Promise<() => Promise<void>> {
    const database = createDatabase(drape.env.DATABASE_URL, { poolSize: 1, statementSeconds: 60 })
    const locked = Promise.withResolvers<void>()
    const freed = Promise.withResolvers<void>()
    const holding = database.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`lock table shops, accounts in access exclusive mode`)
      locked.resolve()
      await freed.promise
    })
    await locked.promise
    return async () => {
      freed.resolve()
      await holding
      await database.end()
    }
  }
})
