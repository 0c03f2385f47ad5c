import { type Database, sql } from '../../api/shared/database/database.ts'

/**
 * Replaces the warp engine by the mock engine in every later job of this database. Callers still request and pay for the warp engine,
 * but a job takes milliseconds and costs a credit. With `refusals`, the warp engine keeps the jobs whose photo has no detected person,
 * and refuses them; they need a worker with both engines. A later call replaces an earlier one.
 */
export async function useQuickEngine(database: Database, { refusals = false } = {}): Promise<void> {
  const isReplaced = refusals
    ? sql.fragment`coalesce((select person_detected from images where id = new.payload->'person'->>'imageId'), false)`
    : sql.fragment`true`
  await database.query(sql.unsafe`
    create or replace function use_quick_engine() returns trigger language plpgsql as $$
    begin
      if new.payload->>'engine' = 'warp' and ${isReplaced} then
        new.engine_name = 'mock';
        new.payload = jsonb_set(new.payload, '{engine}', '"mock"');
      end if;
      return new;
    end $$`)
  await database.query(sql.unsafe`
    create or replace trigger quick_engine before insert on outbox for each row execute function use_quick_engine()`)
}
