-- Requests that carry an Idempotency-Key: who has it in hand, and the first answer.
create table idempotency_keys (
  account_id text not null references accounts (id),
  route text not null,
  key text not null,
  -- SHA-256 over the request: the same key with another one is refused.
  fingerprint bytea not null,
  -- A UUID that names what the request creates, so that whoever takes over after a crash creates nothing twice.
  resource_id text not null unique,
  -- Whoever holds the claim names its attempt; an older one changes nothing any more.
  attempt integer not null default 1,
  lease_until timestamptz not null,
  status integer,
  -- Text, so that it is said again byte by byte. Null until the first answer is known.
  answer text,
  created_at timestamptz not null default now(),
  primary key (account_id, route, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- For the pace of the workers.
create index generations_finished on generations (finished_at desc) where status = 'COMPLETED';

-- For monthly quotas: failed generations are given back.
create index generations_counted on generations (account_id, created_at) where status <> 'FAILED';

-- VOLATILE on purpose: such a function sees what was committed until it is called, not only until its statement began. Called
-- under the account's row lock it counts every generation that was accepted before.
create function count_unfinished(account text) returns bigint language sql volatile as $$
  select (select count(*) from outbox where account_id = account and dispatched_at is null)
    + (select count(*) from outbox where account_id = account and dispatched_at is not null)
$$;
create function count_since(account text, since timestamptz) returns bigint language sql volatile as $$
  select count(*) from generations where account_id = account and created_at >= since and status <> 'FAILED'
$$;
