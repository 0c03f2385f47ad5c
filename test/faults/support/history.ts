import { type Database, sql } from '../../../api/shared/database/database.ts'

/** From now on, the database records every state change of every generation. */
export async function recordHistory(database: Database): Promise<void> {
  await database.query(sql.unsafe`
    create table history (
      id bigint generated always as identity primary key,
      generation_id text not null,
      status text not null,
      attempt integer not null,
      worker text,
      updated_at timestamptz not null,
      at timestamptz not null default clock_timestamp()
    )`)
  await database.query(sql.unsafe`create index on history (generation_id, id)`)
  await database.query(sql.unsafe`
    create function record_move() returns trigger language plpgsql security definer as $$
    begin
      if tg_op = 'UPDATE' and (old.status, old.attempt, old.updated_at) = (new.status, new.attempt, new.updated_at) then
        return null;
      end if;
      insert into history (generation_id, status, attempt, worker, updated_at)
      values (new.id, new.status, new.attempt, new.worker, new.updated_at);
      return null;
    end $$`)
  await database.query(sql.unsafe`
    create trigger record_move after insert or update on generations for each row execute function record_move()`)
}
