import { type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import { isHeldRow } from './holdout.ts'

export const DayRow = Type.Object({
  /** Day in UTC, e.g. `2026-11-25`. */
  day: Type.String(),
  /** Visitors who opened a product page. */
  visitors: Type.Integer(),
  engaged: Type.Integer(),
  generationStarted: Type.Integer(),
  resultViewed: Type.Integer(),
  /** Visitors who added a product to the cart after viewing a result. */
  tryOnCarted: Type.Integer(),
  /** Visitors of a product page who added a product to the cart, with and without a try-on. */
  carted: Type.Integer(),
  orders: Type.Integer(),
  /** Orders of visitors who viewed a result in the 30 days before. */
  tryOnOrders: Type.Integer(),
  emailPrompted: Type.Integer(),
  emailCollected: Type.Integer(),
})
/** Visitor counts of one day (UTC). */
export type AnalyticsDay = Static<typeof DayRow>

const GroupRow = Type.Object({
  isHeld: Type.Boolean(),
  /** Visitors who opened a product page. */
  visitors: Type.Integer(),
  sawButton: Type.Integer(),
  /** Visitors who ordered, on Shopify; elsewhere no platform reports orders: visitors who added a product to the cart. */
  buyers: Type.Integer(),
})
/** Visitors in the holdout of a shop, or the others. */
export type HoldoutGroup = Static<typeof GroupRow>

export type HoldoutShop = Pick<ShopRecord, 'id' | 'accountId' | 'platform' | 'holdoutPercent' | 'holdoutSince'>

const DAY_MS = 86_400_000

/** The last days until today (UTC), today included. */
export function lastDays(count: number, now = Date.now()): Pick<AnalyticsQuery, 'from' | 'to'> {
  return { from: dayOf(now - (count - 1) * DAY_MS), to: dayOf(now) }
}

/** Number of days, both included; 0 or less when `from` is after `to`. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

export interface AnalyticsQuery {
  readonly accountId: string
  /** Counts only visitors of this shop. Absent: all visitors of the account, also those without a shop. */
  readonly shopId?: string
  /** First and last day (UTC), e.g. `2026-11-25`. */
  readonly from: string
  readonly to: string
}

export type EventAnalytics = ReturnType<typeof createEventAnalytics>

/** Daily funnels, as the views `event_visits` and `event_conversion` define them. */
export function createEventAnalytics(database: Database) {
  return {
    /** One entry per day (UTC), oldest first, also for days without events. */
    countDays: ({ accountId, shopId, from, to }: AnalyticsQuery): Promise<readonly AnalyticsDay[]> => {
      const isWanted = sql.fragment`
        day between ${from}::date and ${to}::date and account_id = ${accountId} and ${ofShop(shopId)}`
      return database.any(sql.type(rowType(DayRow))`
        with days as (
          select generate_series(${from}::date, ${to}::date, interval '1 day')::date as day
        ), funnel as (
          select day, sum(engaged)::bigint as engaged, sum(generation_started)::bigint as started,
            sum(result_viewed)::bigint as viewed, sum(carted)::bigint as carted
          from event_funnel where ${isWanted} group by day
        ), conversion as (
          select day, sum(visitors)::bigint as visitors, sum(carted)::bigint as carted,
            sum(orders)::bigint as orders, sum(try_on_orders)::bigint as try_on_orders
          from event_conversion where ${isWanted} group by day
        ), emails as (
          select day, sum(prompted)::bigint as prompted, sum(collected)::bigint as collected
          from event_email_collection where ${isWanted} group by day
        )
        select to_char(day, 'YYYY-MM-DD') as day,
          coalesce(visitors, 0) as visitors,
          coalesce(engaged, 0) as engaged,
          coalesce(started, 0) as "generationStarted",
          coalesce(viewed, 0) as "resultViewed",
          coalesce(funnel.carted, 0) as "tryOnCarted",
          coalesce(conversion.carted, 0) as carted,
          coalesce(orders, 0) as orders,
          coalesce(try_on_orders, 0) as "tryOnOrders",
          coalesce(prompted, 0) as "emailPrompted",
          coalesce(collected, 0) as "emailCollected"
        from days left join funnel using (day) left join conversion using (day) left join emails using (day)
        order by day`)
    },

    /**
     * Counts the visitors of a shop in and outside its holdout. Only visitors whose first event came after the last change of the
     * share: others may have seen the page both ways.
     */
    countHoldout: ({ id, accountId, platform, holdoutPercent, holdoutSince }: HoldoutShop) => {
      // As in `event_conversion` and `event_visits`.
      const isPurchase =
        platform === 'shopify'
          ? sql.fragment`name = 'order:created' and session_id is null`
          : sql.fragment`name in ('widget:add_to_cart', 'widget:add_to_cart_success', 'product_page:cart_add')`
      return database.any(sql.type(rowType(GroupRow))`
        with visits as (
          -- By day first: a hash join in each partition is 9 times as fast as a join of all.
          select anonymous_id, min(received_at) as first_at,
            bool_or(name = 'product_page:page_view') as has_visited,
            bool_or(name = 'widget:button_view') as has_seen,
            bool_or(${isPurchase}) as has_bought
          from event_details
          where account_id = ${accountId} and shop_id = ${id} and anonymous_id is not null
          group by received_on, anonymous_id
        ), visitors as (
          select ${isHeldRow(id, holdoutPercent ?? 0)} as is_held, bool_or(has_seen) as has_seen, bool_or(has_bought) as has_bought
          from visits group by anonymous_id
          having bool_or(has_visited) and min(first_at) >= ${holdoutSince.toISOString()}
        )
        select is_held as "isHeld", count(*) as visitors, count(*) filter (where has_seen) as "sawButton",
          count(*) filter (where has_bought) as buyers
        from visitors group by is_held`)
    },
  }
}

function ofShop(shopId: string | undefined) {
  return shopId === undefined ? sql.fragment`true` : sql.fragment`shop_id = ${shopId}`
}
