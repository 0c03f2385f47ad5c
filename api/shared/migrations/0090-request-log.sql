-- The latest requests of each account, for operators. An account has a fixed number of slots for requests that were answered and as many for
-- those that were refused, and each further request overwrites the oldest of its kind: no account can fill the disk, and polling does not
-- displace errors.
create table request_log (
  account_id text not null references accounts (id) on delete cascade,
  is_refused boolean not null,
  slot integer not null,
  method text not null,
  -- The template, without values: /tryon/v1/generations/{id}
  route text not null,
  status smallint not null,
  error_code text,
  -- Null for a shop, whose requests have no key, and for keys of earlier releases.
  key_last_four text,
  duration_ms integer not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (account_id, is_refused, slot)
);
create index request_log_time on request_log (created_at);

-- How many requests were ever written, which leads to the next slot.
create table request_log_counts (
  account_id text not null references accounts (id) on delete cascade,
  is_refused boolean not null,
  count bigint not null,
  primary key (account_id, is_refused)
);
