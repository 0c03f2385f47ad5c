-- Texts that visitors agree to, by name: the domain of a shop, or what an account calls the policy of its own app. A version that
-- was published never changes: the ledger of consents refers to it. The newest version counts.
create table consent_policies (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id),
  policy text not null check (policy = lower(policy)),
  version text not null,
  -- { "en": text, … }
  texts jsonb not null check (jsonb_typeof(texts) = 'object' and texts <> '{}'),
  published_at timestamptz not null default now_ms(),
  unique (account_id, policy, version)
);

-- Who agreed to which version, and who withdrew it. Proves consents after the images are gone, so no ID of a person is in it.
create table consents (
  id bigint generated always as identity primary key,
  shop_id text not null references shops (id),
  -- customer_hash of the shopper.
  visitor bytea not null,
  version text not null,
  -- In which the text was shown.
  language text not null,
  given_at timestamptz not null default now_ms(),
  withdrawn_at timestamptz
);
-- A consent that is repeated while it stands is one row.
create unique index consents_given on consents (visitor, shop_id, version) where withdrawn_at is null;
create index consents_shop on consents (shop_id, id);
create index consents_age on consents ((coalesce(withdrawn_at, given_at)));

-- Shops that exist go on as before: their pages may ask for no consent yet.
alter table shops add column requires_consent boolean not null default false,
  -- Whom visitors ask about their data, as the shop words it.
  add column privacy_contact text;
alter table shops alter column requires_consent set default true;

-- { "policy", "version", "at" }: what the person of the photo agreed to, and when. Names no person.
alter table generations add column consent jsonb;
