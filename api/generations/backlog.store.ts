import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { TEST_ENGINE } from '../shared/contract/test-mode.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { isHeld } from '../shared/retention/legal-holds.store.ts'

const UnfinishedRow = Type.Object({
  engine: Type.String(),
  /** `waiting` for the relay, `queued` for a worker, or `running`. */
  state: Type.Enum(['waiting', 'queued', 'running']),
  count: Type.Integer(),
  /** Seconds since the oldest of these generations was accepted. */
  seconds: Type.Number(),
})
export type Unfinished = Static<typeof UnfinishedRow>

const Overdue = rowType(Type.Object({ seconds: Nullable(Type.Number()) }))

export type Backlog = ReturnType<typeof createBacklog>

/** Count and age of unfinished work. */
export function createBacklog(database: Database) {
  return {
    /** Generations that have not ended. */
    findUnfinished: (): Promise<readonly Unfinished[]> =>
      database.any(sql.type(rowType(UnfinishedRow))`
        select engine, state, count(*), extract(epoch from now() - min(created_at))::float8 as seconds from (
          select payload->>'engine' as engine, 'waiting' as state, created_at from outbox
          where dispatched_at is null and engine_name <> ${TEST_ENGINE}
          union all
          select generations.engine, case status when 'PENDING' then 'queued' else 'running' end, outbox.created_at
          from outbox join generations on generations.id = outbox.generation_id 
          where dispatched_at is not null and engine_name <> ${TEST_ENGINE}
        ) as unfinished group by engine, state`),

    /**
     * Seconds since the oldest object expired that a sweep should have deleted; null when there is none. Held objects
     * do not count.
     */
    measureOverdue: (): Promise<number | null> =>
      database.oneFirst(sql.type(Overdue)`
        select extract(epoch from now() - min(expires_at))::float8 as seconds from objects
        where expires_at < now() and not ${isHeld}`),
  }
}
