alter table published_engines add column warmup_seconds integer;
comment on column published_engines.warmup_seconds is 'Max seconds that the pools of the engine give a worker to become ready; null without a pool.';
