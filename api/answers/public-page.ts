import { createHash } from 'node:crypto'
import type { Middleware } from 'koa'
import { type Html, html } from './html.ts'
import { withPalette } from './palette.ts'

const STYLE = withPalette(`
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100svh; display: grid; place-items: center; padding: 16px;
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
  width: 100%; max-width: 480px; overflow: hidden;
  background: var(--card); border: 1px solid var(--line); border-radius: 20px;
}
.image { background: var(--line) }
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
h2 { margin: 28px 0 0; font-size: 1rem; line-height: 1.3 }
.text { max-width: 640px }
.text p, blockquote { text-wrap: pretty }
.text a { color: var(--ink) }
blockquote { margin: 8px 0 0; padding-inline-start: 16px; border-inline-start: 3px solid var(--line); white-space: pre-line }
small { display: block; margin-top: 24px; padding-top: 16px; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8125rem }
ul { margin: 16px 0 0; padding: 0; list-style: none }
li { padding: 12px 0; border-top: 1px solid var(--line); color: var(--soft) }
li a { display: block; color: var(--strong); font-weight: 600; text-underline-offset: 2px }
li a:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; border-radius: 6px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 16px 0 0; font-size: 0.875rem }
dt { color: var(--soft) }
dd { margin: 0 }
form { margin-top: 24px; padding-top: 16px; border-top: 1px solid var(--line) }
input, textarea, button { display: block; width: 100%; margin-top: 12px; font: inherit; color: inherit }
label { display: block; margin-top: 16px }
label :is(input, textarea) { margin-top: 4px; padding: 8px 12px; border: 1px solid var(--field); border-radius: 8px; background: var(--card) }
label input[type='file'] { padding: 0; border: 0 }
label :is(input, textarea):focus-visible { outline: 3px solid var(--soft); outline-offset: 2px }
button { padding: 12px 20px; border: 0; border-radius: 12px; background: var(--ink); color: var(--card); font-weight: 600 }
@media (min-width: 700px) and (min-aspect-ratio: 1) {
  .look { max-width: 960px; display: grid; grid-template-columns: minmax(0, 11fr) minmax(0, 9fr) }
  .look section { align-self: center; padding: clamp(20px, 3vw, 40px) }
  .look img { max-height: calc(100svh - 34px) }
}
`)

/** Hash that allows the style in a Content-Security-Policy. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

interface PagePolicy {
  readonly formAction?: "'none'" | "'self'"
  readonly imageOrigins?: readonly string[]
}

/** The Content-Security-Policy of a page for visitors: no scripts, and no foreign content except images of these origins. */
export function pagePolicy({ formAction = "'none'", imageOrigins = [] }: PagePolicy = {}): string {
  return [
    ...["default-src 'none'", ['img-src', ...imageOrigins, 'data:'].join(' '), `style-src '${STYLE_HASH}'`],
    ...["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"],
  ].join('; ')
}

/** Middleware that sets the headers of a page for visitors. */
export function pageHeaders({
  vary,
  cacheControl,
  formAction,
}: PagePolicy & { readonly vary: string; readonly cacheControl: string }): Middleware {
  const policy = pagePolicy({ formAction })
  return (ctx, next) => {
    ctx.vary(vary)
    ctx.set('Cache-Control', cacheControl)
    ctx.set('Content-Security-Policy', policy)
    ctx.set('Referrer-Policy', 'no-referrer')
    ctx.set('X-Content-Type-Options', 'nosniff')
    return next()
  }
}

/** A page for visitors, with the style of `STYLE_HASH`. */
export function presentDocument({
  title,
  head,
  body,
  language = 'en',
}: {
  title: string
  head: Html
  body: Html
  language?: string
}): string {
  // The style must stay constant: the policy allows it by its hash.
  return html`<!doctype html>
<html lang="${language}"${language === 'ar' ? html` dir="rtl"` : ''}>
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

/** A public page with a heading, the content and the name of the service. */
export function presentTextPage({
  heading,
  content,
  serviceName,
  language,
}: {
  heading: string
  content: Html
  serviceName: string
  language?: string
}): string {
  const body = html`
    <main>
      <section class="text">
        <h1>${heading}</h1>${content}
        <small>${serviceName}</small>
      </section>
    </main>`
  return presentDocument({ title: `${heading} – ${serviceName}`, head: html``, body, language })
}
