import { createShops } from '../../api/shops/shops.store.ts'
import { shopifyMessage, signMessage } from '../../api/shops/signature.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'

/** As many as it takes to stay below the limit of each. */
const ADDRESSES = 200
const SHOP = { domain: 'bench.myshopify.com', secret: 'a secret of the benchmarks' }

export const checkCredits: Benchmark = {
  id: 'P13',
  what: 'GET /check-credits of guests, signed and cached, against a bare Koa router that says hello',
  unit: 'answers/s',
  better: 'higher',
  goal: 1,
  measure: async ({ database, accountId, servers }) => {
    await createShops(database).insert({ accountId, platform: 'shopify', ...SHOP })
    const { api, anchor } = await servers()
    let turn = 0
    const headers = () => ({ 'x-forwarded-for': `203.0.113.${turn++ % ADDRESSES}, 198.51.100.1` })
    const request = { method: 'GET', headers } as const
    return alternate({
      // All guests of a second send the same URL.
      ours: () => measureThroughput({ url: api, path: () => `/public/check-credits?${signedQuery()}`, ...request }),
      anchor: () => measureThroughput({ url: anchor, path: '/hello', ...request }),
      better: 'higher',
    })
  },
}

let last = { timestamp: '', query: '' }

/** Query that an app proxy sends for a guest. */
function signedQuery(): string {
  const timestamp = String(Math.floor(Date.now() / 1000))
  if (timestamp === last.timestamp) return last.query
  const parameters = { logged_in_customer_id: '', path_prefix: '/apps/drape', shop: SHOP.domain, timestamp }
  const signature = signMessage(shopifyMessage(Object.entries(parameters)), SHOP.secret)
  last = { timestamp, query: new URLSearchParams({ ...parameters, signature }).toString() }
  return last.query
}
