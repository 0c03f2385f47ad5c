import { type Database, rowType, sql } from '../database/database.ts'
import { Type } from '../schema.ts'

/** A request that its caller has named. */
export interface KeyedRequest {
  readonly accountId: string
  readonly route: string
  readonly key: string
}

/** What the holder of a claim shows when it changes it. */
export interface Claim {
  readonly resourceId: string
  readonly attempt: number
}

export interface StoredAnswer {
  readonly status: number
  /** JSON. */
  readonly answer: string
}

/**
 * `claimed`: this request is the one that does the work; `resumed` when an earlier one may have begun it. `answered`: the first
 * answer is known. `running`: another request has it in hand. `reused`: the key belongs to a different request.
 */
export type Claiming =
  | (Claim & { readonly state: 'claimed'; readonly resumed: boolean })
  | (StoredAnswer & { readonly state: 'answered' })
  | { readonly state: 'running' }
  | { readonly state: 'reused' }

/** A claim that was not renewed for so long is free for the next request. */
export const CLAIM_SECONDS = 6
const KEPT_HOURS = 24

const Row = Type.Object({
  claimed: Type.Boolean(),
  same: Type.Boolean(),
  resourceId: Type.String(),
  attempt: Type.Integer(),
  status: Type.Union([Type.Integer(), Type.Null()]),
  answer: Type.Union([Type.String(), Type.Null()]),
})
const Answer = rowType(Type.Object({ status: Type.Integer(), answer: Type.String() }))

const lease = sql.fragment`now() + make_interval(secs => ${CLAIM_SECONDS})`
const isOld = sql.fragment`known.created_at <= now() - make_interval(hours => ${KEPT_HOURS})`
const isHeld = ({ resourceId, attempt }: Claim) =>
  sql.fragment`resource_id = ${resourceId} and attempt = ${attempt} and status is null`

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>

/** Requests with an Idempotency-Key, each kept for 24 hours. */
export function createIdempotencyKeys(database: Database) {
  return {
    /**
     * Takes the request in hand unless another process has it or it is answered. A process that takes it over from one that died gets the
     * resource id of the first, so that both create the same.
     */
    claim: async (
      { accountId, route, key }: KeyedRequest,
      { fingerprint, resourceId }: { fingerprint: Buffer; resourceId: string },
    ): Promise<Claiming> => {
      const row = await database.maybeOne(sql.type(rowType(Row))`
        with claimed as (
          insert into idempotency_keys as known (account_id, route, key, fingerprint, resource_id, lease_until)
          values (${accountId}, ${route}, ${key}, ${sql.binary(fingerprint)}, ${resourceId}, ${lease})
          on conflict (account_id, route, key) do update set
            resource_id = case when ${isOld} then excluded.resource_id else known.resource_id end,
            created_at = case when ${isOld} then now() else known.created_at end,
            attempt = known.attempt + 1, fingerprint = excluded.fingerprint, lease_until = excluded.lease_until,
            status = null, answer = null
          where ${isOld}
            or known.status is null and known.lease_until <= now() and known.fingerprint = excluded.fingerprint
          returning *
        )
        select true as claimed, true as same, resource_id as "resourceId", attempt, status, answer from claimed
        union all
        select false, fingerprint = ${sql.binary(fingerprint)}, resource_id, attempt, status, answer
        from idempotency_keys
        where account_id = ${accountId} and route = ${route} and key = ${key} and not exists (select from claimed)`)
      // Without a row another request took it since this statement began.
      if (!row) return { state: 'running' }
      if (row.claimed) return { state: 'claimed', resumed: row.resourceId !== resourceId, ...row }
      if (!row.same) return { state: 'reused' }
      const { status, answer } = row
      return status === null || answer === null ? { state: 'running' } : { state: 'answered', status, answer }
    },

    /** Keeps a claim in hand. */
    renew: async (claim: Claim): Promise<void> => {
      await database.query(sql.unsafe`update idempotency_keys set lease_until = ${lease} where ${isHeld(claim)}`)
    },

    /** Stores the first answer and returns it: the one given here, unless another try of the request was faster. */
    answer: (claim: Claim, { status, answer }: StoredAnswer): Promise<StoredAnswer | null> =>
      database.maybeOne(sql.type(Answer)`
        update idempotency_keys set status = coalesce(status, ${status}), answer = coalesce(answer, ${answer})
        where resource_id = ${claim.resourceId}
        returning status, answer`),

    /** Forgets the request. */
    delete: async (claim: Claim): Promise<void> => {
      await database.query(sql.unsafe`delete from idempotency_keys where ${isHeld(claim)}`)
    },

    /** Releases the request for the next caller, under the same resource id. */
    release: async (claim: Claim): Promise<void> => {
      await database.query(sql.unsafe`update idempotency_keys set lease_until = now() where ${isHeld(claim)}`)
    },

    /** Deletes keys that are past their time; several may do so at once. Returns how many. */
    deleteOld: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from idempotency_keys where (account_id, route, key) in (
          select account_id, route, key from idempotency_keys as known where ${isOld}
          order by created_at limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
