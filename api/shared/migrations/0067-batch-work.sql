-- Batch work steps back behind interactive work of its account. Interactive unless said: the previous version knows no batch work.
alter table outbox add column is_batch boolean not null default false;
-- outbox_lanes serves the relay of the previous version.
create index outbox_classes on outbox (engine_name, account_id, is_batch, available_at, generation_id) where dispatched_at is null;
