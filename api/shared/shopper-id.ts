// How rows name a shopper of a shop as their owner: `shop_<UUID>:<kind>:<value>`. The SQL functions `customer_ids` and
// `customer_names` compose and parse the same IDs.

/** Strongest identity first. */
export type ShopperKind = 'customer' | 'visitor' | 'browser' | 'address'

export interface ShopperName {
  readonly shopId: string
  readonly kind: ShopperKind
  readonly value: string
}

const SHOPPER_ID = /^(shop_[0-9a-f-]{36}):(customer|visitor|browser|address):(.+)$/s

export function composeShopperId({ shopId, kind, value }: ShopperName): string {
  return `${shopId}:${kind}:${value}`
}

/** Null for an ID of any other form. Callers cannot choose IDs of this form for their end users. */
export function parseShopperId(id: string): ShopperName | null {
  const [, shopId, kind, value] = SHOPPER_ID.exec(id) ?? []
  return shopId === undefined ? null : { shopId, kind: kind as ShopperKind, value }
}

/** The ID of a browser as it is stored, with the prefix `anon_`: the widget sends it with and without. */
export function browserId(sent: string): string {
  return sent.startsWith('anon_') ? sent : `anon_${sent}`
}
