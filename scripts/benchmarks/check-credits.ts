import { createShops } from '../../api/shops/shops.store.ts'
import { shopifyMessage, signMessage } from '../../api/shops/signature.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'

/** As many as it takes to stay below the limits of each. */
const VISITORS = 2000
const ADDRESSES = 200
const SHOP = { domain: 'bench.myshopify.com', secret: 'a secret of the benchmarks' }

export const checkCredits: Benchmark = {
  id: 'P13',
  what: 'GET /check-credits, signed and cached, against a bare Koa router that says hello',
  unit: 'answers/s',
  better: 'higher',
  goal: 1,
  measure: async ({ database, accountId, servers }) => {
    await createShops(database).insert({ accountId, platform: 'shopify', ...SHOP })
    const { api, anchor } = await servers()
    let turn = 0
    const headers = () => ({ 'x-forwarded-for': `203.0.113.${turn++ % ADDRESSES}` })
    const request = { method: 'GET', headers } as const
    return alternate({
      ours: () => {
        // A signature is valid for 90 seconds, which is longer than a round.
        const queries = Array.from({ length: VISITORS }, (_, visitor) => signedQuery(visitor))
        const path = () => `/public/check-credits?${queries[turn % VISITORS]}`
        return measureThroughput({ url: api, path, ...request })
      },
      anchor: () => measureThroughput({ url: anchor, path: '/hello', ...request }),
      better: 'higher',
    })
  },
}

/** Query that an app proxy sends for a signed-in customer. */
function signedQuery(visitor: number): string {
  const parameters = {
    logged_in_customer_id: String(1_234_500_000 + visitor),
    path_prefix: '/apps/drape',
    shop: SHOP.domain,
    timestamp: String(Math.floor(Date.now() / 1000)),
  }
  const signature = signMessage(shopifyMessage(Object.entries(parameters)), SHOP.secret)
  return new URLSearchParams({ ...parameters, signature }).toString()
}
