-- Erasures of end users, from the first deletion to the signed receipt. The end user's id is kept nowhere, only customer_hash of it.
create table erasures (
  id text primary key,
  account_id text not null references accounts (id),
  customer bytea not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- Key of the entry in the erasure log; null where nothing was known of the end user.
  log_key text,
  -- When nothing of the end user was found any more; null while calls are deleting.
  erased_at timestamptz,
  -- By then no cache serves what was erased.
  cached_until timestamptz,
  -- Objects that legal holds keep.
  held_objects integer not null default 0,
  -- Which confirmation the receipt waits for.
  waits_for text not null default 'erasure',
  check_at timestamptz not null default clock_timestamp(),
  issued_at timestamptz,
  -- As signed, and the SHA-256 of the erased objects in the order of the tree, 32 bytes each.
  receipt jsonb,
  leaves bytea
);
-- Calls for the same end user share an erasure until its receipt is issued.
create unique index erasures_open on erasures (account_id, customer) where issued_at is null;
create index erasures_due on erasures (check_at) where issued_at is null and erased_at is not null;
create index erasures_issued on erasures (issued_at) where issued_at is not null;

-- What an erasure deleted, until its receipt is issued.
create table erased_objects (
  erasure_id text not null references erasures (id) on delete cascade,
  key text not null,
  kind text not null,
  bytes bigint,
  primary key (erasure_id, key)
);
create table erased_rows (
  erasure_id text not null references erasures (id) on delete cascade,
  name text not null,
  count integer not null
);
create index erased_rows_erasure on erased_rows (erasure_id);
-- Attempts that were cancelled, which a worker may still hold.
create table erased_jobs (
  erasure_id text not null references erasures (id) on delete cascade,
  generation_id text not null,
  attempt integer not null,
  primary key (erasure_id, generation_id, attempt)
);

-- The erasure to which deletions of the end user belong now. Locks its row until the transaction ends, so that no receipt is issued without them.
create function open_erasure(account text, external_user_id text) returns text language sql volatile as $$
  insert into erasures as known (id, account_id, customer)
  values ('era_' || gen_random_uuid(), account, customer_hash(account, external_user_id))
  on conflict (account_id, customer) where issued_at is null
    do update set erased_at = null, waits_for = 'erasure'
  returning id;
$$;

-- The keys that receipts were signed with, so that old receipts are still known as ours after a rotation.
create table receipt_keys (
  -- SHA-256 of the public key, as hex.
  key_id text primary key,
  -- Base64.
  public_key text not null,
  first_used_at timestamptz not null default now()
);
