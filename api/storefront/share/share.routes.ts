import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import type { ParsingGuards } from '../../shops/behind-proxy.ts'
import { describeBudget } from '../../shops/public-rate-limits.ts'
import { readableOwners, requesterOf, type ServerKeyCheck } from '../../shops/requester.ts'
import { ShareBody, ShareLink } from './share.schema.ts'
import { makeShareToken, shareAddress } from './share-link.ts'
import type { Shares } from './shares.store.ts'

export interface ShareParts extends ServerKeyCheck {
  readonly shares: Shares
  /** Base URL of links, before `/s/<token>`. */
  readonly shareUrl: string
}

export const shareRoutes = [
  route({
    method: 'post',
    path: '/public/share-generation',
    id: 'shareGeneration',
    tag: 'Storefront',
    summary: 'Create a public link to a result',
    description: `Only the visitor who made the generation can share it; with the secret key of the account, any completed generation of the
account can be shared, also one of the server API. Idempotent: 201 with a new link, 200 with the existing link of the generation and
domain. ${describeBudget('share')}`,
    headers: {
      'X-Api-Key':
        'Optional: the secret key of the account, from the server of the shop only. With the key, the generation may be any of the account.',
    },
    body: { json: ShareBody },
    access: 'shop',
    answers: {
      200: { description: 'The existing link.', schema: ShareLink },
      201: {
        description: 'A new link.',
        schema: ShareLink,
        next: { getShare: { token: '$response.body#/shareToken' } },
      },
    },
    errors: [
      'VALIDATION_FAILED',
      'GENERATION_NOT_FOUND',
      'GENERATION_NOT_COMPLETED',
      'SHARE_LINK_GONE',
      'RATE_LIMIT_EXCEEDED',
      'INVALID_API_KEY',
      'FORBIDDEN',
    ],
    guards: ({ fromShop, budgets, parse }: ParsingGuards) => [fromShop, budgets.limit('share'), parse],
    handler: postShare,
  }),
]

async function postShare(
  ctx: AppContext,
  { shares, shareUrl, findServerKey }: ShareParts,
  { body }: { readonly body: ShareBody },
): Promise<ShareLink> {
  const { shop, account } = requesterOf(ctx)
  const { generationId, effectiveDomain = shop.domain } = body
  const domain = effectiveDomain.toLowerCase()
  const { token, expiresAt, isNew } = await shares.findOrInsert({
    token: makeShareToken(),
    generationId,
    accountId: account.id,
    shopId: shop.id,
    ownerIds: await readableOwners(ctx, { findServerKey }),
    // The page links to this domain in the name of the shop.
    domain: shop.extraDomains.includes(domain) ? domain : shop.domain,
  })
  ctx.status = isNew ? 201 : 200
  return {
    shareToken: token,
    shareUrl: shareAddress(token, shareUrl),
    expiresAt: expiresAt.toISOString(),
  }
}
