-- What shoppers did, as their browsers, apps and shops tell it. By day of receipt, so that old days go as whole tables.
-- No foreign keys: an event is only ever stored for an account and a shop that were looked up just before, and each would cost
-- every row a look-up more.
create table events (
  -- Made of the account and of the id that the sender gave: the same event has the same key.
  key uuid not null,
  -- The day (UTC) of received_at.
  received_on date not null,
  account_id text not null,
  shop_id text,
  name text not null,
  insert_id text not null,
  anonymous_id text,
  session_id text,
  customer_id text,
  customer_email text,
  -- Whether a shop's proxy or platform vouches for the customer; otherwise it is what the sender says.
  customer_signed boolean not null,
  product_id text,
  variant_id text,
  generation_id text,
  properties jsonb not null,
  context jsonb not null,
  happened_at timestamptz not null,
  received_at timestamptz not null
) partition by range (received_on);
create index events_account on events (account_id, shop_id);
create index events_customer on events (account_id, customer_id) where customer_id is not null;

-- Keys of the events that are kept, over all days: what makes an event that comes twice count once.
create table event_keys (
  key uuid primary key,
  received_on date not null
);
-- Rows of one day lie together.
create index event_keys_day on event_keys using brin (received_on);

-- Events on their way to the provider of analytics.
create table event_outbox (
  id bigint generated always as identity primary key,
  key uuid not null,
  received_on date not null,
  account_id text not null,
  shop_id text,
  name text not null,
  insert_id text not null,
  anonymous_id text,
  session_id text,
  customer_id text,
  customer_email text,
  customer_signed boolean not null,
  product_id text,
  variant_id text,
  generation_id text,
  properties jsonb not null,
  context jsonb not null,
  happened_at timestamptz not null,
  received_at timestamptz not null,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  -- When the provider refused it for good, and why.
  dead_at timestamptz,
  reason text
);
create index event_outbox_waiting on event_outbox (available_at) where dead_at is null;
create index event_outbox_dead on event_outbox (dead_at) where dead_at is not null;

-- Any number that nothing else here takes; whoever makes or drops partitions does so alone.
create function lock_event_partitions() returns void language sql as $$ select pg_advisory_xact_lock(7201430002) $$;

create function event_partition(day date) returns text language sql immutable strict
  as $$ select 'events_' || to_char(day, 'YYYYMMDD') $$;

-- Makes those partitions of the days from `first` to `last` that are missing. Returns how many. A table is made first and attached
-- then, which unlike `create table … partition of` lets others go on writing.
create function make_event_partitions(first date, last date) returns integer language plpgsql as $$
declare
  name text;
  made integer := 0;
begin
  perform lock_event_partitions();
  for i in 0 .. last - first loop
    name := event_partition(first + i);
    continue when to_regclass(name) is not null;
    execute format('create table %I (like events including all)', name);
    execute format('alter table events attach partition %I for values from (%L) to (%L)', name, first + i, first + i + 1);
    made := made + 1;
  end loop;
  return made;
end $$;

-- Drops the oldest partition whose day is before `day`. False when there is none, or when readers of events do not let go soon:
-- behind a waiting drop every writer would wait too.
create function drop_event_partition(day date) returns boolean language plpgsql set lock_timeout = '300ms' as $$
declare
  name text;
begin
  perform lock_event_partitions();
  select relid::text into name from pg_partition_tree('events') where isleaf and relid::text < event_partition(day)
  order by 1 limit 1;
  if name is null then return false; end if;
  execute format('drop table %I', name);
  return true;
exception when lock_not_available then
  return false;
end $$;
