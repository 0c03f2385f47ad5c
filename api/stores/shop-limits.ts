import { sql } from '../shared/database/database.ts'
import { DrapeError } from '../shared/errors.ts'

// Parts of the statement that accepts a shopper's generation, and of the one that checks whether it would. They count in Postgres
// alone: no limit begins anew when Redis loses data.

/** The shop behind a call, and what each of its shoppers may have. */
export interface ShopCall {
  readonly id: string
  /** Generations of a shopper in an ISO week (UTC), failed ones not counted. */
  readonly weeklyGenerations: number
  /** Generations in a day (UTC) of one address by visitors who are no customers; failed ones not counted. */
  readonly addressGenerations?: number
  /** The same of all addresses. */
  readonly visitorGenerations?: number
  /**
   * Attempts for each generation of these limits: failed generations that a worker has started count as attempts, so that photos
   * that always fail do not keep workers busy without end.
   */
  readonly attemptsPerGeneration?: number
}

export const DEFAULT_ADDRESS_GENERATIONS = 30
export const DEFAULT_VISITOR_GENERATIONS = 1000
export const DEFAULT_ATTEMPTS = 3

/** What keeps a shop or its shopper from another generation. */
export const SHOP_STATES = ['open', 'unpaid', 'spent', 'waiting', 'address', 'visitors'] as const
export type ShopState = (typeof SHOP_STATES)[number]

/** Whether the plan of a row of `shops` allows generations now. */
export const isPaid = sql.fragment`(billing_allowed and (plan_ends_at is null or plan_ends_at > now()))`

/** Generations that a row of `shops` has left in its calendar month (UTC); null knows no limit. */
export const roomOfShop = sql.fragment`
        case when monthly_generations is not null
          then monthly_generations - count_of_shop(shops.id, date_trunc('month', now(), 'UTC')) end`

/**
 * Parts of the statement that accepts calls of one shop, or of none. `rooms`: `shop` (is_paid, room) and, of a shop, `shopper`
 * (id, room) of each `call`, counted after `account` was locked. `possible`: of the calls in `possible`, those that their
 * shoppers may have. `state`: what keeps the shop or the shopper of a `call` from another one, besides those in `allowed`.
 */
export function shopLimits(shop: ShopCall | undefined) {
  if (!shop)
    return {
      rooms: sql.fragment`shop as (select true as is_paid, null::bigint as room)`,
      possible: sql.fragment`possible`,
      state: sql.fragment`'open'`,
    }
  const {
    addressGenerations = DEFAULT_ADDRESS_GENERATIONS,
    visitorGenerations = DEFAULT_VISITOR_GENERATIONS,
    attemptsPerGeneration = DEFAULT_ATTEMPTS,
  } = shop
  /** Generations with a result, and attempts. */
  const limitsOf = (generations: number) =>
    sql.fragment`${generations}::bigint, ${generations}::bigint * ${attemptsPerGeneration}`
  return {
    rooms: sql.fragment`shop as (
      select ${isPaid} as is_paid, ${roomOfShop} as room
      from account join shops on shops.account_id = account.id where shops.id = ${shop.id}
    ), shopper as (
      select named.id, room_of_shopper(account.id, ${shop.id}, named.id, date_trunc('week', now(), 'UTC'),
        ${limitsOf(shop.weeklyGenerations)}) as room
      from account cross join (select distinct external_user_id as id from call) as named
    ), address as (
      select named.hash, room_of_address(${shop.id}, named.hash, date_trunc('day', now(), 'UTC'),
        ${limitsOf(addressGenerations)}) as room
      from account cross join (select distinct visitor_address as hash from call where visitor_address is not null) as named
    ), visitors as (
      select room_of_visitors(${shop.id}, date_trunc('day', now(), 'UTC'), ${limitsOf(visitorGenerations)}) as room
      from account
    )`,
    // Each limit counts only the calls that the one before it lets through.
    possible: sql.fragment`(
        select by_address.*, count(by_address.visitor_address) over (order by by_address.place) as turn_of_visitor from (
          select by_shopper.*, row_number() over (partition by visitor_address order by place) as turn_of_address from (
            select possible.*, row_number() over (partition by external_user_id order by place) as turn_of_shopper
            from possible
          ) as by_shopper join shopper on shopper.id = by_shopper.external_user_id and turn_of_shopper <= shopper.room
        ) as by_address left join address on address.hash = by_address.visitor_address
        where by_address.visitor_address is null or turn_of_address <= address.room
      ) as possible join visitors on possible.visitor_address is null or turn_of_visitor <= visitors.room`,
    state: sql.fragment`coalesce((
        select case when not is_paid then 'unpaid' when room <= (select count(*) from allowed) then 'spent'
          when (select room from shopper where shopper.id = call.external_user_id)
            <= (select count(*) from allowed where allowed.external_user_id = call.external_user_id) then 'waiting'
          when (select room from address where address.hash = call.visitor_address)
            <= (select count(*) from allowed where allowed.visitor_address = call.visitor_address) then 'address'
          when call.visitor_address is not null
            and (select room from visitors) <= (select count(allowed.visitor_address) from allowed) then 'visitors'
          else 'open' end
        from shop), 'unpaid')`,
  }
}

/** Whether a row of `images` came from a shopper of the shop; without a shop any will do. */
export function isOfShop(shop: ShopCall | undefined) {
  if (!shop) return sql.fragment`true`
  return sql.fragment`coalesce(starts_with(images.external_user_id, ${`${shop.id}:`}), false)`
}

export function shopRefusal(state: Exclude<ShopState, 'open'>): DrapeError {
  switch (state) {
    case 'unpaid':
      return new DrapeError('BILLING_NOT_ALLOWED', 'The plan of the shop does not include try-ons at the moment.')
    case 'spent':
      return new DrapeError('QUOTA_EXCEEDED', 'The shop has reached its monthly number of try-ons.')
    case 'waiting':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'You have reached the number of try-ons of a week, or of failed ones. Try again next week.',
        { details: { period: 'week' } },
      )
    case 'address':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'Your network has reached the number of try-ons of a day, or of failed ones. Sign in to the shop, or try again tomorrow.',
        { details: { period: 'day' } },
      )
    case 'visitors':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'The visitors of the shop have reached the number of try-ons of a day, or of failed ones. Sign in to the shop, or try again tomorrow.',
        { details: { period: 'day' } },
      )
  }
}
