import type { ShopRecord } from '../../shops/shops.store.ts'
import type { Leads } from '../leads/leads.store.ts'
import { createLocalPlatform } from './local.ts'
import type { ShopPlatform } from './shop-platform.ts'
import type { ShopTokens } from './shop-tokens.store.ts'
import { createShopifyPlatform } from './shopify.ts'
import { createShopifyAdmin } from './shopify-admin.ts'
import type { RequestShopify } from './shopify-request.ts'

export type ShopPlatforms = (shop: ShopRecord) => ShopPlatform

/** The platform of each shop: Shopify's API if there is a token or a way to obtain one, otherwise our own database. */
export function createShopPlatforms({
  leads,
  request,
  tokens,
}: {
  leads: Leads
  request: RequestShopify
  tokens: ShopTokens
}): ShopPlatforms {
  const local = createLocalPlatform({ leads })
  const shopify = createShopifyPlatform(createShopifyAdmin({ request, tokens }))
  return ({ platform, adminToken, adminClientId }) =>
    platform === 'shopify' && (adminToken !== null || adminClientId !== null) ? shopify : local
}
