import { createShops, type NewShop } from '../../api/shops/shops.store.ts'
import type { Drape } from './drape.ts'

export interface TestShop {
  readonly id: string
  readonly domain: string
  /** Headers that identify the shop and the browser to an API in development. */
  readonly headers: Readonly<Record<string, string>>
}

/** A shop of the account that needs no signatures; the API must run with `NODE_ENV=development`. */
export async function createDevelopmentShop(
  drape: Pick<Drape, 'database' | 'accountId'>,
  domain = 'shop.test',
  { requiresConsent = false }: { requiresConsent?: boolean } = {},
): Promise<TestShop> {
  const { id } = await createShops(drape.database).insert({
    accountId: drape.accountId,
    platform: 'development',
    domain,
    name: 'The Test Shop',
    extraDomains: ['www.shop.example'],
    // A test sends the requests of a day in a minute.
    requiresConsent,
    addressGenerations: 1_000_000,
    visitorGenerations: 1_000_000,
  })
  return { id, domain, headers: { 'x-drape-shop': domain, 'x-service-anonymous-id': 'anon_tester' } }
}

/** A shop of the account whose proxy signs its requests. */
export async function createSignedShop<Signing extends { readonly domain: string; readonly secret: string }>(
  drape: Pick<Drape, 'database' | 'accountId'>,
  shop: Signing,
  settings: Partial<NewShop> = {},
): Promise<Signing & { readonly id: string }> {
  const { accountId } = drape
  const defaults = { accountId, platform: 'shopify', requiresConsent: false } as const
  const { id } = await createShops(drape.database).insert({ ...defaults, ...shop, ...settings })
  return { ...shop, id }
}
