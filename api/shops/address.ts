import { isIP } from 'node:net'
import type { AppContext } from '../state.ts'
import type { ShopClaim } from './claim.ts'

export interface ProxyHops {
  /** Reverse proxies of ours before the API (`PROXY_HOPS`). */
  readonly own: number
  /** Proxies of Shopify between the shopper and ours (`SHOP_PROXY_HOPS`); 0 counts all shoppers behind one address. */
  readonly shopify: number
}

/**
 * The network address of a shopper behind the proxy of a shop, once the proxy has proved itself. Shopify appends the address to
 * `X-Forwarded-For`: what stands before it is the shopper's invention, what stands behind it our own proxies wrote. A plugin names
 * the address in `X-Drape-Shopper-Address`, which no browser can send through it. Otherwise the address of the connection, which
 * belongs to the proxy and stands for all of its shoppers.
 */
export function shopperAddress(
  ctx: AppContext,
  { platform }: ShopClaim,
  { own, shopify }: ProxyHops,
): { address: string; isAddressShared: boolean } {
  const address = platform === 'plugin' ? ctx.get('x-drape-shopper-address').trim() : undefined
  const forwarded = platform === 'shopify' && shopify > 0 ? listOf(ctx).at(-(own + shopify)) : undefined
  const named = address ?? forwarded ?? ''
  if (isIP(named)) return { address: named, isAddressShared: false }
  return { address: ctx.ip, isAddressShared: platform !== 'development' }
}

function listOf(ctx: AppContext): string[] {
  return ctx
    .get('x-forwarded-for')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
