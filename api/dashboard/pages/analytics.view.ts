import { type Html, html } from '../../http/answers/html.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import type { AnalyticsDay, HoldoutGroup } from '../../storefront/events/event-analytics.store.ts'
import { count, disclosure, facts, section, table, when } from '../html/elements.ts'
import { plotBars, plotShare } from '../html/plot.ts'
import { time } from '../html/times.ts'
import { compareShares, type Share } from './confidence-interval.ts'

export const ANALYTICS_SPANS = {
  week: { name: '7 days', days: 7 },
  fortnight: { name: '14 days', days: 14 },
  quarter: { name: '90 days', days: 90 },
} as const
export type AnalyticsSpan = keyof typeof ANALYTICS_SPANS

/** Columns of the table; the keys are the columns of the CSV file. */
export const ANALYTICS_COLUMNS = {
  day: 'Day (UTC)',
  visitors: 'Product page',
  engaged: 'Widget used',
  generationStarted: 'Try-on started',
  resultViewed: 'Result seen',
  tryOnCarted: 'Cart after result',
  carted: 'Cart, all',
  orders: 'Orders',
  tryOnOrders: 'Orders after a try-on',
  emailPrompted: 'E-mail asked',
  emailCollected: 'E-mail left',
} as const satisfies Readonly<Record<keyof AnalyticsDay, string>>

type Counted = Exclude<keyof AnalyticsDay, 'day'>

interface AnalyticsPage {
  readonly span: AnalyticsSpan
  readonly days: readonly AnalyticsDay[]
  /** Null: the shop has no holdout. */
  readonly groups: readonly HoldoutGroup[] | null
}

export function presentAnalytics(shop: ShopRecord, { span, days, groups }: AnalyticsPage): Html {
  const sum = (column: Counted) => days.reduce((total, day) => total + day[column], 0)
  const page = `/shops/${shop.id}/analytics`
  const links = Object.entries(ANALYTICS_SPANS).map(([key, { name }]) =>
    key === span
      ? html`<li><a href="${page}?span=${key}" aria-current="true">${name}</a></li>`
      : html`<li><a href="${page}?span=${key}">${name}</a></li>`,
  )
  return html`${facts([['Shop', html`<a href="/shops/${shop.id}">${shop.domain}</a>`]])}
<nav aria-label="Time range"><ul class="spans">${links}</ul></nav>
${when(sum('visitors') + sum('engaged') + sum('orders') === 0, html`<p class="empty">No events in these days. The widget sends them once it is on the pages of the shop.</p>`)}
<div class="columns">${section('Funnel', presentFunnel(sum))}${section('Conversion', presentConversion(sum))}</div>
${section('With and without the button', groups === null ? html`` : presentHoldout(shop, groups))}
${plotDays(days)}
${section(
  'Days',
  html`<p class="actions"><a class="button" href="${page}.csv?span=${span}">Download as CSV</a></p>${disclosure('Table', presentDays(days))}`,
)}
<p>A visitor counts once a day in each step, and only after the step before it. An order counts as “after a try-on” when its visitor or customer
saw a result in the 30 days before it.</p>`
}

const STEPS: readonly Counted[] = ['engaged', 'generationStarted', 'resultViewed', 'tryOnCarted']

function presentFunnel(sum: (column: Counted) => number): Html {
  return table({
    caption: 'Visitors who reached each step',
    head: ['Step', 'Visitors', 'Of the first step', 'Funnel'],
    rows: STEPS.map((step) => [
      ANALYTICS_COLUMNS[step],
      count(sum(step)),
      share(sum(step), sum(STEPS[0])),
      plotShare({ value: sum(step), whole: sum(STEPS[0]) }),
    ]),
    empty: '',
    numeric: [1, 2],
    narrow: true,
  })
}

