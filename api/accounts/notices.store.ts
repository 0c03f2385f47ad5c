import { type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { kindOfFailure } from './usage.store.ts'

/** Ended try-ons of the past hour below which a share of failures says little. */
const MIN_ENDED = 10

const DueRow = Type.Object({
  accountId: Type.String(),
  kind: Type.Enum(['credits.low', 'generations.failing']),
  /** Start of the episode. */
  createdAt: Timestamp,
  data: Type.Object({
    creditBalance: Type.Optional(Type.Integer()),
    failed: Type.Optional(Type.Integer()),
    ended: Type.Optional(Type.Integer()),
    /** Credits, or percent. */
    threshold: Type.Integer(),
  }),
  accountName: Type.String(),
  address: Type.String(),
  attempts: Type.Integer(),
  ageSeconds: Type.Number(),
})
/** A notice that is due, with the current address of its account. */
export type DueNotice = Static<typeof DueRow>

type Notice = Pick<DueNotice, 'accountId' | 'kind' | 'createdAt'>

export type Notices = ReturnType<typeof createNotices>

/**
 * Episodes of low credits and of failures that an account asked to be told about by e-mail. The row of an episode lasts as long as the episode,
 * so that each is told once, and holds no address.
 */
export function createNotices(database: Database) {
  const schedule = async ({ accountId, kind, createdAt }: Notice, retry: { seconds: number } | null): Promise<void> => {
    await database.query(sql.unsafe`
      update account_notices
      set send_at = now() + make_interval(secs => ${retry?.seconds ?? null}), attempts = attempts + 1
      where account_id = ${accountId} and kind = ${kind} and created_at = ${createdAt.toISOString()}`)
  }
  return {
    /** Ends episodes and begins new ones. An episode of failures ends an hour after their share was last reached. */
    observe: async (): Promise<void> => {
      await database.query(sql.unsafe`
        delete from account_notices using accounts
        where accounts.id = account_id and case kind
          when 'credits.low' then credits_low_since is null or credits_low_since > account_notices.created_at
          else seen_at < now() - interval '1 hour' end`)
      await database.query(sql.unsafe`
        insert into account_notices (account_id, kind, data)
        select id, 'credits.low', jsonb_build_object('creditBalance', balance, 'threshold', (settings->>'creditsLowAt')::int)
        from accounts where credits_low_since is not null and ${isNotified}
        union all
        select account_id, 'generations.failing', jsonb_build_object('failed', failed, 'ended', ended, 'threshold', threshold)
        from (
          select account_id, (settings->>'failuresHighAt')::int as threshold, count(*) as ended,
            count(*) filter (where status = 'FAILED' and ${kindOfFailure} = 'failed') as failed
          from accounts join generations on account_id = accounts.id
          where settings ? 'failuresHighAt' and ${isNotified}
            and generations.created_at > now() - interval '1 hour' and status in ('COMPLETED', 'FAILED')
          group by account_id, settings
        ) as lately
        where ended >= ${MIN_ENDED} and failed * 100 >= ended * threshold
        on conflict (account_id, kind) do update set seen_at = now() where account_notices.kind = 'generations.failing'`)
    },

    /** Claims notices for the time of the lease. */
    claim: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly DueNotice[]> =>
      database.any(sql.type(rowType(DueRow))`
        update account_notices set send_at = now() + make_interval(secs => ${leaseSeconds})
        from accounts
        where accounts.id = account_id and (account_id, kind) in (
          select account_id, kind from account_notices join accounts on accounts.id = account_id
          where send_at <= now() and ${isNotified}
          order by send_at limit ${limit} for update of account_notices skip locked)
        returning account_id as "accountId", kind, account_notices.created_at as "createdAt", data, name as "accountName",
          email as address, attempts, extract(epoch from now() - account_notices.created_at)::float8 as "ageSeconds"`),

    /** Ends a notice that was sent or abandoned; its episode lasts. */
    end: (notice: Notice) => schedule(notice, null),

    /** Schedules the next attempt in this many seconds. */
    postpone: (notice: Notice, seconds: number) => schedule(notice, { seconds }),
  }
}

const isNotified = sql.fragment`email is not null and is_active`
