import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from './database.ts'

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly accountId: string
  readonly route: string
  readonly key: string
}

/** Identifies a claim and its holder. */
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
 * `claimed`: this request does the work; `resumed` when an earlier one may have started it. `answered`: the first
 * response is stored. `running`: another request is doing the work. `reused`: the key belongs to a different request.
 */
export type Claiming =
  | (Claim & { readonly state: 'claimed'; readonly resumed: boolean })
  | (StoredAnswer & { readonly state: 'answered' })
  | { readonly state: 'running' }
  | { readonly state: 'reused' }

/** Seconds without renewal after which the next request can take over a claim. */
export const CLAIM_SECONDS = 6
export const IDEMPOTENCY_HOURS = 24

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
const isOld = sql.fragment`known.created_at <= now() - make_interval(hours => ${IDEMPOTENCY_HOURS})`
const isHeld = ({ resourceId, attempt }: Claim) =>
  sql.fragment`resource_id = ${resourceId} and attempt = ${attempt} and status is null`

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>

/** Store of requests with an Idempotency-Key, each kept for 24 hours. */
export function createIdempotencyKeys(database: Database) {
  return {
    /**
     * Claims the request unless another process holds it or its response is stored. A process that takes over from a
     * dead one gets the same resource ID, so that both create the same resource.
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
      // No row: another request claimed it since this statement began.
      if (!row) return { state: 'running' }
      if (row.claimed) return { state: 'claimed', resumed: row.resourceId !== resourceId, ...row }
      if (!row.same) return { state: 'reused' }
      const { status, answer } = row
      return status === null || answer === null ? { state: 'running' } : { state: 'answered', status, answer }
    },

    /** Renews a claim. */
    renew: async (claim: Claim): Promise<void> => {
      await database.query(sql.unsafe`update idempotency_keys set lease_until = ${lease} where ${isHeld(claim)}`)
    },

    /** Stores the first response and returns it: this one, unless another attempt of the request was faster. */
    answer: (claim: Claim, { status, answer }: StoredAnswer): Promise<StoredAnswer | null> =>
      database.maybeOne(sql.type(Answer)`
        update idempotency_keys set status = coalesce(status, ${status}), answer = coalesce(answer, ${answer})
        where resource_id = ${claim.resourceId}
        returning status, answer`),

    /** Deletes the claim. */
    delete: async (claim: Claim): Promise<void> => {
      await database.query(sql.unsafe`delete from idempotency_keys where ${isHeld(claim)}`)
    },

    /** Releases the request for the next caller, with the same resource ID. */
    release: async (claim: Claim): Promise<void> => {
      await database.query(sql.unsafe`update idempotency_keys set lease_until = now() where ${isHeld(claim)}`)
    },
  }
}
