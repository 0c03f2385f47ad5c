import { type Database, sql } from '../../api/shared/database/database.ts'

/**
 * Replaces the warp engine by the mock engine in every job of this database. Callers still request and pay for the warp engine, but
 * a job takes milliseconds and costs a credit.
 */
export async function useQuickEngine(database: Database): Promise<void> {
  await database.query(sql.unsafe`
    create function use_quick_engine() returns trigger language plpgsql as $$
    begin
      if new.payload->>'engine' = 'warp' then
        new.payload = jsonb_set(new.payload, '{engine}', '"mock"');
      end if;
      return new;
    end $$`)
  await database.query(sql.unsafe`
    create trigger quick_engine before insert on outbox for each row execute function use_quick_engine()`)
}
