import type { Connections } from '../config.ts'
import type { DiskBudget } from '../http/bodies/disk-budget.ts'
import { createBodyReceiver } from '../http/bodies/signed-body.ts'
import { type BodyOptions, parseBody } from '../http/middleware/body.ts'
import { createProxyNonces } from '../shared/database/proxy-nonces.store.ts'
import { siteOf } from '../shared/network/addresses.ts'
import { createBudgets } from './limit-public-routes.ts'
import { createRefusedRequests } from './refused-requests.ts'
import { shopProxy } from './shop-proxy.ts'
import { createShops } from './shops.store.ts'

export type ShopGuards = ReturnType<typeof createShopGuards>

/** Creates the store of shops and the guards of the routes that shops and their visitors call. */
export function createShopGuards(
  { config, database, redis, metrics }: Connections,
  { shopperDisk: disk }: { readonly shopperDisk: DiskBudget },
) {
  const shops = createShops(database)
  const nonces = createProxyNonces(database)
  const refused = createRefusedRequests({ redis, shops })
  const proof = {
    refused,
    development: config.NODE_ENV === 'development',
    signingSecret: config.SIGNING_SECRET,
    proxyHops: config.PROXY_HOPS,
  }
  const receiveBody = createBodyReceiver()
  return {
    shops,
    nonces,
    refused,
    proof,
    receiveBody,
    fromShop: shopProxy({ shops, nonces, receiveBody, ...proof }),
    budgets: createBudgets({
      redis,
      signingSecret: config.SIGNING_SECRET,
      onLocal: () => metrics.localCounts.inc(),
    }),
    parse: parseBody({ disk, ownerOf: ({ state }) => state.shopper.addressHash, maxFiles: 1 }),
    /** Apart from images of shoppers; and a few slow forms of one network must not shut out those of others. */
    parseOf: (route: string, limits: BodyOptions = { maxFiles: 1 }) =>
      parseBody({ ...limits, disk, ownerOf: ({ ip }) => `${route}:${siteOf(ip)}` }),
  }
}
