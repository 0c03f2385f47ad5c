import { createShops } from '../../api/shops/shops.store.ts'
import { shopifyMessage, signMessage } from '../../api/shops/signature.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'

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
    const request = { method: 'GET', headers: {} } as const
    return alternate({
      // A signature is valid for 90 seconds, which is longer than a round.
      ours: () => measureThroughput({ url: api, path: `/public/check-credits?${signedQuery()}`, ...request }),
      anchor: () => measureThroughput({ url: anchor, path: '/hello', ...request }),
      best: 'lower',
    })
  },
}

/** Query that an app proxy sends for a signed-in customer. */
function signedQuery(): string {
  const parameters = {
    logged_in_customer_id: '1234567890',
    path_prefix: '/apps/drape',
    shop: SHOP.domain,
    timestamp: String(Math.floor(Date.now() / 1000)),
  }
  const signature = signMessage(shopifyMessage(Object.entries(parameters)), SHOP.secret)
  return new URLSearchParams({ ...parameters, signature }).toString()
}
