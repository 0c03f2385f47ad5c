import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { type ShopRecord, tokenPlace } from '../../shops/shops.store.ts'

const AccessRow = rowType(Type.Object({ stored: Type.String() }))
const DueRow = Type.Object({ id: Type.String(), until: Timestamp })
/** A shop whose token this process renews until then. */
export type DueToken = Static<typeof DueRow>
const AgeRow = rowType(Type.Object({ seconds: Nullable(Type.Number()) }))

export interface AccessToken {
  readonly token: string
  readonly stored: string
}

/** Tokens that a platform gave. */
export interface ObtainedToken {
  readonly accessToken: string
  readonly seconds: number
  /** Replaces the refresh token with which it was obtained; null without one. */
  readonly refreshToken: string | null
}

/** Renewed when a tenth of the lifetime is left. */
const RENEWED_AFTER = 0.9
/** Time of the next attempt after a failure: the longer the platform has refused the token, the later. */
const retryAt = sql.fragment`
  now_ms() + least(greatest((now() - admin_refused_at) / 5, interval '1 minute'), interval '1 hour')`

export type ShopTokens = ReturnType<typeof createShopTokens>

/** Store of the tokens that end and are obtained again, and of the refusals of tokens. */
export function createShopTokens(database: Database) {
  // After a change of the settings, or in another process after the lease, the outcome of an earlier attempt is void.
  const isStill = ({ id, until }: DueToken) =>
    sql.fragment`id = ${id} and admin_renew_at = ${until.toISOString()}::timestamptz`

  // Of an operator without a client ID, else obtained.
  const current = sql.fragment`case when admin_client_id is null then admin_token else admin_access_token end`

  return {
    /** The token for the API at the URL of this record, opened and as it is stored; null while there is none that is valid. */
    find: async ({ id, adminUrl, adminClientId }: ShopRecord): Promise<AccessToken | null> => {
      const row = await database.maybeOne(sql.type(AccessRow)`
        select ${current} as stored from shops
        where id = ${id} and ${current} is not null and (admin_client_id is null or admin_access_ends_at > now())
          and admin_url is not distinct from ${adminUrl} and admin_client_id is not distinct from ${adminClientId}`)
      if (row === null) return null
      const { stored } = row
      const place = tokenPlace(id, adminClientId === null ? 'admin_token' : 'admin_access_token')
      return { token: await database.secrets.open(stored, place), stored }
    },

    /** Claims the shops whose token must be renewed now. No other process receives them for `leaseSeconds`. */
    claimDue: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly DueToken[]> =>
      database.any(sql.type(rowType(DueRow))`
        update shops set admin_renew_at = now_ms() + make_interval(secs => ${leaseSeconds})
        where id in (
          select id from shops
          where platform = 'shopify' and is_active and admin_client_id is not null and admin_renew_at <= now()
          order by admin_renew_at limit ${limit} for no key update skip locked)
        returning id, admin_renew_at as until`),

    /**
     * Stores what the platform gave for a due token: in one statement, so that no refresh token is lost without its
     * successor. After a refusal by the API, only the API ends the mark.
     */
    keep: async (due: DueToken, { accessToken, seconds, refreshToken }: ObtainedToken): Promise<void> => {
      const access = await database.secrets.seal(accessToken, tokenPlace(due.id, 'admin_access_token'))
      const refresh = refreshToken && (await database.secrets.seal(refreshToken, tokenPlace(due.id)))
      await database.query(sql.unsafe`
        update shops set admin_access_token = ${access}, admin_token = coalesce(${refresh}, admin_token),
          admin_access_ends_at = now() + make_interval(secs => ${seconds}),
          admin_refused_at = case when admin_access_token is null then admin_refused_at end,
          admin_renew_at = now_ms() + make_interval(secs => ${seconds * RENEWED_AFTER})
        where ${isStill(due)}`)
    },

    /** Makes a due token due again later. A token that has not ended remains in use. */
    retryLater: async (due: DueToken, { isRefused }: { isRefused: boolean }): Promise<void> => {
      await database.query(sql.unsafe`
        update shops set admin_renew_at = ${retryAt},
          admin_refused_at = case when ${isRefused} then coalesce(admin_refused_at, now_ms()) else admin_refused_at end
        where ${isStill(due)}`)
    },

    /** The platform's API refused this token: marks it. It is obtained again, at once if the mark is new. */
    refuse: async ({ id }: ShopRecord, { stored }: AccessToken): Promise<void> => {
      await database.query(sql.unsafe`
        update shops set admin_access_token = null, admin_refused_at = coalesce(admin_refused_at, now_ms()),
          admin_renew_at = least(admin_renew_at, case when admin_refused_at is null then now_ms() else ${retryAt} end)
        where id = ${id} and ${current} = ${stored}`)
    },

    /** The platform's API accepts this token: ends the mark. */
    accept: async ({ id }: ShopRecord, { stored }: AccessToken): Promise<void> => {
      await database.query(
        sql.unsafe`update shops set admin_refused_at = null where id = ${id} and ${current} = ${stored}`,
      )
    },

    /** Seconds since the longest refusal of an active shop's token; null when there is none. */
    measureRefused: async (): Promise<number | null> =>
      (
        await database.one(sql.type(AgeRow)`
          select extract(epoch from now() - min(admin_refused_at))::float8 as seconds from shops
          where is_active and platform = 'shopify'`)
      ).seconds,
  }
}
