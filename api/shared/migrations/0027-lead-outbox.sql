-- E-mail addresses on their way to the shops: written before the shopper is thanked, deleted when the platform of the shop has them.
create table lead_outbox (
  id bigint generated always as identity primary key,
  shop_id text not null references shops (id),
  -- Compared without case. An address that comes again while it waits is one row.
  email text not null,
  marketing_consent boolean not null,
  -- The shopper who left it, as images name their owner.
  external_user_id text,
  created_at timestamptz not null default now_ms(),
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  -- When the platform refused it for good, and why. It stays until an operator retries it or its retention ends.
  dead_at timestamptz,
  reason text
);
create unique index lead_outbox_email on lead_outbox (shop_id, lower(email));
create index lead_outbox_waiting on lead_outbox (available_at) where dead_at is null;

alter table leads add column external_user_id text;
create index leads_shopper on leads (external_user_id) where external_user_id is not null;
create index lead_outbox_shopper on lead_outbox (external_user_id) where external_user_id is not null;
