-- The relay takes what one lane of workers can run: jobs of its engines, from each account in turn.
-- Not named engine: statements of the previous version join outbox and generations and name engine alone.
alter table outbox add column engine_name text generated always as (payload->>'engine') stored;
create index outbox_lanes on outbox (engine_name, account_id, available_at, generation_id) where dispatched_at is null;
comment on column outbox.queue is 'Where the job was handed to last, while dispatched_at is set.';
