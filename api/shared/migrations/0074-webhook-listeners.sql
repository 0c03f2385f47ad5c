-- Developers' programs that poll the events of an account. They have deliveries as endpoints have, but nothing is sent to them.
-- Ended ones stay until their deliveries are deleted: whose these are is known by them.
create table webhook_listeners (
  id text primary key,
  account_id text not null references accounts (id),
  -- ["generation.completed", …]
  event_types jsonb not null,
  -- Each poll moves it.
  expires_at timestamptz not null,
  created_at timestamptz not null default now_ms()
);
create index webhook_listeners_account on webhook_listeners (account_id, expires_at);
create index webhook_deliveries_event on webhook_deliveries (event_id);
