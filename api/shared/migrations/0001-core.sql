-- Ids are text with a prefix that says what they name; times are timestamptz, kept to the millisecond that callers see.

create function now_ms() returns timestamptz language sql volatile parallel safe
  as $$ select date_trunc('milliseconds', clock_timestamp()) $$;

create table accounts (
  id text primary key,
  name text not null,
  email text,
  -- Always the sum of the account's ledger; kept here so that one conditional update can decide and debit.
  balance bigint not null default 0 check (balance >= 0),
  is_active boolean not null default true,
  retention_days integer not null default 7 check (retention_days in (1, 3, 7)),
  settings jsonb not null default '{}',
  created_at timestamptz not null default now_ms()
);

create table api_keys (
  id text primary key,
  account_id text not null references accounts (id),
  kind text not null check (kind in ('secret', 'publishable')),
  -- SHA-256 of the key; the key itself is shown once and kept nowhere.
  hash bytea not null unique,
  created_at timestamptz not null default now_ms(),
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id);

create table products (
  id text primary key,
  account_id text not null references accounts (id),
  external_id text not null,
  anonymous boolean not null default false,
  title text,
  description text,
  -- [{ sourceUrl, order, classifications, objectKey?, hash? }]; entries with an objectKey hold bytes that were sent.
  images jsonb not null,
  -- Changes with every edit of the images: what was fetched for an older edition is not used again.
  images_edition text not null,
  metadata jsonb,
  valid_for_days integer check (valid_for_days between 1 and 365),
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now_ms(),
  updated_at timestamptz not null default now_ms(),
  unique (account_id, external_id)
);
-- Server-made ids are unique over the installation, so that another account's can be told from an unknown one.
create unique index products_anonymous on products (external_id) where anonymous;
create index products_expiry on products (expires_at) where expires_at is not null;

-- Every key in the object storage, written before its bytes: erasure and sweeps walk this table.
create table objects (
  key text primary key,
  account_id text not null references accounts (id),
  external_user_id text,
  kind text not null check (kind in ('person', 'product', 'result', 'logo')),
  expires_at timestamptz,
  created_at timestamptz not null default now_ms()
);
create index objects_expiry on objects (expires_at) where expires_at is not null;
create index objects_user on objects (account_id, external_user_id) where external_user_id is not null;

create table images (
  id text primary key,
  account_id text not null references accounts (id),
  object_key text not null references objects (key) on delete cascade,
  external_user_id text,
  width integer not null,
  height integer not null,
  -- 'auto' asks for the person-aware 4:5 crop, 'none' keeps the frame. The rectangle is null until a worker has seen the photo.
  crop_mode text not null check (crop_mode in ('auto', 'none')),
  crop jsonb,
  person_detected boolean,
  warnings jsonb not null default '[]',
  expires_at timestamptz not null,
  created_at timestamptz not null default now_ms()
);
create index images_user on images (account_id, external_user_id) where external_user_id is not null;
create index images_object on images (object_key);

create table generations (
  id text primary key,
  account_id text not null references accounts (id),
  product_id text not null,
  product_external_id text not null,
  image_id text,
  external_user_id text,
  status text not null default 'PENDING' check (status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
  -- The attempt that is waiting or running now. Whoever writes names the attempt it belongs to; older ones find no row.
  attempt integer not null default 1,
  worker text,
  lease_until timestamptz,
  deadline_at timestamptz not null,
  cost integer not null check (cost >= 0),
  engine text not null,
  options jsonb not null,
  -- The product as it was when the call was accepted.
  snapshot jsonb not null,
  progress real,
  result_key text,
  images_expire_at timestamptz not null,
  error_code text,
  error_message text,
  warnings jsonb not null default '[]',
  timings jsonb,
  engine_info jsonb,
  category text,
  created_at timestamptz not null default now_ms(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default now_ms()
);
create index generations_product on generations (account_id, product_id, created_at);
create index generations_user on generations (account_id, external_user_id) where external_user_id is not null;
create index generations_lease on generations (lease_until) where status = 'PROCESSING';
create index generations_deadline on generations (deadline_at) where status in ('PENDING', 'PROCESSING');

create table ledger (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id),
  amount bigint not null check (amount <> 0),
  kind text not null check (kind in ('grant', 'reserve', 'refund')),
  generation_id text,
  note text,
  created_at timestamptz not null default now_ms()
);
-- A generation is charged at most once and given back at most once, whatever happens.
create unique index ledger_once on ledger (generation_id, kind) where generation_id is not null;
create index ledger_account on ledger (account_id, id);

-- Work that is not finished: one row a generation, gone when the generation has ended.
create table outbox (
  generation_id text primary key references generations (id),
  account_id text not null,
  queue text not null,
  payload jsonb not null,
  available_at timestamptz not null default now_ms(),
  dispatched_at timestamptz,
  created_at timestamptz not null default now_ms()
);
create index outbox_waiting on outbox (account_id, available_at, generation_id) where dispatched_at is null;
create index outbox_dispatched on outbox (account_id, dispatched_at) where dispatched_at is not null;
