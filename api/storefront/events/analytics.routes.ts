import { csvLine } from '../../http/answers/csv.ts'
import { reading } from '../../http/guards.ts'
import type { AccountLimiter } from '../../http/limits/account-limiter.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { invalidField } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import { attachment } from '../../shared/storage/attachment.ts'
import type { Shops } from '../../shops/shops.store.ts'
import { Analytics, AnalyticsQuery, COUNTS } from './analytics.schema.ts'
import { type AnalyticsDay, daysBetween, type EventAnalytics, lastDays } from './event-analytics.store.ts'

export interface AnalyticsParts {
  readonly analytics: EventAnalytics
  readonly shops: Pick<Shops, 'findOfAccount'>
  readonly analyticsLimiter: AccountLimiter
}

const MAX_DAYS = 366
const DEFAULT_DAYS = 14

const shared = {
  method: 'get',
  tag: 'Analytics',
  scopes: ['analytics'],
  query: AnalyticsQuery,
  errors: ['VALIDATION_FAILED'],
  guards: reading,
  compressed: true,
} as const

export const analyticsRoutes = [
  route({
    ...shared,
    path: '/tryon/v1/analytics',
    id: 'getAnalytics',
    summary: 'Fetch funnel, conversion and e-mail collection by day',
    description: `Counts of the visitors and orders of the account, without names. A visitor counts once a day in each step, and only after the step
before it. Days and totals are in UTC. A key of test mode gets its own, empty account.`,
    answers: { 200: { description: 'Totals, rates and days.', schema: Analytics } },
    handler: getAnalytics,
  }),
  route({
    ...shared,
    path: '/tryon/v1/analytics.csv',
    id: 'getAnalyticsCsv',
    summary: 'Fetch the days of the analytics as a CSV file',
    description:
      'The days of getAnalytics: a header line with the names of the fields, then a line per day (UTC), oldest first. RFC 4180, UTF-8.',
    answers: { 200: { description: 'The file.', schema: Type.String(), contentType: 'text/csv' } },
    handler: getCsv,
  }),
]

interface Input {
  readonly query: AnalyticsQuery
}

async function getAnalytics(ctx: AppContext, parts: AnalyticsParts, { query }: Input): Promise<Analytics> {
  const { shop, from, to, days } = await findAnalytics(ctx, parts, query)
  const totals = Object.fromEntries(
    COUNTS.map((name) => [name, days.reduce((sum, day) => sum + day[name], 0)]),
  ) as Analytics['totals']
  const rate = (part: number, whole: number) => (whole === 0 ? null : part / whole)
  return {
    timeZone: 'UTC',
    shop,
    from,
    to,
    totals,
    rates: {
      cart: rate(totals.carted, totals.visitors),
      cartAfterResult: rate(totals.tryOnCarted, totals.resultViewed),
      ordersAfterTryOn: rate(totals.tryOnOrders, totals.orders),
      emailCollection: rate(totals.emailCollected, totals.emailPrompted),
    },
    days: [...days],
  }
}

async function getCsv(ctx: AppContext, parts: AnalyticsParts, { query }: Input): Promise<void> {
  const { shop, from, to, days } = await findAnalytics(ctx, parts, query)
  const columns = ['day', ...COUNTS] as const
  ctx.type = 'text/csv; charset=utf-8'
  ctx.set('Content-Disposition', attachment(`analytics-${shop ?? 'all'}-${from}-${to}.csv`))
  ctx.body = [columns, ...days.map((day) => columns.map((column) => String(day[column])))].map(csvLine).join('')
}

interface Found {
  /** Domain; null: all shops. */
  readonly shop: string | null
  readonly from: string
  readonly to: string
  readonly days: readonly AnalyticsDay[]
}

async function findAnalytics(
  ctx: AppContext,
  { analytics, shops, analyticsLimiter }: AnalyticsParts,
  { shop, ...range }: AnalyticsQuery,
): Promise<Found> {
  const accountId = ctx.state.account.id
  const { from, to } = readRange(range)
  const found = shop === undefined ? null : await shops.findOfAccount(accountId, shop)
  // The same answer for a shop of another account and for one that does not exist.
  if (shop !== undefined && found === null)
    throw invalidField('shop', 'must be the domain or the ID of a shop of the account')
  const query = { accountId, ...(found && { shopId: found.id }), from, to }
  const days = await analyticsLimiter(accountId, () => analytics.countDays(query))
  return { shop: found?.domain ?? null, from, to, days }
}

function readRange({ from, to }: Pick<AnalyticsQuery, 'from' | 'to'>): { from: string; to: string } {
  const last = to ?? lastDays(1).to
  const first = from ?? lastDays(DEFAULT_DAYS, Date.parse(last)).from
  const count = daysBetween(first, last)
  if (count < 1) throw invalidField('from', 'must not be after to')
  if (count > MAX_DAYS) throw invalidField('from', `must be at most ${MAX_DAYS - 1} days before to`)
  return { from: first, to: last }
}
