-- Requests of people, who need not be customers, to remove images that show them. Operators decide.
create table removal_requests (
  id text primary key,
  -- SHA-256 of the reference number, which the requester alone has.
  reference bytea not null unique,
  email text not null,
  reason text not null,
  -- Perceptual hashes of the image that the requester sent, in hex; none once decided. The image itself is not stored.
  hashes text[] not null,
  state text not null default 'OPEN' check (state in ('OPEN', 'ERASING', 'ERASED', 'DECLINED')),
  -- Why an operator declined, as the requester reads it.
  answer text,
  created_at timestamptz not null default now_ms(),
  due_at timestamptz not null default now_ms() + interval '48 hours',
  decided_at timestamptz,
  -- When the erasure is tried next.
  check_at timestamptz not null default now()
);
create index removal_requests_undecided on removal_requests (due_at) where state in ('OPEN', 'ERASING');

-- Erasures of a request, one for each account that had the images.
create table removal_erasures (
  request_id text not null references removal_requests (id) on delete cascade,
  account_id text not null references accounts (id),
  erasure_id text,
  primary key (request_id, account_id)
);
