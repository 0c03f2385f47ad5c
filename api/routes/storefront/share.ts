import Router from '@koa/router'
import type { Middleware } from 'koa'
import { compileParser } from '../../shared/schema.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { Shares } from '../../stores/shares.ts'
import { requesterOf } from './requester.ts'
import { ShareBody, type ShareLink } from './share.schema.ts'
import { makeShareToken, shareAddress } from './share-link.ts'

export interface ShareOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly shares: Shares
  /** What the address of a link begins with, before `/s/<token>`. */
  readonly shareUrl: string
}

/** POST /public/share-generation */
export function shareRoutes(options: ShareOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/public', sensitive: true })
  router.post('/share-generation', ...(options.guards as never[]), (ctx: AppContext) => postShare(ctx, options))
  return router
}

const parseShare = compileParser(ShareBody)

async function postShare(ctx: AppContext, { shares, shareUrl }: ShareOptions): Promise<void> {
  const { shop } = requesterOf(ctx)
  const { generationId, effectiveDomain = shop.domain } = parseShare(ctx.state.body)
  const domain = effectiveDomain.toLowerCase()
  const { token, expiresAt, isNew } = await shares.findOrInsert({
    token: makeShareToken(),
    generationId,
    shopId: shop.id,
    // The page links to this domain in the name of the shop.
    domain: shop.extraDomains.includes(domain) ? domain : shop.domain,
  })
  ctx.status = isNew ? 201 : 200
  ctx.body = {
    shareToken: token,
    shareUrl: shareAddress(token, shareUrl),
    expiresAt: expiresAt.toISOString(),
  } satisfies ShareLink
}
