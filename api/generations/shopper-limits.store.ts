import { DrapeError } from '../shared/contract/errors.ts'
import { sql } from '../shared/database/database.ts'
import { DEFAULT_ADDRESS_GENERATIONS, DEFAULT_VISITOR_GENERATIONS } from '../shops/shop-settings.ts'

// SQL fragments of the statement that accepts a shopper's generation, and of the statement that checks whether it would
// be accepted. Both count in Postgres, so that limits survive a loss of Redis data.

/** Shop of a call, and the limits of each of its shoppers. */
export interface ShopCall {
  readonly id: string
  /** Generations per shopper and ISO week (UTC), without failed ones. */
  readonly weeklyGenerations: number
  /** Generations per network address and day (UTC) by visitors who are not customers, without failed ones. */
  readonly addressGenerations?: number
  /** Generations per day (UTC) by all visitors who are not customers, without failed ones. */
  readonly visitorGenerations?: number
}

/**
 * Attempts per allowed generation. A failed generation that a worker started, or that was cancelled, counts as an attempt, so that
 * photos that always fail cannot occupy workers indefinitely.
 */
const ATTEMPTS_PER_GENERATION = 3

/** Reasons why a shop or its shopper gets no further generation; `open`: no reason. */
export const SHOP_STATES = ['open', 'unpaid', 'spent', 'waiting', 'address', 'visitors'] as const
export type ShopState = (typeof SHOP_STATES)[number]

/** Whether the plan of a row of `shops` allows generations now. */
export const isPaid = sql.fragment`(billing_allowed and (plan_ends_at is null or plan_ends_at > now()))`

/** Generations that a row of `shops` has left in its calendar month (UTC); null: unlimited. */
export const roomOfShop = sql.fragment`
        case when monthly_generations is not null
          then monthly_generations - count_of_shop(shops.id, date_trunc('month', now(), 'UTC')) end`

/**
 * SQL fragments for calls of one shop, or of none. `rooms`: CTEs `shop` (is_paid, room, safety_level, allows_swimwear) and, with a shop, `shopper`
 * (hash, room) of each `call`, counted after `account` was locked. `possible`: the calls of `possible` that the limits of
 * their shoppers allow. `state`: the reason that refuses a further `call`, given the calls in `allowed`.
 */
export function shopLimits(shop: ShopCall | undefined) {
  if (!shop)
    return {
      rooms: sql.fragment`shop as (
        select true as is_paid, null::bigint as room, null::text as safety_level, null::boolean as allows_swimwear)`,
      possible: sql.fragment`possible`,
      state: sql.fragment`'open'`,
    }
  const { addressGenerations = DEFAULT_ADDRESS_GENERATIONS, visitorGenerations = DEFAULT_VISITOR_GENERATIONS } = shop
  /** Limits of results and of attempts. */
  const limitsOf = (generations: number) =>
    sql.fragment`${generations}::bigint, ${generations}::bigint * ${ATTEMPTS_PER_GENERATION}`
  return {
    rooms: sql.fragment`shop as (
      select ${isPaid} as is_paid, ${roomOfShop} as room, safety_level, allows_swimwear
      from account join shops on shops.account_id = account.id where shops.id = ${shop.id}
    ), shopper as (
      select named.hash, room_of_shopper(${shop.id}, named.hash, date_trunc('week', now(), 'UTC'),
        ${limitsOf(shop.weeklyGenerations)}) as room
      from account cross join (select distinct shopper_hash as hash from call) as named
    ), address as (
      select named.hash, room_of_address(${shop.id}, named.hash, date_trunc('day', now(), 'UTC'),
        ${limitsOf(addressGenerations)}) as room
      from account cross join (select distinct visitor_address as hash from call where visitor_address is not null) as named
    ), visitors as (
      select room_of_visitors(${shop.id}, date_trunc('day', now(), 'UTC'), ${limitsOf(visitorGenerations)}) as room
      from account
    )`,
    // Each limit counts only the calls that passed the limit before it.
    possible: sql.fragment`(
        select by_address.*, count(by_address.visitor_address) over (order by by_address.place) as turn_of_visitor from (
          select by_shopper.*, row_number() over (partition by visitor_address order by place) as turn_of_address from (
            select possible.*, row_number() over (partition by shopper_hash order by place) as turn_of_shopper
            from possible
          ) as by_shopper join shopper on shopper.hash = by_shopper.shopper_hash and turn_of_shopper <= shopper.room
        ) as by_address left join address on address.hash = by_address.visitor_address
        where by_address.visitor_address is null or turn_of_address <= address.room
      ) as possible join visitors on possible.visitor_address is null or turn_of_visitor <= visitors.room`,
    state: sql.fragment`coalesce((
        select case when not is_paid then 'unpaid' when room <= (select count(*) from allowed) then 'spent'
          when (select room from shopper where shopper.hash = call.shopper_hash)
            <= (select count(*) from allowed where allowed.shopper_hash = call.shopper_hash) then 'waiting'
          when (select room from address where address.hash = call.visitor_address)
            <= (select count(*) from allowed where allowed.visitor_address = call.visitor_address) then 'address'
          when call.visitor_address is not null
            and (select room from visitors) <= (select count(allowed.visitor_address) from allowed) then 'visitors'
          else 'open' end
        from shop), 'unpaid')`,
  }
}

export function shopRefusal(state: Exclude<ShopState, 'open'>): DrapeError {
  switch (state) {
    case 'unpaid':
      return new DrapeError('BILLING_NOT_ALLOWED', 'The plan of the shop does not include try-ons.')
    case 'spent':
      return new DrapeError('QUOTA_EXCEEDED', 'The shop has reached its monthly limit of try-ons.')
    case 'waiting':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'You have reached the weekly limit of try-ons or of failed try-ons. Try again next week.',
        { details: { period: 'week' } },
      )
    case 'address':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'Your network has reached the daily limit of try-ons or of failed try-ons. Sign in to the shop, or try again tomorrow.',
        { details: { period: 'day' } },
      )
    case 'visitors':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'The visitors of the shop have reached the daily limit of try-ons or of failed try-ons. Sign in to the shop, or try again tomorrow.',
        { details: { period: 'day' } },
      )
  }
}
