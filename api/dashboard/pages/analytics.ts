import type { Shops } from '../../shops/shops.store.ts'
import { type EventAnalytics, lastDays } from '../../storefront/events/event-analytics.store.ts'
import { queryOf } from '../forms/form.ts'
import { sendCsv } from '../html/csv-file.ts'
import { showPage } from '../html/layout.ts'
import { listed, pages } from '../page.ts'
import type { DashboardContext } from '../state.ts'
import { ANALYTICS_COLUMNS, ANALYTICS_SPANS, presentAnalytics } from './analytics.view.ts'
import { findShop } from './find-shop.ts'

export interface AnalyticsPagesOptions {
  readonly analytics: EventAnalytics
  readonly shops: Pick<Shops, 'findById' | 'listing'>
}

const owns = listed<AnalyticsPagesOptions>(({ shops }) => shops.listing)

/** Funnel, conversion and e-mail addresses of a shop's visitors, as a page and as a file, without visitor names. */
export const analyticsPages = pages<AnalyticsPagesOptions>([
  { route: 'GET /shops/:id/analytics', role: 'viewer', owns, run: showAnalytics },
  { route: 'GET /shops/:id/analytics.csv', role: 'viewer', owns, run: exportAnalytics },
])

async function showAnalytics(ctx: DashboardContext, options: AnalyticsPagesOptions): Promise<void> {
  const { shop, span, days } = await findAnalytics(ctx, options)
  const groups = shop.holdoutPercent ? await options.analytics.countHoldout(shop) : null
  const body = presentAnalytics(shop, { span, days, groups })
  showPage(ctx, { title: `Analytics of ${shop.name ?? shop.domain}`, body })
}

async function exportAnalytics(ctx: DashboardContext, options: AnalyticsPagesOptions): Promise<void> {
  const { shop, days } = await findAnalytics(ctx, options)
  const columns = Object.keys(ANALYTICS_COLUMNS) as (keyof typeof ANALYTICS_COLUMNS)[]
  sendCsv(ctx, `analytics-${shop.domain}`, [
    columns,
    ...days.map((day) => columns.map((column) => String(day[column]))),
  ])
}

async function findAnalytics(ctx: DashboardContext, { shops, analytics }: AnalyticsPagesOptions) {
  const shop = await findShop(ctx, { shops })
  const wanted = queryOf(ctx).get('span') ?? ''
  const span = Object.hasOwn(ANALYTICS_SPANS, wanted) ? (wanted as keyof typeof ANALYTICS_SPANS) : 'fortnight'
  const query = { accountId: shop.accountId, shopId: shop.id, ...lastDays(ANALYTICS_SPANS[span].days) }
  return { shop, span, days: await analytics.countDays(query) }
}
