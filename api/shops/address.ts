import { isIP } from 'node:net'
import type { AppContext } from '../http/state.ts'
import type { ShopClaim } from './signed-request.ts'

/**
 * Network address of a shopper behind an authenticated proxy of a shop. Shopify appends the address to
 * `X-Forwarded-For`: a shopper can forge the entries before it, and our own proxies append the entries after it. A
 * plugin sends the address in `X-Drape-Shopper-Address`, which no browser can send through it. Otherwise the address of
 * the connection, which is the proxy's and shared by all shoppers.
 */
export function shopperAddress(
  ctx: AppContext,
  { platform }: ShopClaim,
  ownProxies: number,
): { address: string; isAddressShared: boolean } {
  const address = platform === 'plugin' ? ctx.get('x-drape-shopper-address').trim() : undefined
  const forwarded = platform === 'shopify' ? listOf(ctx).at(-(ownProxies + 1)) : undefined
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
