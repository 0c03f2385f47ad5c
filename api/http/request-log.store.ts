import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'

/** Maximum stored entries per account; refused requests have a separate limit of the same size. */
const MAX_LOGGED = 10_000

const EntryRow = Type.Object({
  method: Type.String(),
  /** The template, without values: `/tryon/v1/generations/{id}`. */
  route: Type.String(),
  status: Type.Integer(),
  errorCode: Nullable(Type.String()),
  keyLastFour: Nullable(Type.String()),
  durationMs: Type.Integer(),
  requestId: Type.String(),
  createdAt: Timestamp,
})
export type LoggedRequest = Static<typeof EntryRow>

export type RequestEntry = LoggedRequest & { readonly accountId: string }

const ListedRow = Type.Object({
  ...EntryRow.properties,
  /** Callers can choose the ID of a request: it is not unique. IDs sort by time. */
  id: Type.String(),
  /** 2 for statuses from 200 to 299. */
  statusClass: Type.Integer(),
})
export type ListedRequest = Static<typeof ListedRow>

/** An account and its test account. */
const own = (accountId: string) =>
  sql.fragment`(select id from accounts where id = ${accountId} or test_of = ${accountId})`

const Route = rowType(Type.Object({ route: Type.String() }))

export type RequestLog = ReturnType<typeof createRequestLog>

/** The latest requests of each account. */
export function createRequestLog(database: Database, { maxEntries = MAX_LOGGED } = {}) {
  return {
    /** Writes entries in one statement. Skips entries of deleted accounts and entries beyond `maxEntries` of an account. */
    insert: async (entries: readonly RequestEntry[]): Promise<void> => {
      const rows = entries.map(({ createdAt, ...entry }) => ({ ...entry, createdAt: createdAt.toISOString() }))
      await database.query(sql.unsafe`
        with sent as (
          select *, status >= 400 as is_refused,
            row_number() over (partition by "accountId", status >= 400 order by "createdAt" desc) as place
          from jsonb_to_recordset(${sql.jsonb(rows)}) as sent ("accountId" text, method text, route text, status smallint,
            "errorCode" text, "keyLastFour" text, "durationMs" integer, "requestId" text, "createdAt" timestamptz)
          where exists (select from accounts where id = "accountId")
        ), latest as (
          select * from sent where place <= ${maxEntries}
        ), counts as (
          insert into request_log_counts as counts (account_id, is_refused, count)
          select "accountId", is_refused, count(*) from latest group by 1, 2 order by 1, 2
          on conflict (account_id, is_refused) do update set count = counts.count + excluded.count
          returning counts.account_id, counts.is_refused, counts.count
        )
        insert into request_log (account_id, is_refused, slot, method, route, status, error_code, key_last_four, duration_ms,
          request_id, created_at)
        select account_id, latest.is_refused, (counts.count - place) % ${maxEntries}, method, route, status, "errorCode", "keyLastFour",
          "durationMs", "requestId", "createdAt"
        from latest join counts on account_id = "accountId" and counts.is_refused = latest.is_refused
        on conflict (account_id, is_refused, slot) do update set method = excluded.method, route = excluded.route,
          status = excluded.status, error_code = excluded.error_code, key_last_four = excluded.key_last_four,
          duration_ms = excluded.duration_ms, request_id = excluded.request_id, created_at = excluded.created_at`)
    },

    /** The requests of an account, and those of its test keys. */
    listingOf: (accountId: string) =>
      createListing(database, {
        row: ListedRow,
        rows: sql.fragment`
          select to_char(extract(epoch from created_at) * 1000, 'FM0000000000000') || '~' || request_id || '~' || account_id || '~' || is_refused || '~' || slot as id,
            method, route, status, status / 100 as "statusClass", error_code as "errorCode", key_last_four as "keyLastFour",
            duration_ms as "durationMs", request_id as "requestId", created_at as "createdAt"
          from request_log where account_id in ${own(accountId)}`,
        texts: ['requestId', 'route', 'errorCode'],
      }),

    /** The routes that the account has called. */
    listRoutes: async (accountId: string): Promise<string[]> => {
      const rows = await database.any(sql.type(Route)`
        select distinct route from request_log where account_id in ${own(accountId)} order by route`)
      return rows.map(({ route }) => route)
    },
  }
}
