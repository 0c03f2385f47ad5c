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

/** Whether a row of `shops` has used up its calendar month (UTC). */
export const isSpent = sql.fragment`
  case when monthly_generations is null then false
    else count_of_shop(shops.id, date_trunc('month', now(), 'UTC')) >= monthly_generations end`

/** The state of the shop behind a call, from a locked row of `account`; a call without a shop is always open. */
export function shopState({ shop, externalUserId }: { shop?: ShopCall; externalUserId: string | null }) {
  if (!shop) return sql.fragment`'open'`
  return sql.fragment`coalesce((
        select case when not ${isPaid} then 'unpaid' when ${isSpent} then 'spent'
          when count_of_shopper(account.id, shops.id, ${externalUserId}, date_trunc('week', now(), 'UTC'))
            >= ${shop.weeklyGenerations} then 'waiting'
          else 'open' end
        from shops where shops.id = ${shop.id} and shops.account_id = account.id), 'unpaid')`
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
