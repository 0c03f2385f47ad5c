-- A shop that reaches us through a proxy which signs, or, in development, by its mere name.
create table shops (
  id text primary key,
  account_id text not null references accounts (id),
  platform text not null check (platform in ('shopify', 'plugin', 'development')),
  -- In lower case; how the proxy names the shop.
  domain text not null unique check (domain = lower(domain)),
  name text,
  -- [{ secret, createdAt }], newest first: the proxy's signatures may be made with any of them while one replaces another.
  -- Encrypted, not hashed: a signature can only be checked with the secret itself.
  secrets jsonb not null default '[]' check (jsonb_array_length(secrets) <= 2),
  -- Where and with what the platform's own API is asked; null for a shop that has none.
  admin_url text,
  admin_token text,
  -- Shoppers' generations in a calendar month (UTC); null knows no limit but the account's.
  monthly_generations integer check (monthly_generations >= 0),
  billing_allowed boolean not null default true,
  plan_ends_at timestamptz,
  is_active boolean not null default true,
  created_at timestamptz not null default now_ms()
);
create index shops_account on shops (account_id);

-- Nonces of plugin proxies that were used; each is refused while its timestamp would still be accepted.
create table proxy_nonces (
  shop_id text not null references shops (id) on delete cascade,
  nonce text not null,
  expires_at timestamptz not null,
  primary key (shop_id, nonce)
);
create index proxy_nonces_expiry on proxy_nonces (expires_at);

-- Which shop a shopper's generation came from; null for calls of the server API.
alter table generations add column shop_id text references shops (id);
create index generations_shop on generations (shop_id, created_at) where shop_id is not null and status <> 'FAILED';

-- Bytes that a browser sends before it says that the upload is complete.
alter table objects drop constraint objects_kind_check;
alter table objects add constraint objects_kind_check check (kind in ('person', 'product', 'result', 'logo', 'upload'));

create table share_links (
  token text primary key,
  generation_id text not null references generations (id),
  shop_id text not null references shops (id),
  -- The domain that the shopper was on.
  domain text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now_ms()
);
create index share_links_generation on share_links (generation_id, domain);
create index share_links_expiry on share_links (expires_at);

-- Customers of a shop that has no platform of its own to keep them.
create table leads (
  shop_id text not null references shops (id),
  -- As it was written first; compared without case.
  email text not null,
  marketing_consent boolean not null default false,
  tags jsonb not null default '[]',
  segments jsonb not null default '[]',
  created_at timestamptz not null default now_ms(),
  updated_at timestamptz not null default now_ms()
);
create unique index leads_email on leads (shop_id, lower(email));
