import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'
import { type Customer, isOf } from '../shared/retention/customer.ts'
import { IN_FLIGHT_MINUTES } from '../shared/retention/customer-images.ts'
import { insertDeliveries } from '../webhooks/webhook-outbox.store.ts'
import { insertApplied } from './applied-erasures.store.ts'

/** Confirmations that a receipt requires, in order. */
export const CONFIRMATIONS = ['erasure', 'workers', 'caches', 'uploads', 'storage', 'erasureLog'] as const
export type Confirmation = (typeof CONFIRMATIONS)[number]

const ErasureRow = Type.Object({
  id: Type.String(),
  waitsFor: Type.Enum([...CONFIRMATIONS]),
  requestedAt: Timestamp,
  erasedAt: Nullable(Timestamp),
  issuedAt: Nullable(Timestamp),
  receipt: Json,
  /** SHA-256 of the erased objects, one after another, as hex. */
  leaves: Nullable(Type.String()),
})
export type ErasureRecord = Static<typeof ErasureRow>

const ListedRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  accountName: Type.String(),
  waitsFor: Type.Enum([...CONFIRMATIONS]),
  /** When it was requested. */
  createdAt: Timestamp,
  erasedAt: Nullable(Timestamp),
  issuedAt: Nullable(Timestamp),
})
export type ListedErasure = Static<typeof ListedRow>

const DueRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  customer: Type.String(),
  logKey: Nullable(Type.String()),
  requestedAt: Timestamp,
  erasedAt: Timestamp,
  /** Changes whenever the erasure deletes something. */
  edition: Type.String(),
  cachedSeconds: Type.Number(),
  /** Current time by the database's clock. */
  checkedAt: Timestamp,
  heldObjects: Type.Integer(),
})
/** An erasure whose deletions are complete according to the database. */
export type DueErasure = Static<typeof DueRow>

const ErasureId = rowType(Type.Object({ id: Type.String() }))
const JobRow = rowType(Type.Object({ id: Type.String(), attempt: Type.Integer() }))
const SumRow = rowType(Type.Object({ name: Type.String(), count: Type.Integer() }))
const Count = rowType(Type.Object({ count: Type.Integer() }))
const ObjectRow = Type.Object({ key: Type.String(), kind: Type.String(), bytes: Nullable(Type.Integer()) })
export type ErasedObject = Static<typeof ObjectRow>
const Seconds = rowType(Type.Object({ seconds: Type.Number() }))
const Age = rowType(Type.Object({ seconds: Nullable(Type.Number()) }))

/** Longest lifetime of a signed link in the memory of the API. */
export const CACHE_SECONDS = 60
/** Longest window of a rate limit that counts a shopper by name. */
const SHOPPER_COUNTER_SECONDS = 300

export type Erasures = ReturnType<typeof createErasures>

/** Erasures of end users, from the call that has deleted everything to the receipt. */
export function createErasures(database: Database) {
  return {
    /** Records the entry of the erasure log that belongs to the customer's erasure. */
    noteLogged: async ({ accountId, externalUserId }: Customer, logKey: string): Promise<void> =>
      database.transaction(async (transaction) => {
        const id = await transaction.oneFirst(
          sql.type(ErasureId)`select open_erasure(${accountId}, ${externalUserId}) as id`,
        )
        await transaction.query(sql.unsafe`update erasures set log_key = ${logKey} where id = ${id}`)
      }),

    /**
     * Notes that nothing of the customer is found any more, and that these entries of the erasure log are applied. Returns the id of the erasure, whose receipt now waits for confirmations.
     */
    finish: (customer: Customer, logKeys: readonly string[]): Promise<string> =>
      database.transaction(async (transaction) => {
        const { accountId, externalUserId } = customer
        const id = await transaction.oneFirst(
          sql.type(ErasureId)`select open_erasure(${accountId}, ${externalUserId}) as id`,
        )
        const seconds = sql.fragment`case when exists (
          select from shops where account_id = ${accountId})
          then ${SHOPPER_COUNTER_SECONDS}::int else ${CACHE_SECONDS}::int end`
        await transaction.query(sql.unsafe`
          update erasures
          set erased_at = clock_timestamp(), cached_until = clock_timestamp() + make_interval(secs => ${seconds}),
            check_at = clock_timestamp(), waits_for = 'workers',
            held_objects = (select count(*) from objects where ${isOf(customer)} and starts_with(key, 'held/'))
          where erasures.id = ${id}`)
        // Only now: a backup made during the erasure must not contain the entry.
        if (logKeys.length > 0) await insertApplied(transaction, logKeys)
        return id
      }),

    /** An erasure of the account; null for those of others. */
    find: ({ accountId, id }: { accountId: string; id: string }): Promise<ErasureRecord | null> =>
      database.maybeOne(sql.type(rowType(ErasureRow))`
        select id, waits_for as "waitsFor", requested_at as "requestedAt", erased_at as "erasedAt", issued_at as "issuedAt", receipt,
          encode(leaves, 'hex') as leaves
        from erasures where id = ${id} and account_id = ${accountId}`),

    listing: createListing(database, {
      row: ListedRow,
      rows: sql.fragment`
        select erasures.id, account_id as "accountId", accounts.name as "accountName", waits_for as "waitsFor",
          requested_at as "createdAt", erased_at as "erasedAt", issued_at as "issuedAt"
        from erasures join accounts on accounts.id = account_id`,
      texts: ['id', 'accountName'],
      order: sql.fragment`"createdAt" desc, id`,
    }),

    /** Seconds since the oldest erasure without a receipt was requested; null when there is none. */
    measureOldest: (): Promise<number | null> =>
      database.oneFirst(sql.type(Age)`
        select extract(epoch from now() - min(requested_at))::float8 as seconds from erasures where issued_at is null`),

    ...createConfirming(database),
    ...createIssuing(database),
  }
}

