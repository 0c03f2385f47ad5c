-- The Engine resources of a cluster and the capacity of the pools that run them, for the API. The controller replaces all rows at
-- once, and writes them again every minute.
create table published_engines (
  namespace text not null,
  name text not null,
  license text not null,
  max_slots integer not null check (max_slots >= 0),
  start_seconds double precision,
  published_at timestamptz not null default now(),
  primary key (namespace, name)
);
comment on column published_engines.max_slots is 'Slots that the pools of the engine may have at most; 0 when no pool can run the engine.';
comment on column published_engines.start_seconds is 'Measured seconds from the start of a worker until the worker takes jobs; null before the first one.';