function presentConversion(sum: (column: Counted) => number): Html {
  const rates: [string, Counted, Counted][] = [
    ['Cart, of visitors of product pages', 'carted', 'visitors'],
    ['Cart after a result, of visitors who saw one', 'tryOnCarted', 'resultViewed'],
    ['Orders after a try-on, of all orders', 'tryOnOrders', 'orders'],
    ['E-mail collection rate', 'emailCollected', 'emailPrompted'],
  ]
  return table({
    caption: 'Conversion',
    head: ['Rate', 'Count', 'Of', 'Share'],
    rows: rates.map(([name, part, whole]) => [name, count(sum(part)), count(sum(whole)), share(sum(part), sum(whole))]),
    empty: '',
    numeric: [1, 2, 3],
    narrow: true,
  })
}

/** In each group; otherwise the purchases of one group may simply not reach the service. */
const MIN_BUYERS = 5

function presentHoldout(shop: ShopRecord, groups: readonly HoldoutGroup[]): Html {
  const [bought, buy] = shop.platform === 'shopify' ? ['Ordered', 'buy'] : ['Added to the cart', 'add to the cart']
  const rows = [false, true].map(
    (isHeld) => groups.find((one) => one.isHeld === isHeld) ?? { isHeld, visitors: 0, sawButton: 0, buyers: 0 },
  )
  const [offered, held] = rows.map(({ buyers, visitors }) => ({ count: buyers, total: visitors }))
  return html`<p><strong>${describeDifference(offered, held, buy)}</strong></p>
${table({
  caption: 'Visitors with and without the button',
  head: ['Group', 'Visitors', 'Saw the button', bought, 'Share'],
  rows: rows.map(({ isHeld, visitors, sawButton, buyers }) => [
    isHeld ? `Without the button (${shop.holdoutPercent} %)` : 'With the button',
    count(visitors),
    count(sawButton),
    count(buyers),
    share(buyers, visitors),
  ]),
  empty: '',
  numeric: [1, 2, 3, 4],
  narrow: true,
})}
<p>Visitors of product pages who first came after ${time(shop.holdoutSince)} (UTC), when the share last changed. A difference needs at least ${String(MIN_BUYERS)}
buyers in each group. The interval holds for one look, on a day that you choose before: of shops without a difference, 1 of 20 shows one; with a look each day
for a month, 1 of 4.</p>`
}

/** What can be told of visitors with the button (`offered`) and without (`held`), in one sentence; `buy` is the verb. */
export function describeDifference(offered: Share, held: Share, buy: string): string {
  const unknown = 'No difference can be told yet'
  if (Math.min(offered.count, held.count) < MIN_BUYERS) return `${unknown}.`
  const { from, to } = compareShares(offered, held)
  const points = (difference: number) => (difference * 100).toFixed(2).replace('-', '−')
  const range = (low: number, high: number) => `${points(low)} to ${points(high)} percentage points`
  if (from > 0) return `Of shoppers with the button, ${range(from, to)} more ${buy} (95 % interval).`
  if (to < 0) return `Of shoppers with the button, ${range(-to, -from)} fewer ${buy} (95 % interval).`
  return `${unknown}: ${range(from, to)} (95 % interval).`
}

function plotDays(days: readonly AnalyticsDay[]): Html {
  const labels = days.map(({ day }) => day.slice(5))
  const values = (column: Counted) => days.map((day) => day[column])
  return html`<div class="columns">${plotBars({
    title: 'Visitors who saw a result, by day (UTC)',
    labels,
    empty: 'No visitor saw a result in these days.',
    series: [{ name: 'saw a result', tone: 'first', values: values('resultViewed') }],
  })}${plotBars({
    title: 'Orders by day (UTC)',
    labels,
    empty: 'The shop reported no orders in these days.',
    series: [
      { name: 'after a try-on', tone: 'first', values: values('tryOnOrders') },
      { name: 'other', tone: 'third', values: days.map(({ orders, tryOnOrders }) => orders - tryOnOrders) },
    ],
  })}</div>`
}

function presentDays(days: readonly AnalyticsDay[]): Html {
  const { day: _, ...counted } = ANALYTICS_COLUMNS
  const columns = Object.keys(counted) as Counted[]
  return table({
    caption: 'Visitors and orders by day',
    head: Object.values(ANALYTICS_COLUMNS),
    rows: days.toReversed().map((entry) => [entry.day, ...columns.map((column) => count(entry[column]))]),
    empty: '',
    numeric: columns.map((_, i) => i + 1),
  })
}

function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`
}
