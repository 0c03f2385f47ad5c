import { type Html, html } from '../../http/answers/html.ts'
import { describeProblem } from '../forms/fields.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { KEPT_MARK, type RejectedForm } from '../forms/rejected-form.ts'
import { allowScript } from '../headers.ts'
import type { OpenWork } from '../pages/open-work.store.ts'
import type { SignedIn } from '../sign-in/operator-sessions.store.ts'
import type { DashboardContext, PageIndex } from '../state.ts'
import { type Content, when } from './elements.ts'

export interface ShownPage {
  readonly title: string
  readonly body: Content
  /** Main actions of the page, beside its title. */
  readonly actions?: Content
  /** Message about the last action. */
  readonly notice?: string
}

/** Marks of elements that need the script. Quotes in values are escaped, so they come from a view. */
const SCRIPT_MARKS = / data-(copy|choose|live)="/

/** Responds with a page. */
export function showPage(ctx: DashboardContext, { title, body, actions, notice }: ShownPage): void {
  const content = html`${body}`.markup
  const needsScript = SCRIPT_MARKS.test(content)
  if (needsScript) allowScript(ctx)
  const { operator, forms, kept, pages, openWork } = ctx.state
  const done = new URLSearchParams(ctx.querystring).get('done') ?? ''
  const shownNotice = notice ?? pages.findDone(done)?.message ?? ''
  ctx.type = 'html'
  ctx.body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${kept === null ? '' : 'Not done: '}${title} – Drape</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dashboard.css">
${when(needsScript, html`<script src="/dashboard.js" defer></script>`)}</head>
<body${when(operator, html` class="framed"`)}>
<a class="skip" href="#content">Skip to content</a>
${operator === null ? html`` : header({ operator, forms, pages, openWork, path: ctx.path })}
${operator === null ? html`<main id="content" class="door" tabindex="-1">${BRAND}` : html`<main id="content" tabindex="-1">`}
${operator === null ? html`` : listAbove(ctx.path, pages.menuOf(operator.role))}${when(shownNotice, html`<p class="notice" role="status">${shownNotice}</p>`)}${when(kept && !content.includes(KEPT_MARK), explainLostForm(kept))}
${actions === undefined ? html`<h1>${title}</h1>` : html`<div class="head"><h1>${title}</h1><div class="actions">${actions}</div></div>`}
${{ markup: content }}
</main>
</body>
</html>`.markup
}

const LOGO = html`<svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><rect width="32" height="32" rx="9" fill="#1f4f8a"/><path d="M11 7 5 11l2.5 4.5L10 14v11h12V14l2.5 1.5L27 11l-6-4a5 5 0 0 1-10 0z" fill="#fff"/><path d="M16 12.5V25h6V14l2.5 1.5L27 11l-6-4a5 5 0 0 1-5 5.5z" fill="#8fbdf0"/></svg>`

/** Logo above the pages for visitors who are not signed in. */
const BRAND = html`<p class="face">${LOGO}<span><strong>Drape</strong> Operators’ dashboard</span></p>`

/** Link to the list that the page belongs to; nothing on pages of the menu. */
function listAbove(path: string, menu: ReturnType<PageIndex['menuOf']>): Html {
  const list = menu.find(([place]) => place !== '/' && path.startsWith(`${place}/`))
  return list === undefined ? html`` : html`<p class="within"><a href="${list[0]}">${list[1]}</a></p>`
}

/** Explains a refused form that the page no longer shows. */
function explainLostForm(kept: RejectedForm | null): Html {
  const texts = [
    kept?.message ?? '',
    ...(kept?.problems ?? []).map(({ path, message }) => describeProblem(path, message)),
  ]
  return html`<p class="problem" role="alert" tabindex="-1" autofocus>${texts.filter((text) => text !== '').join(' ')}</p>`
}

/** Phones show the menu as a popover, which needs no script. */
function header({
  operator,
  forms,
  pages,
  openWork,
  path,
}: {
  operator: SignedIn
  forms: Forms
  pages: PageIndex
  openWork: OpenWork
  path: string
}): Html {
  const links = pages.menuOf(operator.role).map(([place, name]) => {
    const isHere = place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`)
    const { count, what } = openWork.get(place) ?? { count: 0, what: '' }
    const badge = html` <span class="badge bad">${String(count)}<span class="unseen"> ${what}</span></span>`
    return html`<li><a href="${place}"${when(isHere, html` aria-current="page"`)}>${name}${when(count > 0, badge)}</a></li>`
  })
  return html`<header>
<p class="brand">${LOGO}Drape</p>
<button type="button" class="menu" popovertarget="menu">Menu</button>
<nav id="menu" popover aria-label="Dashboard"><ul>${links}</ul></nav>
<div class="who"><a href="/second-factor" title="${operator.email}">${operator.email}</a>${actForm({ action: '/sign-out', forms, submit: 'Sign out' })}</div>
</header>`
}

/** Redirects the browser, with the message of the action `done`. */
export function seeOther(ctx: DashboardContext, path: string, done?: string): void {
  ctx.status = 303
  ctx.set('Location', done === undefined ? path : `${path}?done=${done}`)
  ctx.body = ''
}
