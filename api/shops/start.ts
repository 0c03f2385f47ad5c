import type { Connections } from '../connections.ts'
import type { DiskBudget } from '../http/bodies/disk-budget.ts'
import { createBodyReceiver } from '../http/bodies/signed-body.ts'
import { type BodyOptions, parseBody } from '../http/middleware/body.ts'
import { createProxyNonces } from '../shared/database/proxy-nonces.store.ts'
import { siteOf } from '../shared/network/addresses.ts'
import { createRefusedRequests } from './refused-requests.ts'
import { shopProxy } from './shop-proxy.ts'
import { createShops } from './shops.store.ts'
import { createBudgets } from './storefront-limit.ts'

const MB = 1024 * 1024

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
    proxyHops: { own: config.PROXY_HOPS, shopify: config.SHOP_PROXY_HOPS },
  }
  const maxJsonBytes = config.MAX_JSON_MB * MB
  const receiveBody = createBodyReceiver({
    maxBytes: maxJsonBytes,
    maxWebhookBytes: config.MAX_WEBHOOK_MB * MB,
    maxMs: config.BODY_SECONDS * 1000,
    minBytesPerSecond: config.BODY_MIN_KB_PER_SECOND * 1024,
    strangers: (config.UNPROVEN_BODIES_MB * MB) / 2,
    trusted: (config.UNPROVEN_BODIES_MB * MB) / 2,
    address: config.UNPROVEN_ADDRESS_MB * MB,
    shop: config.UNPROVEN_SHOP_MB * MB,
  })
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
    parse: parseBody({ maxJsonBytes, disk, ownerOf: ({ state }) => state.shopper.addressHash, maxFiles: 1 }),
    /** Apart from images of shoppers; and a few slow forms of one network must not shut out those of others. */
    parseOf: (route: string, limits: BodyOptions = { maxJsonBytes, maxFiles: 1 }) =>
      parseBody({ ...limits, disk, ownerOf: ({ ip }) => `${route}:${siteOf(ip)}` }),
  }
}
