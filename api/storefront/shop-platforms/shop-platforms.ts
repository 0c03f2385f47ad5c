import type { AddressRule } from '../../shared/network/addresses.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import type { Leads } from '../leads/leads.store.ts'
import { createLocalPlatform } from './local.ts'
import type { ShopPlatform } from './shop-platform.ts'
import { createShopifyPlatform } from './shopify.ts'
import { createShopifyAdmin } from './shopify-admin.ts'

export type ShopPlatforms = (shop: ShopRecord) => ShopPlatform

/** The platform of each shop: Shopify's API if we have a token, otherwise our own database. */
export function createShopPlatforms({
  leads,
  isPlainAllowed,
}: {
  leads: Leads
  /** IP addresses to which a token may be sent without TLS. */
  isPlainAllowed: AddressRule
}): ShopPlatforms {
  const local = createLocalPlatform({ leads })
  const shopify = createShopifyPlatform(createShopifyAdmin({ isPlainAllowed }))
  return ({ platform, adminToken }) => (platform === 'shopify' && adminToken !== null ? shopify : local)
}
