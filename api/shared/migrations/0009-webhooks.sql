-- Where an account wants to be told of what happens.
create table webhook_endpoints (
  id text primary key,
  account_id text not null references accounts (id),
  url text not null,
  -- ["generation.completed", …]
  event_types jsonb not null,
  -- [{ secret, createdAt }], newest first: each signs, so that one can take the place of another without a gap.
  secrets jsonb not null,
  is_active boolean not null default true,
  -- When and why we gave up telling it.
  disabled_at timestamptz,
  disabled_reason text,
  -- Since when nothing that was sent has been taken, and how often since then it was given a rest.
  failing_since timestamptz,
  failures integer not null default 0,
  -- Until when it is given a rest.
  paused_until timestamptz,
  created_at timestamptz not null default now_ms()
);
create index webhook_endpoints_account on webhook_endpoints (account_id);

-- What endpoints are to be told, and the log of what they were told. No foreign key: an endpoint that is deleted at the same
-- moment must not hinder what the row tells of.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  endpoint_id text not null,
  -- Of what happened: each endpoint is told under the same id, however often.
  event_id text not null,
  type text not null,
  -- Null when it named a person and has been told.
  data jsonb,
  happened_at timestamptz not null,
  status text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- Of one that waits. While somebody is telling it: when it counts as lost with that process.
  next_attempt_at timestamptz not null default now(),
  -- What came of the last attempt.
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  -- When it was delivered or given up.
  ended_at timestamptz,
  created_at timestamptz not null default now_ms()
);
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, next_attempt_at, id) where status = 'waiting';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_age on webhook_deliveries (created_at);

-- Since when an account's credits are low, of which it is told once; until a top-up.
alter table accounts add column credits_low_since timestamptz;