/** Confirmations that an erasure needs before its receipt. */
function createConfirming(database: Database) {
  return {
    /** Claims erasures that are due for a check, for the time of the lease. */
    claimDue: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly DueErasure[]> =>
      database.any(sql.type(rowType(DueRow))`
        update erasures set check_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
        where id in (
          select id from erasures where issued_at is null and erased_at is not null and check_at <= clock_timestamp()
          order by check_at limit ${limit} for update skip locked)
        returning id, account_id as "accountId", encode(customer, 'hex') as customer, log_key as "logKey",
          requested_at as "requestedAt", erased_at as "erasedAt", erased_at::text as edition,
          clock_timestamp() as "checkedAt", greatest(0, extract(epoch from cached_until - clock_timestamp()))::float8 as "cachedSeconds",
          held_objects as "heldObjects"`),

    /** Schedules the next check in this many seconds. */
    postpone: async (id: string, { waitsFor, seconds }: { waitsFor: Confirmation; seconds: number }): Promise<void> => {
      await database.query(sql.unsafe`
        update erasures set waits_for = ${waitsFor}, check_at = clock_timestamp() + make_interval(secs => ${seconds})
        where id = ${id} and issued_at is null and erased_at is not null`)
    },

    /** Cancelled attempts of the erasure. */
    findJobs: (id: string) =>
      database.any(sql.type(JobRow)`
        select generation_id as id, attempt from erased_jobs where erasure_id = ${id} order by 1, 2`),

    /** Seconds until no bytes of the erased objects can be on their way any more; 0 when none can be. */
    findArrivalSeconds: (id: string): Promise<number> =>
      database.oneFirst(sql.type(Seconds)`
        select greatest(0, coalesce(max(
          extract(epoch from created_at + make_interval(mins => ${IN_FLIGHT_MINUTES}) - clock_timestamp())), 0))::float8 as seconds
        from erased_objects join objects on objects.key = erased_objects.key
        where erasure_id = ${id}`),

    /** Makes erased objects that the storage still has due now, so that a sweep deletes them unless a legal hold keeps them. */
    expireAgain: async (id: string, keys: readonly string[]): Promise<void> => {
      await database.query(sql.unsafe`
        insert into objects (key, account_id, kind, bytes, expires_at)
        select key, account_id, kind, bytes, now() from erased_objects join erasures on erasures.id = erasure_id
        where erasure_id = ${id} and key = any(${sql.array([...keys], 'text')})
        on conflict (key) do update set expires_at = least(objects.expires_at, excluded.expires_at)`)
    },

    /** Erased objects with keys after this one, in the order of their keys. */
    findObjects: (id: string, { after, limit }: { after: string; limit: number }): Promise<readonly ErasedObject[]> =>
      database.any(sql.type(rowType(ObjectRow))`
        select key, kind, bytes from erased_objects
        where erasure_id = ${id} and key collate "C" > ${after} order by key collate "C" limit ${limit}`),

    /** Webhooks that still name the customer. */
    countWebhooks: (id: string): Promise<number> =>
      database.oneFirst(sql.type(Count)`
        select count(*) as count from webhook_deliveries
        where event_id = 'evt_' || substr(${id}, 5) and type = 'customer.erased' and data is not null`),

    /** Deleted or unlinked rows, by table. */
    sumRows: async (id: string): Promise<Readonly<Record<string, number>>> => {
      const rows = await database.any(sql.type(SumRow)`
        select name, sum(count)::int as count from erased_rows where erasure_id = ${id} group by name order by name`)
      return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
    },
  }
}

/** Issues the receipt of an erasure. */
function createIssuing(database: Database) {
  return {
    /**
     * Stores the receipt, deletes the list of erased objects, and queues the webhook; false if the erasure has changed since this
     * edition.
     */
    issue: (
      { id, edition, checkedAt }: DueErasure,
      { receipt, leaves }: { receipt: object; leaves: string },
    ): Promise<boolean> =>
      database.transaction(async (transaction) => {
        const { rowCount } = await transaction.query(sql.unsafe`
          with issued as (
            update erasures set issued_at = ${checkedAt.toISOString()}, receipt = ${sql.jsonb(receipt as never)}, leaves = decode(${leaves}, 'hex')
            where id = ${id} and issued_at is null and erased_at::text = ${edition}
            returning id, account_id
          ), notified as (${insertDeliveries(sql.fragment`
            select account_id, 'evt_' || gen_random_uuid() as id, 'erasure.confirmed' as type, now_ms() as happened_at,
              jsonb_build_object('erasureId', id) as data
            from issued`)})
          select from issued`)
        if (rowCount === 0) return false
        for (const table of ['erased_objects', 'erased_rows', 'erased_jobs'])
          await transaction.query(sql.unsafe`delete from ${sql.identifier([table])} where erasure_id = ${id}`)
        return true
      }),
  }
}
