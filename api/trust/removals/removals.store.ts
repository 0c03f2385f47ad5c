import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { createListing } from '../../shared/database/listing.ts'

export const REMOVAL_STATES = ['OPEN', 'ERASING', 'ERASED', 'DECLINED'] as const

const RemovalRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  reason: Type.String(),
  hashes: Type.Array(Type.String()),
  state: Type.Enum([...REMOVAL_STATES]),
  /** Why an operator declined. */
  answer: Nullable(Type.String()),
  createdAt: Timestamp,
  dueAt: Timestamp,
  decidedAt: Nullable(Timestamp),
  isOverdue: Type.Boolean(),
})
export type Removal = Static<typeof RemovalRow>
export type RemovalState = Removal['state']

const StateRow = Type.Object({
  state: Type.Enum([...REMOVAL_STATES]),
  answer: Nullable(Type.String()),
  createdAt: Timestamp,
  dueAt: Timestamp,
  decidedAt: Nullable(Timestamp),
})
export type RemovalStatus = Static<typeof StateRow>

const DueRow = Type.Object({ id: Type.String(), accounts: Type.Array(Type.String()) })
export type DueRemoval = Static<typeof DueRow>

const ErasureRow = rowType(Type.Object({ accountId: Type.String(), erasureId: Nullable(Type.String()) }))
const Id = rowType(Type.Object({ id: Type.String() }))

const columns = sql.fragment`id, email, reason, hashes, state, answer, created_at as "createdAt", due_at as "dueAt",
  decided_at as "decidedAt", state in ('OPEN', 'ERASING') and due_at < now() as "isOverdue"`

export type Removals = ReturnType<typeof createRemovals>

/** Requests to remove images, from the form to the erasure. */
export function createRemovals(database: Database) {
  return {
    /** Stores a request. The same form sent again is the same request; false when it has other contents now. */
    insert: async (request: {
      id: string
      /** SHA-256 of the reference number, in hex. */
      reference: string
      email: string
      reason: string
      hashes: readonly string[]
    }): Promise<boolean> => {
      const hashes = sql.array([...request.hashes], 'text')
      const row = await database.maybeOne(sql.type(Id)`
        insert into removal_requests as known (id, reference, email, reason, hashes)
        values (${request.id}, decode(${request.reference}, 'hex'), ${request.email}, ${request.reason}, ${hashes})
        on conflict (reference) do update set email = known.email
          where known.email = excluded.email and known.reason = excluded.reason
            and (known.hashes = excluded.hashes or known.state <> 'OPEN')
        returning id`)
      return row !== null
    },

    /** The state of a request, by the SHA-256 of its reference number. */
    findState: (reference: string): Promise<RemovalStatus | null> =>
      database.maybeOne(sql.type(rowType(StateRow))`
        select state, answer, created_at as "createdAt", due_at as "dueAt", decided_at as "decidedAt"
        from removal_requests where reference = decode(${reference}, 'hex')`),

    /** Undecided requests first, earliest due date first; then decided requests, newest decision first. */
    listing: createListing(database, {
      row: RemovalRow,
      rows: sql.fragment`select ${columns} from removal_requests`,
      // Viewers, who may not read a request, search the list.
      texts: ['id'],
      order: sql.fragment`state not in ('OPEN', 'ERASING'), case when state in ('OPEN', 'ERASING') then "dueAt" end, "decidedAt" desc, id`,
    }),

    find: (id: string): Promise<Removal | null> =>
      database.maybeOne(sql.type(rowType(RemovalRow))`select ${columns} from removal_requests where id = ${id}`),

    /** Erasures of a request; without an ID while they wait. */
    findErasures: (id: string) =>
      database.any(sql.type(ErasureRow)`
        select account_id as "accountId", erasure_id as "erasureId" from removal_erasures where request_id = ${id} order by 1`),

    /** Declines an open request; false when it was decided before. */
    decline: async (id: string, answer: string): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update removal_requests set state = 'DECLINED', answer = ${answer}, decided_at = now_ms(), hashes = '{}'
        where id = ${id} and state = 'OPEN'`)
      return rowCount > 0
    },

    /** Claims requests whose images are to be erased, for the time of the lease. */
    claimErasing: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly DueRemoval[]> =>
      database.any(sql.type(rowType(DueRow))`
        update removal_requests set check_at = now() + make_interval(secs => ${leaseSeconds})
        where id in (
          select id from removal_requests where state = 'ERASING' and check_at <= now()
          order by check_at limit ${limit} for update skip locked)
        returning id, array(select account_id from removal_erasures where request_id = id and erasure_id is null) as accounts`),

    noteErasure: async (
      id: string,
      { accountId, erasureId }: { accountId: string; erasureId: string },
    ): Promise<void> => {
      await database.query(sql.unsafe`
        update removal_erasures set erasure_id = ${erasureId} where request_id = ${id} and account_id = ${accountId}`)
    },

    /** Ends the request when no account has images of it any more. A request with hashes has further candidates and is open again. */
    finish: async (id: string): Promise<void> => {
      await database.query(sql.unsafe`
        update removal_requests set state = case when hashes = '{}' then 'ERASED' else 'OPEN' end,
          decided_at = case when hashes = '{}' then decided_at end
        where id = ${id} and state = 'ERASING'
          and not exists (select from removal_erasures where request_id = ${id} and erasure_id is null)`)
    },
  }
}
