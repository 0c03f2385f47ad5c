import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Router from '@koa/router'
import { createEncodedBody, type EncodedBody, sendEncoded } from '../../http/answers/encoded-body.ts'
import { readTranslations } from '../../http/answers/page-texts.ts'
import type { AppContext, AppState } from '../../http/state.ts'

/** Built from `api/widget/` by `scripts/widget build`, which scripts and image builds run; git does not contain it. */
const SCRIPT = new URL('drape-try-on.js', import.meta.url)
/** The script itself contains the English texts. */
const TEXTS = readTranslations(new URL('../../widget/texts/', import.meta.url))

interface Asset {
  readonly type: string
  readonly edition: string
  readonly body: EncodedBody
}

/**
 * GET /widget.js and GET /widget/{language}.json: the widget for the pages of shops and its texts, served directly or
 * through the proxy of a shop.
 */
export function widgetRoutes(): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const assets: Readonly<Record<string, Asset>> = {
    '/widget.js': createAsset('text/javascript', readScript()),
    ...Object.fromEntries(
      Object.entries(TEXTS).map(([language, texts]) => [
        `/widget/${language}.json`,
        createAsset('application/json', JSON.stringify(texts)),
      ]),
    ),
  }
  for (const [path, asset] of Object.entries(assets)) router.get(path, (ctx: AppContext) => getAsset(ctx, asset))
  return router
}

/** @throws Error if the widget is not built */
function readScript(): string {
  try {
    return readFileSync(SCRIPT, 'utf8')
  } catch (cause) {
    throw new Error('The script of the widget is missing. Build it: scripts/widget build', { cause })
  }
}

function createAsset(type: string, text: string): Asset {
  const edition = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  return { type, edition, body: createEncodedBody(text) }
}

async function getAsset(ctx: AppContext, { type, edition, body }: Asset): Promise<void> {
  ctx.type = type
  // Pages get a new version soon after an upgrade, and use the cached one while revalidating.
  ctx.set('Cache-Control', 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800')
  ctx.set('ETag', `W/"${edition}"`)
  ctx.set('X-Content-Type-Options', 'nosniff')
  // Pages of any origin load it, also pages that require this header.
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  await sendEncoded(ctx, body)
}
