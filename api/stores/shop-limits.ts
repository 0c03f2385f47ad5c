import { sql } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'

// Parts of the statement that accepts a shopper's generation, and of the one that tells whether it would. They count in Postgres
// alone: nothing that Redis forgets makes anybody's limit new.

/** The shop behind a call, and what each of its shoppers may have. */
export interface ShopCall {
  readonly id: string
  /** Generations of a shopper in an ISO week (UTC), failed ones not counted. */
  readonly weeklyGenerations: number
}

/** What keeps a shop or its shopper from another generation. */
export const SHOP_STATES = ['open', 'unpaid', 'spent', 'waiting'] as const
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
  return {
    rooms: sql.fragment`shop as (
      select ${isPaid} as is_paid, ${roomOfShop} as room
      from account join shops on shops.account_id = account.id where shops.id = ${shop.id}
    ), shopper as (
      select named.id, ${shop.weeklyGenerations} - count_of_shopper(account.id, ${shop.id}, named.id,
        date_trunc('week', now(), 'UTC')) as room
      from account cross join (select distinct external_user_id as id from call) as named
    )`,
    possible: sql.fragment`(
        select possible.*, row_number() over (partition by external_user_id order by place) as turn_of_shopper from possible
      ) as possible join shopper on shopper.id = possible.external_user_id and turn_of_shopper <= shopper.room`,
    state: sql.fragment`coalesce((
        select case when not is_paid then 'unpaid' when room <= (select count(*) from allowed) then 'spent'
          when (select room from shopper where shopper.id = call.external_user_id)
            <= (select count(*) from allowed where allowed.external_user_id = call.external_user_id) then 'waiting'
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
      return new DrapeError('BILLING_NOT_ALLOWED', 'The plan of the shop does not allow try-ons now.')
    case 'spent':
      return new DrapeError('QUOTA_EXCEEDED', 'The shop has reached its monthly number of try-ons.')
    case 'waiting':
      return new DrapeError(
        'RATE_LIMIT_EXCEEDED',
        'You have reached the number of try-ons of a week. Try again next week.',
      )
  }
}
