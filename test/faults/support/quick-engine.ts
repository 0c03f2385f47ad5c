import { type Database, sql } from '../../../api/shared/database.ts'

/**
 * What reaches the workers of this database is asked of the mock engine, while callers ask and pay for the real one: faults are
 * tried on jobs of some milliseconds that cost a credit.
 */
export async function useQuickEngine(database: Database): Promise<void> {
  await database.query(sql.unsafe`
    create function use_quick_engine() returns trigger language plpgsql as $$
    begin
      new.payload = jsonb_set(new.payload, '{engine}', '"mock"');
      return new;
    end $$`)
  await database.query(sql.unsafe`
    create trigger quick_engine before insert on outbox for each row execute function use_quick_engine()`)
}

/** The real engine again, for faults that need a job at work in the inference process. */
export async function useRealEngine(database: Database): Promise<void> {
  await database.query(sql.unsafe`alter table outbox disable trigger quick_engine`)
}
