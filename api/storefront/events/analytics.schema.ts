import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type AnalyticsDay as Day, DayRow } from './event-analytics.store.ts'

const DATE = { pattern: '^2\\d{3}-\\d{2}-\\d{2}$', format: 'date' }

export const AnalyticsQuery = Type.Object({
  shop: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Domain or ID of one shop. Absent: all shops and apps of the account.',
    }),
  ),
  from: Type.Optional(
    Type.String({ ...DATE, description: 'First day in UTC, for example 2026-11-01. Default: 13 days before to.' }),
  ),
  to: Type.Optional(
    Type.String({
      ...DATE,
      description: 'Last day in UTC, included. Default: today. At most 365 days after from.',
    }),
  ),
})
export type AnalyticsQuery = Static<typeof AnalyticsQuery>

const { day: _, ...counts } = DayRow.properties

/** Columns of a day without the day itself. */
export const COUNTS = Object.keys(counts) as (keyof Omit<Day, 'day'>)[]

const DESCRIPTIONS: Readonly<Record<keyof typeof counts, string>> = {
  visitors: 'Visitors who opened a product page.',
  engaged: 'Visitors who used the widget.',
  generationStarted: 'Of engaged: visitors who started a try-on.',
  resultViewed: 'Of generationStarted: visitors who saw a result.',
  tryOnCarted: 'Of resultViewed: visitors who added a product to the cart afterwards.',
  carted: 'Of visitors: visitors who added a product to the cart, with or without a try-on.',
  orders: 'Orders.',
  tryOnOrders: 'Of orders: orders of visitors who saw a result in the 30 days before.',
  emailPrompted: 'Visitors who were asked for their e-mail address.',
  emailCollected: 'Visitors who left their e-mail address.',
}

const Counts = Type.Object(
  Object.fromEntries(
    COUNTS.map((name) => [name, Type.Integer({ minimum: 0, description: DESCRIPTIONS[name] })]),
  ) as Readonly<Record<keyof typeof counts, ReturnType<typeof Type.Integer>>>,
)

const AnalyticsDay = named(
  'AnalyticsDay',
  Type.Object({ day: Type.String({ format: 'date', description: 'Day in UTC.' }), ...Counts.properties }),
)

const rate = (description: string) =>
  Nullable(Type.Number({ minimum: 0, description: `${description} Null without any.` }))

export const Analytics = named(
  'Analytics',
  Type.Object({
    timeZone: Type.Literal('UTC', { description: 'Time zone of all days.' }),
    shop: Nullable(Type.String({ description: 'Domain of the shop; null: all shops and apps of the account.' })),
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date' }),
    totals: Counts,
    rates: Type.Object({
      cart: rate('carted / visitors.'),
      cartAfterResult: rate('tryOnCarted / resultViewed.'),
      ordersAfterTryOn: rate('tryOnOrders / orders.'),
      emailCollection: rate('emailCollected / emailPrompted.'),
    }),
    days: Type.Array(AnalyticsDay, {
      description: 'Each day from from to to, oldest first, also days without events.',
    }),
  }),
)
export type Analytics = Static<typeof Analytics>
