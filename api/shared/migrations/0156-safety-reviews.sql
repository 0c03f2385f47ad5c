-- Refusals by a safety check that an account can appeal, with the perceptual hashes of the images in hex, the whole image first.
create table safety_refusals (
  generation_id text primary key references generations (id) on delete cascade,
  account_id text not null references accounts (id),
  failed_check text not null,
  -- The refused image; null: the result.
  image text check (image in ('person', 'product')),
  person_hashes text[] not null,
  product_hashes text[] not null,
  created_at timestamptz not null default now_ms()
);
create index safety_refusals_pair on safety_refusals (account_id, (person_hashes[1]), (product_hashes[1]));
create index safety_refusals_age on safety_refusals (created_at);

-- Appeals against refusals, and the decisions of operators.
create table safety_reviews (
  generation_id text primary key references safety_refusals (generation_id) on delete cascade,
  -- Why the refusal is wrong, in the words of the account.
  reason text not null,
  -- Increases when the account changes its reason.
  version int not null default 1,
  state text not null default 'OPEN' check (state in ('OPEN', 'ALLOWED', 'REFUSED', 'BLOCKED')),
  answer text,
  created_at timestamptz not null default now_ms(),
  decided_at timestamptz,
  -- The try-on that an allowed pair of images passed in.
  used_by text
);
create index safety_reviews_open on safety_reviews (created_at) where state = 'OPEN';

-- Images that operators blocked, by perceptual hash.
create table safety_blocks (
  hash bit(256) primary key,
  created_at timestamptz not null default now_ms()
);
