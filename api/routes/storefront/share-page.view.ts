import { createHash } from 'node:crypto'
import { type Html, html } from '../../answers/html.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import type { SharedTryOn } from './share.schema.ts'

const STYLE = `
:root { color-scheme: light dark; --paper: #f5f3f0; --card: #fff; --ink: #1d1b19; --soft: #6b655f; --line: #e4dfd9 }
@media (prefers-color-scheme: dark) {
  :root { --paper: #151413; --card: #201e1c; --ink: #f3f0ec; --soft: #a8a19a; --line: #37332f }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 16px;
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
  width: 100%; max-width: 480px; overflow: hidden;
  background: var(--card); border: 1px solid var(--line); border-radius: 20px;
}
.picture { background: var(--line) }
img { display: block; width: 100%; height: auto; max-height: 78svh; object-fit: contain }
section { padding: 24px }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance }
p { margin: 8px 0 0; color: var(--soft) }
.visit {
  display: block; margin-top: 24px; padding: 12px 20px; border-radius: 12px; text-align: center; font-weight: 600;
  background: var(--ink); color: var(--card); text-decoration: none;
}
.visit span { display: block; font-size: 0.8125rem; font-weight: 400; opacity: 0.8 }
.visit:hover { opacity: 0.88 }
.visit:focus-visible { outline: 3px solid var(--soft); outline-offset: 3px }
small { display: block; margin-top: 24px; padding-top: 16px; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8125rem }
@media (min-width: 700px) and (min-aspect-ratio: 1) {
  .look { max-width: 960px; display: grid; grid-template-columns: minmax(0, 11fr) minmax(0, 9fr) }
  .look section { align-self: center; padding: clamp(20px, 3vw, 40px) }
  .look img { max-height: calc(100svh - 34px) }
}
`

/** What a Content-Security-Policy lets the style through by. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

/** The page of a shared picture, with what messengers and networks make a preview of. */
export function presentSharePage(
  { shareUrl, expiresAt, generation, product, merchant }: SharedTryOn,
  { imageType, serviceName }: { imageType: string; serviceName: string },
): string {
  const title = product.title ?? 'A virtual try-on'
  const alt = `${title}, tried on`
  const description = `A virtual try-on at ${merchant.name}.`
  const head = html`
    <meta name="description" content="${description}">
    <meta property="og:type" content="website">
    <meta property="og:site_name" content="${merchant.name}">
    <meta property="og:title" content="${title}">
    <meta property="og:description" content="${description}">
    <meta property="og:url" content="${shareUrl}">
    <meta property="og:image" content="${generation.resultImageUrl}">
    <meta property="og:image:type" content="${imageType}">
    <meta property="og:image:alt" content="${alt}">
    <meta name="twitter:card" content="summary_large_image">
    <meta name="twitter:title" content="${title}">
    <meta name="twitter:description" content="${description}">
    <meta name="twitter:image" content="${generation.resultImageUrl}">
    <meta name="twitter:image:alt" content="${alt}">`
  const body = html`
    <main class="look">
      <div class="picture"><img src="${generation.resultImageUrl}" alt="${alt}"></div>
      <section>
        <h1 dir="auto">${title}</h1>
        <p dir="auto">${merchant.name}</p>
        <a class="visit" href="${merchant.url}" rel="nofollow noopener">Visit the shop <span>${merchant.domain}</span></a>
        <small>A virtual try-on: software made this picture from a photo and a picture of the product. The real fit may differ. The link works until ${presentDay(expiresAt)}. Made with ${serviceName}.</small>
      </section>
    </main>`
  return presentDocument({ title: `${title} – ${merchant.name}`, head, body })
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, { heading: string; text: string }>>> = {
  SHARE_LINK_NOT_FOUND: {
    heading: 'Image not found',
    text: 'Part of the link may be missing. Try to open it once more from where you got it.',
  },
  SHARE_LINK_GONE: {
    heading: 'This picture is gone',
    text: 'Shared images expire after a few days, and the person in the image can remove them at any time.',
  },
  RATE_LIMIT_EXCEEDED: {
    heading: 'One moment, please',
    text: 'Too many pictures were opened from your network. Try again in a minute.',
  },
}

/** The page that says why there is no picture; null when the reason does not concern a visitor. */
export function presentRefusal(code: ErrorCode, serviceName: string): string | null {
  const refusal = REFUSALS[code]
  if (!refusal) return null
  const body = html`
    <main>
      <section>
        <h1>${refusal.heading}</h1>
        <p>${refusal.text}</p>
        <small>${serviceName}</small>
      </section>
    </main>`
  return presentDocument({ title: refusal.heading, head: html``, body })
}

function presentDocument({ title, head, body }: { title: string; head: Html; body: Html }): string {
  // Nothing may be put into the style: the policy knows it letter by letter.
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <meta name="robots" content="noindex, noimageindex">
    <link rel="icon" href="data:,">${head}
    <style>${{ markup: STYLE }}</style>
  </head>
  <body>${body}
  </body>
</html>
`.markup
}

function presentDay(iso: string): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(iso))
}
