import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import Router from '@koa/router'
import type { AppContext, AppState } from '../../state.ts'
import ar from '../../widget/texts/ar.json' with { type: 'json' }
import de from '../../widget/texts/de.json' with { type: 'json' }
import es from '../../widget/texts/es.json' with { type: 'json' }
import fr from '../../widget/texts/fr.json' with { type: 'json' }
import it from '../../widget/texts/it.json' with { type: 'json' }
import pl from '../../widget/texts/pl.json' with { type: 'json' }
import pt from '../../widget/texts/pt.json' with { type: 'json' }

/** Built from `api/widget/` by `scripts/widget build`. */
const SCRIPT = new URL('drape-try-on.js', import.meta.url)
/** The script itself contains the English texts. */
const TEXTS = { ar, de, es, fr, it, pl, pt }

const ENCODERS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
  identity: (bytes: Buffer) => Promise.resolve(bytes),
}

type Encoding = keyof typeof ENCODERS

interface Asset {
  readonly type: string
  readonly edition: string
  readonly encode: (encoding: Encoding) => Promise<Buffer>
}

/**
 * GET /widget.js and GET /widget/{language}.json: the widget for the pages of shops and its texts, served directly or
 * through the proxy of a shop.
 */
export function widgetRoutes(): Router<AppState> {
  const router = new Router<AppState>({ sensitive: true })
  const assets: Readonly<Record<string, Asset>> = {
    '/widget.js': createAsset('text/javascript', readFileSync(SCRIPT)),
    ...Object.fromEntries(
      Object.entries(TEXTS).map(([language, texts]) => [
        `/widget/${language}.json`,
        createAsset('application/json', Buffer.from(JSON.stringify(texts))),
      ]),
    ),
  }
  for (const [path, asset] of Object.entries(assets)) router.get(path, (ctx: AppContext) => getAsset(ctx, asset))
  return router
}

function createAsset(type: string, bytes: Buffer): Asset {
  const edition = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const bodies = new Map<Encoding, Promise<Buffer>>()
  // On the first request, because it takes 200 ms: most processes never serve all texts.
  const encode = (encoding: Encoding) => {
    const known = bodies.get(encoding)
    if (known !== undefined) return known
    const body = ENCODERS[encoding](bytes)
    bodies.set(encoding, body)
    // A failed compression must not be served for ever.
    body.catch(() => bodies.delete(encoding))
    return body
  }
  return { type, edition, encode }
}

async function getAsset(ctx: AppContext, { type, edition, encode }: Asset): Promise<void> {
  const encoding = (ctx.acceptsEncodings('br', 'gzip', 'identity') || 'identity') as Encoding
  ctx.status = 200
  ctx.type = type
  // Pages get a new version soon after an upgrade, and use the cached one while revalidating.
  ctx.set('Cache-Control', 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800')
  ctx.set('ETag', `W/"${edition}"`)
  ctx.set('Vary', 'Accept-Encoding')
  ctx.set('X-Content-Type-Options', 'nosniff')
  // Pages of any origin load it, also pages that require this header.
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
  ctx.body = await encode(encoding)
}
