import { type Html, html } from '../http/answers/html.ts'
import { keyForm } from './page.ts'
import { type PageOptions, presentFrame } from './page-frame.ts'

/** The analytics of the account of an API key, for merchants. */
export function presentAnalyticsPage({ serviceName, assets }: PageOptions): string {
  return presentFrame({
    serviceName,
    assets,
    name: 'analytics',
    links: html`<a href="/playground">Playground</a>`,
    account: html`<div class="account"><button type="button" class="quiet" id="forget" hidden>Remove key</button></div>`,
    content: html`<h1>What visitors of your shops do</h1>
<p class="lead">Funnel, conversion and e-mail collection by day, without names. All days are in UTC.</p>
<noscript><p class="problem">This page needs JavaScript. The <a href="/docs">API reference</a> describes the same data as JSON and CSV.</p></noscript>
${keyForm()}
${rangeForm()}
<div class="problem" id="problem" role="alert" tabindex="-1" hidden></div>
<p class="said" id="said" role="status"></p>
<div id="report" hidden>
${report('funnel', 'Funnel', ['Step', 'Visitors', 'Of the first step'])}
${report('rates', 'Conversion and e-mail collection', ['Rate', 'Count', 'Of', 'Share'])}
${report('days', 'Days', ['Day (UTC)', 'Product page', 'Widget used', 'Try-on started', 'Result seen', 'Cart after result', 'Cart, all', 'Orders', 'Orders after a try-on', 'E-mail asked', 'E-mail left'])}
<p class="hint">A visitor counts once a day in each step, and only after the step before it. An order counts as “after a try-on” when its visitor
or customer saw a result in the 30 days before it.</p>
</div>`,
  })
}

function rangeForm(): Html {
  const field = (id: string, label: string, input: Html) =>
    html`<div class="field"><label for="${id}">${label}</label>${input}</div>`
  return html`<form id="range" class="card" novalidate>
<div class="fields">
${field('shop', 'Shop', html`<input id="shop" type="text" maxlength="253" autocomplete="off" placeholder="domain; empty: all shops">`)}
${field('from', 'First day (UTC)', html`<input id="from" type="date">`)}
${field('to', 'Last day (UTC)', html`<input id="to" type="date">`)}
</div>
<div class="actions"><button>Show</button><button type="button" class="quiet" id="download">Download as CSV</button></div>
</form>`
}

function report(id: string, title: string, head: readonly string[]): Html {
  const cells = head.map((text) => html`<th scope="col">${text}</th>`)
  return html`<section class="card report"><h2 id="${id}-title">${title}</h2>
<div class="wide" tabindex="0" role="region" aria-labelledby="${id}-title"><table><thead><tr>${cells}</tr></thead><tbody id="${id}"></tbody></table></div></section>`
}
