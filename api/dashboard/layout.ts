import { type Html, html } from '../html.ts'
import { actForm, type Content, when } from './elements.ts'
import type { DashboardContext } from './state.ts'

export interface Page {
  readonly title: string
  readonly body: Content
  /** What was just done. */
  readonly notice?: string
}

const PLACES = [
  ['/', 'Overview'],
  ['/accounts', 'Accounts'],
  ['/shops', 'Shops'],
  ['/generations', 'Generations'],
  ['/products', 'Products'],
  ['/webhooks', 'Webhooks'],
  ['/audit', 'Audit log'],
] as const

/** What may be said of what was just done, by the word in the address. */
const NOTICES: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  created: 'Created.',
  credited: 'The credits were added.',
  revoked: 'The key was revoked. It may be taken for a few seconds more.',
  removed: 'Removed.',
  sent: 'It is on its way.',
}

/** Answers with a page. */
export function showPage(ctx: DashboardContext, { title, body, notice }: Page): void {
  const { operator, csrf } = ctx.state
  const done = new URLSearchParams(ctx.querystring).get('done') ?? ''
  const said = notice ?? (Object.hasOwn(NOTICES, done) ? NOTICES[done] : '')
  ctx.type = 'html'
  ctx.body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Drape</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dashboard.css">
</head>
<body>
<a class="skip" href="#content">To the content</a>
${operator === null ? html`` : header({ email: operator.email, csrf, path: ctx.path })}
<main id="content" tabindex="-1">
${when(said, html`<p class="notice" role="status">${said}</p>`)}
<h1>${title}</h1>
${body}
</main>
</body>
</html>`.markup
}

function header({ email, csrf, path }: { email: string; csrf: string; path: string }): Html {
  const links = PLACES.map(([place, name]) => {
    const isHere = place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`)
    return html`<li><a href="${place}"${when(isHere, html` aria-current="page"`)}>${name}</a></li>`
  })
  return html`<header>
<p class="brand">Drape</p>
<nav aria-label="Dashboard"><ul>${links}</ul></nav>
<div class="who"><span>${email}</span>${actForm({ action: '/sign-out', csrf, submit: 'Sign out' })}</div>
</header>`
}

/** Where a browser goes on after something was done. */
export function seeOther(ctx: DashboardContext, path: string, done?: string): void {
  ctx.status = 303
  ctx.set('Location', done === undefined ? path : `${path}?done=${done}`)
  ctx.body = ''
}
