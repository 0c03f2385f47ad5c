import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Middleware } from 'koa'
import { type Html, html } from './html.ts'
import { pageStyle } from './page-style.ts'

const STYLE = pageStyle(readFileSync(new URL('public-page.css', import.meta.url), 'utf8'))

/** Hash that allows the style in a Content-Security-Policy. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`

interface PagePolicy {
  readonly formAction?: "'none'" | "'self'"
  readonly imageOrigins?: readonly string[]
  /** Of the only script that the page may run. */
  readonly scriptHash?: string
}

/** The Content-Security-Policy of a page for visitors: at most one script, and no foreign content except images of these origins. */
export function pagePolicy({ formAction = "'none'", imageOrigins = [], scriptHash }: PagePolicy = {}): string {
  return [
    ...(scriptHash === undefined ? [] : [`script-src '${scriptHash}'`]),
    ...["default-src 'none'", ['img-src', ...imageOrigins, 'data:'].join(' '), `style-src '${STYLE_HASH}'`],
    ...["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"],
  ].join('; ')
}

/** Middleware that sets the headers of a page for visitors. */
export function pageHeaders({
  vary,
  cacheControl,
  formAction,
  scriptHash,
}: PagePolicy & { readonly vary: string; readonly cacheControl: string }): Middleware {
  const policy = pagePolicy({ formAction, scriptHash })
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

export interface PageOptions {
  readonly serviceName: string
  readonly language: string
}

/** Names and values, without values that are null. */
export function presentFacts(facts: readonly (readonly [name: string, value: string | null])[]): Html {
  const known = facts.flatMap(([name, value]) =>
    value === null ? [] : [html`<dt>${name}</dt><dd dir="auto">${value}</dd>`],
  )
  return known.length === 0
    ? html``
    : html`
        <dl>${known}</dl>`
}

/** A public page with a heading, the content and the name of the service. */
export function presentTextPage({
  heading,
  content,
  serviceName,
  language,
}: PageOptions & { readonly heading: string; readonly content: Html }): string {
  const body = html`
    <main>
      <section class="text">
        <h1>${heading}</h1>${content}
        <small>${serviceName}</small>
      </section>
    </main>`
  return presentDocument({ title: `${heading} – ${serviceName}`, head: html``, body, language })
}
