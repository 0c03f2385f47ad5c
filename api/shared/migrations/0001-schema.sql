-- The schema of 0.1.0. Later versions add files with the next numbers; a file that was released never changes.
-- IDs are text with a prefix that states what they name; times are timestamptz, to the millisecond that callers see.
-- Functions that are VOLATILE "to see new rows" see what is committed when they are called. Others see what was committed when their
-- statement began.
-- A comment on a column says which personal data it holds; columns without a comment hold none. The comment on its table says why, how
-- long, and what erases it earlier. `node scripts/documents/privacy.ts` writes both into docs/privacy.md.

create function now_ms() returns timestamptz language sql volatile parallel safe
  as $$ select date_trunc('milliseconds', clock_timestamp()) $$;

-- ACCOUNTS ---------------------------------------------------------------------------------------------------------------------------

create table accounts (
  id text primary key,
  name text not null,
  email text,
  -- Always the sum of the ledger of the account. Here so that one conditional update can decide and debit.
  balance bigint not null default 0 check (balance >= 0),
  -- Since when credits are low, which the account is told once; null again after a top-up.
  credits_low_since timestamptz,
  is_active boolean not null default true,
  -- Days for which images are stored; a call can choose 1, 3 or 7.
  retention_days integer not null default 7 constraint accounts_retention_window check (retention_days between 1 and 90),
  settings jsonb not null default '{}',
  -- The account that the test keys of an account belong to: all its data is separate from that of the account.
  test_of text unique references accounts (id) check (test_of <> id),
  created_at timestamptz not null default now_ms()
);
comment on table accounts is 'payer and contact of the account
lifetime: no end
erased by: an operator changes name and address';
comment on column accounts.name is 'name, which can be that of a person';
comment on column accounts.email is 'contact';

create table api_keys (
  id text primary key,
  account_id text not null references accounts (id),
  kind text not null check (kind in ('secret', 'publishable')),
  -- SHA-256 of the key, which is shown once and stored nowhere.
  hash bytea not null unique,
  -- By which people recognize a key.
  key_name text,
  last_four text not null check (length(last_four) = 4),
  -- Restrictions; null restricts nothing.
  scopes jsonb check (jsonb_typeof(scopes) = 'array'),
  expires_at timestamptz,
  allowed_cidrs jsonb check (jsonb_typeof(allowed_cidrs) = 'array'),
  -- Written about once a minute, not with every request.
  last_used_at timestamptz,
  created_at timestamptz not null default now_ms(),
  revoked_at timestamptz
);
comment on table api_keys is 'authenticates programs of the account
lifetime: no end, but only the last 100 revoked ones of an account
erased by: none';
comment on column api_keys.key_name is 'name of the key, as the account chose it';
comment on column api_keys.allowed_cidrs is 'network addresses from which the key may be used';
create index api_keys_account on api_keys (account_id);

-- Episodes of low credits and of failures, which the account is told once each by e-mail. The address is that of the account.
create table account_notices (
  account_id text not null references accounts (id),
  kind text not null check (kind in ('credits.low', 'generations.failing')),
  -- What the e-mail says, as of the start of the episode.
  data jsonb not null,
  -- When the share of failures was last reached.
  seen_at timestamptz not null default now(),
  attempts integer not null default 0,
  -- Null: sent or given up.
  send_at timestamptz default now(),
  created_at timestamptz not null default now_ms(),
  primary key (account_id, kind)
);

-- Requests with an Idempotency-Key: which process handles each, and the first answer.
create table idempotency_keys (
  account_id text not null references accounts (id),
  route text not null,
  key text not null,
  -- SHA-256 of the request: the same key with another request is refused.
  fingerprint bytea not null,
  -- UUID that names what the request creates, so that a process that takes over after a crash creates nothing twice.
  resource_id text not null unique,
  -- A process names the attempt it holds; that of an earlier attempt changes nothing any more.
  attempt integer not null default 1,
  lease_until timestamptz not null,
  status integer,
  -- Text, so that it is repeated byte by byte. Null until the first answer is known.
  answer text,
  created_at timestamptz not null default now(),
  primary key (account_id, route, key)
);
comment on table idempotency_keys is 'returns the first response to a repeated request
lifetime: 24 hours
erased by: `DELETE /tryon/v1/customers/{id}` deletes the rows of photos and the answers of generations';
comment on column idempotency_keys.answer is 'links to a photo or a result';
comment on column idempotency_keys.resource_id is 'ID of the photo or the generation';
create index idempotency_keys_age on idempotency_keys (created_at);

-- The latest requests of each account, for operators. An account has a fixed number of slots for requests that were answered and as many
-- for those that were refused; each further request overwrites the oldest of its kind. So no account can fill the disk, and polling does
-- not displace errors.
create table request_log (
  account_id text not null references accounts (id) on delete cascade,
  is_refused boolean not null,
  slot integer not null,
  method text not null,
  -- The template, without values: /tryon/v1/generations/{id}
  route text not null,
  status smallint not null,
  error_code text,
  -- Null for a shop, whose requests have no key.
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

-- SHOPS ------------------------------------------------------------------------------------------------------------------------------

-- A shop calls through a proxy that signs or, in development, by its name alone.
create table shops (
  id text primary key,
  account_id text not null references accounts (id),
  platform text not null check (platform in ('shopify', 'plugin', 'development')),
  -- In lower case; how the proxy names the shop.
  domain text not null unique check (domain = lower(domain)),
  -- Further domains that customers of the shop visit. A share link names one of these or `domain`.
  extra_domains text[] not null default '{}'
    check (cardinality(extra_domains) <= 20 and extra_domains::text = lower(extra_domains::text)),
  name text,
  -- Whom visitors ask about their data, as the shop words it.
  privacy_contact text,
  -- [{ secret, createdAt }], newest first: while one replaces another, a signature may be made with either.
  -- Encrypted, not hashed: only the secret itself can check a signature.
  secrets jsonb not null default '[]' check (jsonb_array_length(secrets) <= 2),
  -- The API of the platform and its token; null for a shop without one. With the ID of an app, the token is a refresh token or null.
  admin_url text,
  admin_token text,
  admin_client_id text,
  -- Obtained with the ID of the app; encrypted, as admin_token.
  admin_access_token text,
  admin_access_ends_at timestamptz,
  -- Next time to obtain one. A process that obtains one first moves it ahead, so that no other does; only its answer to this time counts.
  admin_renew_at timestamptz not null default now_ms(),
  -- Since when the platform refuses the token.
  admin_refused_at timestamptz,
  -- Engine of try-ons by shoppers; null: that of the account.
  default_engine text,
  -- A shop requires consent once it has published a policy.
  requires_consent boolean not null default false,
  requires_visitor_token boolean not null default false,
  -- Generations of shoppers in a calendar month (UTC); null: only the limit of the account.
  monthly_generations integer check (monthly_generations >= 0),
  -- Generations of visitors whom no platform vouches for, in a day (UTC): by network address, and of all; null: the default.
  address_generations integer check (address_generations >= 0),
  visitor_generations integer check (visitor_generations >= 0),
  -- Visitors who see no button, to compare them with the others; null: none. And since when.
  holdout_percent integer check (holdout_percent between 0 and 50),
  holdout_since timestamptz not null default now_ms(),
  -- What images of try-ons may show; null: what the account allows.
  safety_level text check (safety_level in ('off', 'standard', 'strict')),
  allows_swimwear boolean,
  billing_allowed boolean not null default true,
  plan_ends_at timestamptz,
  is_active boolean not null default true,
  created_at timestamptz not null default now_ms()
);
comment on table shops is 'settings of a shop, and the secrets that authenticate its proxy
lifetime: no end
erased by: an operator changes it; `shop/redact` of Shopify deactivates the shop';
comment on column shops.name is 'name of the shop, which can be a person';
comment on column shops.privacy_contact is 'contact for questions about privacy';
create index shops_account on shops (account_id);

-- Used nonces of plugin proxies; each is refused while its timestamp would still be accepted.
create table proxy_nonces (
  shop_id text not null references shops (id) on delete cascade,
  nonce text not null,
  expires_at timestamptz not null,
  primary key (shop_id, nonce)
);
create index proxy_nonces_expiry on proxy_nonces (expires_at);

-- Customers of shops without a platform that keeps them.
create table leads (
  shop_id text not null references shops (id),
  -- As it was written first; compared without case.
  email text not null,
  marketing_consent boolean not null default false,
  -- The shoppers who left it, as in `images`: an erasure of any of them deletes it.
  owner_ids text[] not null default '{}',
  tags jsonb not null default '[]',
  segments jsonb not null default '[]',
  created_at timestamptz not null default now_ms(),
  updated_at timestamptz not null default now_ms()
);
comment on table leads is 'e-mail addresses that shoppers left for a shop without a platform of its own
lifetime: `LEAD_RETENTION_DAYS` (730) after the address was last left
erased by: redaction; the page *Leads* of the dashboard';
comment on column leads.email is 'e-mail address';
comment on column leads.marketing_consent is 'consent to marketing e-mails';
comment on column leads.owner_ids is 'IDs of the shoppers who left it';
comment on column leads.tags is 'labels of the shopper';
comment on column leads.segments is 'segments of the shopper';
create unique index leads_email on leads (shop_id, lower(email));
create index leads_owners on leads using gin (owner_ids);

-- E-mail addresses to be delivered to shops: written before the shopper is thanked, deleted when the platform of the shop has them.
create table lead_outbox (
  id bigint generated always as identity primary key,
  shop_id text not null references shops (id),
  -- Compared without case. An address that is left again while it waits is one row.
  email text not null,
  marketing_consent boolean not null,
  owner_ids text[] not null default '{}',
  created_at timestamptz not null default now_ms(),
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  -- When the platform refused it permanently, and why. It stays until an operator retries it or its retention ends.
  dead_at timestamptz,
  reason text
);
comment on table lead_outbox is 'e-mail addresses to be delivered to the platform of the shop
lifetime: until the platform has the address; an address that the platform rejects at most `LEAD_RETENTION_DAYS` (730)
erased by: redaction; the page *Leads* of the dashboard';
comment on column lead_outbox.email is 'e-mail address';
comment on column lead_outbox.marketing_consent is 'consent to marketing e-mails';
comment on column lead_outbox.owner_ids is 'IDs of the shoppers who left it';
comment on column lead_outbox.reason is 'answer of the platform';
create unique index lead_outbox_email on lead_outbox (shop_id, lower(email));
create index lead_outbox_waiting on lead_outbox (available_at) where dead_at is null;
create index lead_outbox_owners on lead_outbox using gin (owner_ids);

-- Stored data of a customer, collected when the platform of a shop requests it, for an operator to send to the merchant. Deleted with the
-- customer.
create table data_requests (
  id bigint generated always as identity primary key,
  shop_id text not null references shops (id),
  -- The ID of the platform: a repeated request is one row.
  request_id text not null,
  customer_id text,
  email text,
  held jsonb not null,
  created_at timestamptz not null default now_ms(),
  unique (shop_id, request_id)
);
comment on table data_requests is 'answers the request of a customer for their data, which Shopify passes on
lifetime: 90 days
erased by: redaction';
comment on column data_requests.customer_id is 'ID at the platform';
comment on column data_requests.email is 'e-mail address';
comment on column data_requests.held is 'stored data of the customer';
create index data_requests_age on data_requests (created_at);

-- STORED OBJECTS ---------------------------------------------------------------------------------------------------------------------

-- Every key in the object storage, written before its bytes: erasures and sweeps read this table.
create table objects (
  key text primary key,
  account_id text not null references accounts (id),
  external_user_id text,
  -- Of a result, and of the mask of a photo: an erasure finds everything that was stored for a generation, also by attempts that never ended.
  generation_id text,
  -- upload: bytes that a browser sends before it reports that the upload is complete.
  kind text not null check (kind in ('person', 'product', 'result', 'logo', 'upload')),
  -- Null while the bytes have not arrived.
  bytes bigint check (bytes >= 0),
  -- Until when one replica turns an upload into a photo, whose result the others wait for. Null for all other objects.
  claimed_until timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now_ms()
);
comment on table objects is 'finds the objects of the storage
lifetime: the lifetime of its object; for an upload that may still arrive 10 more minutes, without its owner
erased by: `DELETE /tryon/v1/customers/{id}`. Under a legal hold the row stays until the hold ends';
comment on column objects.external_user_id is 'ID of the end user';
comment on column objects.key is 'ID of the photo, mask or result';
comment on column objects.generation_id is 'its generation';
create index objects_expiry on objects (expires_at) where expires_at is not null;
create index objects_generation on objects (generation_id) where generation_id is not null;
create index objects_user on objects (account_id, external_user_id) where external_user_id is not null;
-- Retention policies ask for the oldest objects of a kind.
create index objects_age on objects (kind, created_at);
-- The stored bytes of an account are summed from this index alone.
create index objects_account_bytes on objects (account_id) include (bytes);
-- What workers fetched for a product is below products/<account>/<product>/: one range, in the order of bytes.
create index objects_products on objects (account_id, key collate "C") where kind = 'product';
-- Storages list keys in the order of bytes: a reconciliation reads the rows of each part of the list.
create index objects_key_bytes on objects (key collate "C");

-- In the corner of results; null: no logo.
alter table accounts add column logo_key text references objects (key) on delete set null;
create index accounts_logo on accounts (logo_key) where logo_key is not null;

-- Perceptual hashes of stored photos and results, by which removal requests find copies. A hash is deleted with its object.
create table image_hashes (
  object_key text primary key references objects (key) on delete cascade,
  -- Null: the image shows too little, or is damaged. No request finds it.
  hash bit(256)
);
comment on table image_hashes is 'finds copies of an image that a person asks to remove
lifetime: the lifetime of its object
erased by: the deletion of its object, by `DELETE /tryon/v1/customers/{id}` and removal requests too';
comment on column image_hashes.object_key is 'ID of the photo or the result';
comment on column image_hashes.hash is 'perceptual hash of the image';

-- PRODUCTS ---------------------------------------------------------------------------------------------------------------------------

create table products (
  id text primary key,
  account_id text not null references accounts (id),
  external_id text not null,
  anonymous boolean not null default false,
  title text,
  description text,
  -- [{ sourceUrl, order, classifications, objectKey?, hash? }]; entries with an objectKey have bytes that were sent.
  images jsonb not null,
  -- Changes with every edit of the images: what was fetched for an earlier edition is not used again.
  images_edition text not null,
  -- What workers saw in the images: { "edition": images_edition, "images": { "<order>": { type, view, category, confidence } } }.
  -- Out of date for another edition. Not in `images`, so that looking at one does not edit the product.
  detected jsonb,
  -- Not jsonb, which sorts members: callers get metadata back in the order in which they sent it.
  metadata json,
  valid_for_days integer check (valid_for_days between 1 and 365),
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now_ms(),
  updated_at timestamptz not null default now_ms(),
  unique (account_id, external_id)
);
comment on table products is 'the catalog of an account
lifetime: `validForDays` after the last use: 7 days without `externalId`, 15 in a try-on, none with `POST /products`
erased by: `DELETE /tryon/v1/products/{externalId}`';
comment on column products.images is 'product photos, which can show a model';
-- IDs made by the server are unique in the installation, so that those of another account are told from unknown ones.
create unique index products_anonymous on products (external_id) where anonymous;
create index products_expiry on products (expires_at) where expires_at is not null;
-- Pages of the catalog, newest first; IDs are made in the order of time.
create index products_catalog on products (account_id, id) where not anonymous;
-- Which products still have a stored image.
create index products_objects on products using gin (images jsonb_path_ops)
  where jsonb_path_exists(images, '$[*].objectKey');

-- Catalogs in batches of up to 500 products: the outcome of each product and each of its images. Swept after 7 days.
create table product_batches (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  items int not null,
  -- Whether images of the batch may still have to be fetched.
  is_fetching boolean not null default true,
  created_at timestamptz not null default now()
);
create index product_batches_age on product_batches (created_at);
create index product_batches_fetching on product_batches (account_id) where is_fetching;

create table product_batch_items (
  batch_id text not null references product_batches (id) on delete cascade,
  position int not null,
  line int not null,
  external_id text,
  result text not null check (result in ('created', 'updated', 'unchanged', 'failed')),
  error json,
  primary key (batch_id, position)
);

create table product_batch_images (
  batch_id text not null,
  position int not null,
  image int not null,
  account_id text not null,
  product_id text not null,
  edition text not null,
  url text not null,
  state text not null default 'pending' check (state in ('pending', 'fetched', 'failed', 'replaced')),
  error_code text,
  attempts int not null default 0,
  available_at timestamptz not null default now(),
  primary key (batch_id, position, image),
  foreign key (batch_id, position) references product_batch_items (batch_id, position) on delete cascade
);
create index product_batch_images_pending on product_batch_images (account_id, batch_id, position, image)
  where state = 'pending';

-- PHOTOS -----------------------------------------------------------------------------------------------------------------------------

create table images (
  id text primary key,
  account_id text not null references accounts (id),
  object_key text not null references objects (key) on delete cascade,
  external_user_id text,
  -- Of a browser without proof of who uses it: the ID of a shopper of the same network address, who can use the photo too. The interface
  -- asks for the name of the browser in uploads only.
  address_user_id text,
  width integer not null,
  height integer not null,
  -- auto: crops to 4:5 around the person; none: keeps the whole photo.
  crop_mode text not null check (crop_mode in ('auto', 'none')),
  -- Null until a worker has seen the photo.
  crop jsonb,
  person_detected boolean,
  warnings jsonb not null default '[]',
  -- The days that the call chose; null: those of the account.
  keep_for_days integer,
  expires_at timestamptz not null,
  created_at timestamptz not null default now_ms()
);
comment on table images is 'lets a try-on use an uploaded photo
lifetime: `keepForDays` of the call (1, 3 or 7), otherwise the days of the account (1 to 90, 7 by default)
erased by: `DELETE /tryon/v1/customers/{id}`';
comment on column images.id is 'ID of the photo';
comment on column images.object_key is 'where the photo is stored';
comment on column images.external_user_id is 'ID of the end user';
comment on column images.address_user_id is 'keyed hash of the network address of a visitor';
comment on column images.crop is 'where the person is in the photo';
comment on column images.person_detected is 'whether the photo shows a person';
comment on column images.warnings is 'quality of the photo';
create index images_user on images (account_id, external_user_id) where external_user_id is not null;
create index images_object on images (object_key);

-- GENERATIONS ------------------------------------------------------------------------------------------------------------------------

create table generations (
  id text primary key,
  account_id text not null references accounts (id),
  -- The shop of the shopper; null for calls of the server API.
  shop_id text references shops (id),
  product_id text not null,
  product_external_id text not null,
  -- The product as it was when the call was accepted.
  snapshot jsonb not null,
  image_id text,
  -- The upload that the mask of the photo was; null for a mask that came with the call, or none.
  mask_image_id text,
  external_user_id text,
  -- The owner of the photo, if it is another one: what was made of a photo is erased with it.
  photo_user_id text,
  -- Keyed hash of the network address of a visitor; null for customers whom the platform of the shop has signed in.
  visitor_address text,
  -- Keyed hash of the shopper, until the ISO week (UTC) of the generation ends. The weekly limit counts by it: an erasure removes the ID
  -- of the shopper and must not reset the limit.
  shopper_hash text,
  -- { "policy", "version", "at" }: what the person of the photo agreed to, and when. Names no person.
  consent jsonb,
  options jsonb not null,
  engine text not null,
  -- The engine that `engine` stands in for as its fallback; null: none.
  requested_engine text,
  cost integer not null check (cost >= 0),
  status text not null default 'PENDING' check (status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
  progress real,
  deadline_at timestamptz not null,
  -- The attempt that waits or runs. A writer names its attempt; that of an earlier attempt finds no row.
  attempt integer not null default 1,
  worker text,
  lease_until timestamptz,
  -- When the attempt that started last was handed to the queue.
  attempt_dispatched_at timestamptz,
  -- [{ attempt, worker, dispatchedAt, startedAt, endedAt, reason }], oldest first; at most MAX_ATTEMPTS + MAX_SPARED. For drape debug.
  past_attempts jsonb not null default '[]',
  result_key text,
  -- Of a try-on with several results or with masks of what they change: [{ key, changedKey?, seed, quality }], best first, then of those
  -- that failed [{ seed, errorCode, errorMessage }]. `result_key` is the first key. Null: one result.
  results jsonb,
  images_expire_at timestamptz not null,
  -- Names the photo in the Content Credentials of the result. Without it nobody can tell from a result which photo it shows.
  ingredient_salt text,
  -- How good the result looks by the measure of the worker; null for engines and photos that it cannot judge.
  quality real check (quality between 0 and 1),
  category text,
  -- The products of an outfit: [{ layer, externalId, title, cost }] in the order of the call, later with what became of each. Null: one
  -- product alone.
  layers jsonb,
  -- SHA-256 of all that decides the result, and of the end user; null for accounts that reuse no results.
  fingerprint bytea,
  -- The generation whose result this one copies; null: its own.
  reused_from text,
  warnings jsonb not null default '[]',
  timings jsonb,
  engine_info jsonb,
  error_code text,
  error_message text,
  -- The fields of the call that a failure is about: [{ "path": "products[0].images[1]", "message": … }]. Answers and webhooks contain
  -- them as a worker wrote them.
  error_details jsonb constraint generations_error_details check (
    case when jsonb_typeof(error_details) = 'array' then
      octet_length(error_details::text) <= 65536
      and jsonb_array_length(error_details) = jsonb_array_length(jsonb_path_query_array(error_details, 'strict $[*] ? (
        @.path.type() == "string" && @.message.type() == "string"
        && !exists(@.keyvalue() ? (@.key != "path" && @.key != "message")))'))
    else error_details is null end),
  created_at timestamptz not null default now_ms(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default now_ms()
);
comment on table generations is 'state, price and statistics of a try-on
lifetime: the record stays, without its images once they expire; `visitor_address` 2 days; `shopper_hash` until the ISO week ends; records of test keys 1 day. The IDs of the end users stay until they are erased
erased by: `DELETE /tryon/v1/customers/{id}` sets the IDs of end user, photo and result and the salt to null and cancels unfinished work, also of what others made of a photo of the end user; the record stays, with the hash of the shopper, so that an erasure does not reset the weekly limit';
comment on column generations.image_id is 'ID of the photo';
comment on column generations.mask_image_id is 'ID of its mask';
comment on column generations.external_user_id is 'ID of the end user';
comment on column generations.photo_user_id is 'ID of the end user of the photo, if it is another one';
comment on column generations.result_key is 'where the result is stored';
comment on column generations.results is 'where all are stored';
comment on column generations.visitor_address is 'keyed hash of the network address of a visitor';
comment on column generations.shopper_hash is 'keyed hash of the ID of a shopper of a shop';
comment on column generations.fingerprint is 'hash of end user, photo and product';
comment on column generations.ingredient_salt is 'links a result to its photo';
create index generations_user on generations (account_id, external_user_id) where external_user_id is not null;
create index generations_photo_user on generations (account_id, photo_user_id) where photo_user_id is not null;
create index generations_lease on generations (lease_until) where status = 'PROCESSING';
create index generations_deadline on generations (deadline_at) where status in ('PENDING', 'PROCESSING');
-- A product is counted by the ID that callers know, also across a deletion.
create index generations_product_name on generations (account_id, product_external_id, created_at);
create index generations_layers on generations using gin (layers jsonb_path_ops) where layers is not null;
create index generations_fingerprint on generations (fingerprint, finished_at) where fingerprint is not null;
-- An erasure asks for each photo without an end user.
create index generations_image on generations (image_id) where image_id is not null;
create index generations_mask on generations (mask_image_id) where mask_image_id is not null;
-- The pace of workers.
create index generations_finished on generations (engine, finished_at desc) where status = 'COMPLETED';
-- Limits count what did not fail.
create index generations_counted on generations (account_id, created_at) where status <> 'FAILED';
create index generations_shop on generations (shop_id, created_at) where shop_id is not null and status <> 'FAILED';
create index generations_visitors on generations (shop_id, created_at, visitor_address) where visitor_address is not null;
create index generations_shoppers on generations (shop_id, shopper_hash, created_at) where shopper_hash is not null;
create index generations_failed_lately on generations (account_id, finished_at) where status = 'FAILED' and shop_id is null;
-- The dashboard searches generations of a time, and failed ones by their code.
create index generations_created on generations using brin (created_at);
create index generations_failed on generations (error_code, id) where status = 'FAILED';

-- Freezes what workers write of an ended generation: a worker that was taken over could fail and refund a generation and then complete
-- it, or replace results of others. Erasure and retention only empty columns; of those, workers can write these three.
create function refuse_change_of_ended_generation() returns trigger language plpgsql as $$
begin
  raise exception 'The generation % has ended', old.id using errcode = 'object_not_in_prerequisite_state';
end
$$;
create trigger generations_ended before update on generations for each row
  when (old.status in ('COMPLETED', 'FAILED') and (
    (old.status, old.attempt, old.worker, old.lease_until, old.started_at, old.finished_at, old.updated_at, old.progress, old.warnings,
      old.timings, old.attempt_dispatched_at, old.past_attempts, old.engine_info, old.category, old.quality, old.layers, old.error_code,
      old.error_message, old.error_details)
    is distinct from
    (new.status, new.attempt, new.worker, new.lease_until, new.started_at, new.finished_at, new.updated_at, new.progress, new.warnings,
      new.timings, new.attempt_dispatched_at, new.past_attempts, new.engine_info, new.category, new.quality, new.layers, new.error_code,
      new.error_message, new.error_details)
    or (new.result_key is not null and new.result_key is distinct from old.result_key)
    or (new.results is not null and new.results is distinct from old.results)
    or (new.ingredient_salt is not null and new.ingredient_salt is distinct from old.ingredient_salt)))
  execute function refuse_change_of_ended_generation();

-- Jobs of unfinished generations: one row each, deleted when the generation has ended.
create table outbox (
  generation_id text primary key references generations (id),
  account_id text not null,
  -- Where the job was handed to last, while dispatched_at is set.
  queue text not null,
  payload jsonb not null,
  -- The relay takes jobs of the engines of one lane of workers, from each account in turn. Not `engine`: statements join generations.
  engine_name text not null,
  -- Batch work steps back behind interactive work of its account.
  is_batch boolean not null default false,
  available_at timestamptz not null default now_ms(),
  dispatched_at timestamptz,
  created_at timestamptz not null default now_ms()
);
comment on table outbox is 'jobs that workers have not finished
lifetime: until the generation ends, at the latest at its deadline
erased by: `DELETE /tryon/v1/customers/{id}` cancels the generation';
comment on column outbox.payload is 'IDs of the end user, the photo and its mask';
create index outbox_waiting on outbox (account_id, available_at, generation_id) where dispatched_at is null;
create index outbox_dispatched on outbox (account_id, dispatched_at) where dispatched_at is not null;
create index outbox_classes on outbox (engine_name, account_id, is_batch, available_at, generation_id) where dispatched_at is null;

create table ledger (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id),
  amount bigint not null check (amount <> 0),
  kind text not null check (kind in ('grant', 'reserve', 'refund')),
  generation_id text,
  note text,
  created_at timestamptz not null default now_ms()
);
comment on table ledger is 'proves every change of credits
lifetime: no end
erased by: none';
comment on column ledger.note is 'reason, as the operator wrote it';
-- A generation is charged at most once and refunded at most once, whatever happens.
create unique index ledger_once on ledger (generation_id, kind) where generation_id is not null;
create index ledger_account on ledger (account_id, id);

-- The limits below are VOLATILE to see new rows: called under the lock of the account's row, they count every generation that was
-- accepted before. Failed generations cost no credit and do not count as results; those that a worker has started count as attempts,
-- which have limits of their own.
create function count_unfinished(account text) returns bigint language sql volatile as $$
  select (select count(*) from outbox where account_id = account and dispatched_at is null)
    + (select count(*) from outbox where account_id = account and dispatched_at is not null)
$$;
create function count_since(account text, since timestamptz) returns bigint language sql volatile as $$
  select count(*) from generations where account_id = account and created_at >= since and status <> 'FAILED'
$$;
create function count_of_shop(shop text, since timestamptz) returns bigint language sql volatile as $$
  select count(*) from generations where shop_id = shop and created_at >= since and status <> 'FAILED'
$$;

-- Also one that its shopper cancelled before a worker started it: otherwise anyone could order and cancel without end.
create function is_attempt(status text, started_at timestamptz, error_code text) returns boolean language sql immutable as $$
  select status <> 'FAILED' or started_at is not null or error_code = 'GENERATION_CANCELLED'
$$;

-- Each returns the generations that may still be accepted.
create function room_of_shopper(shop text, shopper text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where shop_id = shop and shopper_hash = shopper and created_at >= since and is_attempt(status, started_at, error_code)
$$;
create function room_of_address(shop text, address text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where shop_id = shop and created_at >= since and visitor_address = address
    and is_attempt(status, started_at, error_code)
$$;
create function room_of_visitors(shop text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where shop_id = shop and created_at >= since and visitor_address is not null
    and is_attempt(status, started_at, error_code)
$$;

-- Whether the calls of the account's own keys have failed, within the last hour, max_failed times more often than they completed.
-- Generations of shops have the limits above, so that visitors of a shop cannot lock the account.
create function fails_too_often(account text, max_failed bigint) returns boolean language sql volatile as $$
  select case when failed < max_failed then false else failed - max_failed >= (
      select count(*) from generations
      where account_id = account and shop_id is null and status = 'COMPLETED' and created_at > now() - interval '1 hour')
    end
  from (
    select count(*) as failed from generations
    where account_id = account and shop_id is null and status = 'FAILED' and started_at is not null
      and finished_at > now() - interval '1 hour'
  ) as lately
$$;

create table share_links (
  token text primary key,
  generation_id text not null references generations (id),
  shop_id text not null references shops (id),
  -- The domain that the shopper visited.
  domain text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now_ms()
);
comment on table share_links is 'links to results that shoppers share
lifetime: the lifetime of the image, at most 30 days; then 30 more days as an expired link
erased by: the link shows nothing once the result is erased';
comment on column share_links.token is 'opens the result';
comment on column share_links.generation_id is 'ID of the try-on';
create index share_links_generation on share_links (generation_id, domain);
create index share_links_expiry on share_links (expires_at);

-- WEBHOOKS ---------------------------------------------------------------------------------------------------------------------------

create table webhook_endpoints (
  id text primary key,
  account_id text not null references accounts (id),
  url text not null,
  -- ["generation.completed", …]
  event_types jsonb not null,
  -- [{ secret, createdAt }], newest first: each signs, so that one can replace another without a gap.
  secrets jsonb not null,
  is_active boolean not null default true,
  -- When and why deliveries were given up.
  disabled_at timestamptz,
  disabled_reason text,
  -- Since when every delivery fails, and how many pauses there were since then.
  failing_since timestamptz,
  failures integer not null default 0,
  paused_until timestamptz,
  created_at timestamptz not null default now_ms()
);
create index webhook_endpoints_account on webhook_endpoints (account_id);

-- Programs of developers that poll the events of an account. They have deliveries as endpoints have, but nothing is sent to them.
-- Expired listeners stay until their deliveries are deleted, because only they lead to the account.
create table webhook_listeners (
  id text primary key,
  account_id text not null references accounts (id),
  event_types jsonb not null,
  -- Each poll moves it.
  expires_at timestamptz not null,
  created_at timestamptz not null default now_ms()
);
create index webhook_listeners_account on webhook_listeners (account_id, expires_at);

-- Who gets the events of an account.
create view webhook_receivers as
  select id, account_id, event_types from webhook_endpoints where is_active
  union all
  select id, account_id, event_types from webhook_listeners where expires_at > now();

-- Outbox and log of events to endpoints. No foreign key: an endpoint that is deleted at the same moment must not block the change that
-- the row reports.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  endpoint_id text not null,
  -- Of what happened: an endpoint gets the same ID at each attempt.
  event_id text not null,
  type text not null,
  -- Null once delivered, if it names a person.
  data jsonb,
  happened_at timestamptz not null,
  status text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- While a process delivers it: when it counts as lost with that process.
  next_attempt_at timestamptz not null default now(),
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  -- When it was delivered or given up.
  ended_at timestamptz,
  created_at timestamptz not null default now_ms()
);
comment on table webhook_deliveries is 'delivers events to the account and shows the log
lifetime: 14 days; `customer.erased` names the end user until it is delivered
erased by: none before that';
comment on column webhook_deliveries.data is 'ID of the end user, in `customer.erased` only';
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, next_attempt_at, id) where status = 'waiting';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_age on webhook_deliveries (created_at);

-- The layers of an outfit as callers see them: see presentLayer in api/generations/generations.view.ts.
create function present_layers(layers jsonb) returns jsonb language sql immutable parallel safe as $$
  select jsonb_agg(jsonb_build_object('productExternalId', layer->'externalId') || layer - array['externalId', 'title', 'cost']
    - case when layer->'applied' = 'true' then array['errorCode', 'errorMessage'] else array['warnings', 'quality'] end order by place)
  from jsonb_array_elements(layers) with ordinality as own (layer, place)
$$;

-- A text of each layer of an outfit, in one.
create function join_layers(layers jsonb, field text) returns text language sql immutable parallel safe as $$
  select string_agg(layer->>field, ' + ' order by place) from jsonb_array_elements(layers) with ordinality as own (layer, place)
$$;

-- The layers of an outfit that its image shows; all before it has ended, and null for a single product. A closed jacket hides the top.
create function shown_layers(layers jsonb) returns jsonb language sql immutable parallel safe as $$
  select jsonb_path_query_array(layers, '$[*] ? (!(@.applied == false) && !(@.warnings[*] == "PRODUCT_HIDDEN"))')
$$;

-- The product that represents a generation: of an outfit, the first one that its image shows, or of a failed one the first.
create function shown_product(layers jsonb, first text) returns text language sql immutable parallel safe as $$
  select coalesce(shown_layers(layers)->0->>'externalId', first)
$$;

-- Settles ended generations: deletes their jobs, refunds those that failed, the layers that outfits lack and the results that failed, and queues their webhooks. Runs with the rights of the owner,
-- because workers end generations and must not be able to change balances. Believes no caller: the row of the job, which only this
-- function deletes and no worker can insert, is what shows that a generation is not settled yet. The ledger's unique index makes the
-- refund idempotent. Accounts are locked in the order of their IDs, so that concurrent statements cannot deadlock.
-- VOLATILE to see new rows: those that the calling statement has ended.
create function settle_generations(ids text[]) returns void language plpgsql volatile strict security definer as $$
begin
  with cleared as (
    delete from outbox using generations
    where generation_id = any(ids) and generations.id = generation_id and status in ('COMPLETED', 'FAILED')
    returning generation_id as id
  ), ended as (
    select generations.* from generations join cleared using (id)
  ), entries as (
    insert into ledger (account_id, amount, kind, generation_id)
    select account_id, refund, 'refund', id from ended cross join lateral (
      select case when status = 'FAILED' then cost
        when results is not null
          then cost * jsonb_array_length(jsonb_path_query_array(results, '$[*] ? (exists(@.errorCode))')) / jsonb_array_length(results)
        else (
          select least(cost, coalesce(sum((layer->>'cost')::int), 0)) from jsonb_array_elements(layers) as layer
          where layer->'applied' = 'false') end as refund) as due
    where refund > 0
    returning account_id, amount
  ), sums as (select account_id, sum(amount) as amount from entries group by account_id
  ), owners as (
    select accounts.id, sums.amount from accounts join sums on sums.account_id = accounts.id
    order by accounts.id for no key update of accounts
  ), refunded as (
    update accounts set balance = balance + owners.amount from owners where accounts.id = owners.id
  )
  -- IDs, status and fields of the call, no personal data.
  insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
  select receivers.id, 'evt_' || substr(ended.id, 5), 'generation.' || lower(status), jsonb_strip_nulls(jsonb_build_object(
    'generationId', ended.id, 'status', status, 'errorCode', error_code, 'errorDetails', error_details,
    'productExternalId', shown_product(layers, product_external_id), 'shopId', shop_id,
    'reused', case when status = 'COMPLETED' and reused_from is not null then true end))
    || case when layers is null then '{}' else jsonb_build_object('layers', present_layers(layers)) end, updated_at
  from ended join webhook_receivers as receivers
    on receivers.account_id = ended.account_id and receivers.event_types ? ('generation.' || lower(status));
end
$$;

-- ERASURE OF END USERS ---------------------------------------------------------------------------------------------------------------

create function customer_hash(account_id text, external_user_id text) returns bytea language sql immutable parallel safe
  as $$ select sha256(convert_to(account_id || chr(10) || external_user_id, 'UTF8')) $$;

-- An end user is erased by any value that a surface was sent: an externalUserId, a customer ID of the platform of a shop, or the ID of a
-- browser. Shops store the last two as shop_…:customer:… and shop_…:browser:…, and visitors with a token as shop_…:visitor:….
-- Names that an erasure may give for the owner with this ID: the ID itself and, if it names a shopper of a shop, the shopper's value there;
-- a browser with and without its prefix. See api/shared/shopper-id.ts.
create function customer_names(external_user_id text) returns text[] language sql immutable parallel safe as $$
  select array[external_user_id] || array(
    select unnest(case when parts[1] = 'browser' then array[parts[2], regexp_replace(parts[2], '^anon_(?!anon_)', '')] else array[parts[2]] end)
    from regexp_matches(external_user_id, '^shop_[0-9a-f-]{36}:(customer|visitor|browser|address):(.+)$') as parts)
$$;

-- Every ID whose names contain this name: the name itself, and the shoppers of all shops of the account with this value.
create function customer_ids(account text, external_user_id text) returns text[] language sql stable parallel safe as $$
  select array(
    select shops.id || ':' || kind || ':' || value
    from shops cross join (
      values ('customer', $2), ('visitor', $2), ('address', $2), ('browser', regexp_replace($2, '^(?!anon_)', 'anon_'))
    ) as names (kind, value)
    where shops.account_id = $1
  ) || $2
$$;

-- When an end user was last erased. Acceptances that began before are refused: their snapshot does not show the erasure.
-- Swept after an hour, when no such acceptance can still run. The ID of the end user is stored nowhere.
create table erased_customers (
  customer bytea primary key,
  erased_at timestamptz not null
);
comment on table erased_customers is 'refuses calls that were sent before an erasure
lifetime: 1 hour
erased by: none: the erasure creates the row';
comment on column erased_customers.customer is 'SHA-256 of account and end user';
create index erased_customers_age on erased_customers (erased_at);

-- Waits for acceptances of the end user's calls that have passed was_erased_since. Returns the time of the erasure.
create function mark_erased(account_id text, external_user_id text) returns timestamptz language plpgsql volatile as $$
declare
  marked_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended(account_id || chr(10) || external_user_id, 7201430037));
  insert into erased_customers as known (customer, erased_at)
  values (customer_hash(account_id, external_user_id), clock_timestamp())
  on conflict (customer) do update set erased_at = greatest(known.erased_at, excluded.erased_at)
  returning erased_at into marked_at;
  return marked_at;
end $$;

-- Also considers erasures of the value in the ID. VOLATILE to see new rows. The lock lasts until the calling transaction ends: an erasure
-- that this function did not see waits for it, and then sees what the transaction wrote.
create function was_erased_since(account_id text, external_user_id text, since timestamptz) returns boolean
language plpgsql volatile as $$
declare
  names text[] := customer_names(external_user_id);
begin
  if external_user_id is null then
    return false;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended(account_id || chr(10) || name, 7201430037)) from unnest(names) as name;
  return exists (
    select from unnest(names) as name join erased_customers on customer = customer_hash(account_id, name)
    where erased_at >= since);
end $$;

-- Erasures from the first deletion to the signed receipt.
create table erasures (
  id text primary key,
  account_id text not null references accounts (id),
  -- customer_hash of the end user.
  customer bytea not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- Key of the entry in the erasure log; null if nothing was known of the end user.
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
comment on table erasures is 'proves an erasure by a signed receipt
lifetime: 3 years after the receipt; 90 days without one
erased by: none: the erasure itself creates the hash';
comment on column erasures.customer is 'hash of the ID of the end user';
-- Calls for the same end user share an erasure until its receipt is issued.
create unique index erasures_open on erasures (account_id, customer) where issued_at is null;
create index erasures_due on erasures (check_at) where issued_at is null and erased_at is not null;
create index erasures_issued on erasures (issued_at) where issued_at is not null;

-- The erasure to which deletions of the end user belong now. Locks its row until the transaction ends, so that no receipt is issued
-- without them.
create function open_erasure(account text, external_user_id text) returns text language sql volatile as $$
  insert into erasures as known (id, account_id, customer)
  values ('era_' || gen_random_uuid(), account, customer_hash(account, external_user_id))
  on conflict (account_id, customer) where issued_at is null
    do update set erased_at = null, waits_for = 'erasure'
  returning id;
$$;

-- What an erasure deleted, until its receipt is issued.
create table erased_objects (
  erasure_id text not null references erasures (id) on delete cascade,
  key text not null,
  kind text not null,
  bytes bigint,
  primary key (erasure_id, key)
);
comment on table erased_objects is 'lists what an erasure deleted
lifetime: until the receipt is issued, at most 90 days
erased by: issuing the receipt';
comment on column erased_objects.key is 'ID of a deleted photo or result';
create table erased_rows (
  erasure_id text not null references erasures (id) on delete cascade,
  name text not null,
  count integer not null
);
create index erased_rows_erasure on erased_rows (erasure_id);
-- Cancelled attempts, which a worker may still hold.
create table erased_jobs (
  erasure_id text not null references erasures (id) on delete cascade,
  generation_id text not null,
  attempt integer not null,
  primary key (erasure_id, generation_id, attempt)
);

-- Receipts to be sent by e-mail. The row, and with it the address, is deleted when the e-mail is sent or given up.
create table receipt_mails (
  erasure_id text not null references erasures (id) on delete cascade,
  address text not null,
  attempts integer not null default 0,
  send_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (erasure_id, address)
);
comment on table receipt_mails is 'sends the receipt of an erasure by e-mail
lifetime: until the e-mail is sent or abandoned, at most 14 days after the receipt
erased by: sending the e-mail';
comment on column receipt_mails.address is 'e-mail address that the call for the erasure named';
create index receipt_mails_due on receipt_mails (send_at);
create index receipt_mails_created on receipt_mails (created_at);

-- Keys that receipts were signed with, by which old receipts are recognized after a rotation.
create table receipt_keys (
  -- SHA-256 of the public key, in hex.
  key_id text primary key,
  -- Base64.
  public_key text not null,
  first_used_at timestamptz not null default now()
);

-- Entries of the erasure log that this database reflects: a restored backup lacks those of later erasures. Written when an erasure has
-- deleted everything, never before. If the table is empty, the next start reads the whole log. Entries more than a week older than the
-- newest are deleted after the comparison.
create table applied_erasures (
  log_key text collate "C" primary key
);
comment on table applied_erasures is 'shows which erasures a restored backup lacks
lifetime: until the first start of the API more than a week later; the newest entries are kept
erased by: none';
comment on column applied_erasures.log_key is 'hash of the ID of the end user, with the time of the erasure';

-- LEGAL HOLDS ------------------------------------------------------------------------------------------------------------------------

-- Every retention policy whose holds are published. A policy whose holds were never read (read_at is null) holds every image.
create table hold_policies (
  -- 'kubernetes' or 'file': a publisher replaces only its own rows.
  source text not null,
  name text not null,
  read_at timestamptz,
  primary key (source, name)
);
create index hold_policies_unread on hold_policies (name) where read_at is null;

-- Whose images must be kept, over all policies. Every statement that deletes stored bytes excludes these.
create table legal_holds (
  source text not null,
  policy text not null,
  -- No foreign key: a hold may name an account before the account is created.
  account_id text not null,
  -- One end user of the account; null: all of them.
  external_user_id text,
  foreign key (source, policy) references hold_policies (source, name) on delete cascade,
  unique nulls not distinct (account_id, external_user_id, source, policy)
);
comment on table legal_holds is 'keeps images that must not be deleted
lifetime: until the policy with the hold is changed or deleted
erased by: none: ends with the hold';
comment on column legal_holds.external_user_id is 'ID of the end user';

-- Deletions take this lock shared, in the transaction that deletes bytes; a publication takes it exclusively. So once a hold is
-- published, no deletion that was decided before still runs.
create function lock_legal_holds_shared() returns void language sql as $$ select pg_advisory_xact_lock_shared(7201430041) $$;
create function lock_legal_holds() returns void language sql as $$ select pg_advisory_xact_lock(7201430041) $$;

-- CONSENT ----------------------------------------------------------------------------------------------------------------------------

-- Texts that visitors agree to, by name: the domain of a shop, or what an account calls the policy of its own app. A published version
-- never changes: consents refer to it. The newest version counts.
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

-- Who agreed to which version, and who withdrew. Proves consents after the images are deleted, so it has no ID of a person.
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
comment on table consents is 'proves who agreed to which text, and who withdrew
lifetime: 3 years after the consent was given or withdrawn
erased by: redaction, `POST /public/withdraw-consent`: the consent ends. The proof stays (GDPR, article 7 paragraph 1); it names no person';
comment on column consents.visitor is 'SHA-256 of account and shopper';
comment on column consents.version is 'the text that the visitor agreed to';
comment on column consents.language is 'language in which the text was shown';
comment on column consents.given_at is 'when the visitor agreed';
comment on column consents.withdrawn_at is 'when the visitor withdrew';
-- A consent that is repeated while it stands is one row.
create unique index consents_given on consents (visitor, shop_id, version) where withdrawn_at is null;
create index consents_shop on consents (shop_id, id);
create index consents_age on consents ((coalesce(withdrawn_at, given_at)));

-- REMOVAL REQUESTS -------------------------------------------------------------------------------------------------------------------

-- Requests of people, who need not be customers, to remove images that show them. Operators decide.
create table removal_requests (
  id text primary key,
  -- SHA-256 of the reference number, which only the requester has.
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
comment on table removal_requests is 'removal requests
lifetime: until 90 days after the decision; the hashes until the decision
erased by: none: the row proves that the request was answered';
comment on column removal_requests.email is 'e-mail address of the requester';
comment on column removal_requests.reason is 'as the requester wrote it';
comment on column removal_requests.hashes is 'perceptual hashes of the sent image, which is not stored';
comment on column removal_requests.answer is 'why an operator declined';
create index removal_requests_undecided on removal_requests (due_at) where state in ('OPEN', 'ERASING');

-- Erasures of a request, one for each account that had the images.
create table removal_erasures (
  request_id text not null references removal_requests (id) on delete cascade,
  account_id text not null references accounts (id),
  erasure_id text,
  primary key (request_id, account_id)
);

-- SAFETY -----------------------------------------------------------------------------------------------------------------------------

-- Refusals by a safety check that an account can appeal, with the perceptual hashes of the images in hex, the whole image first.
create table safety_refusals (
  generation_id text primary key references generations (id) on delete cascade,
  account_id text not null references accounts (id),
  failed_check text not null,
  -- The refused image; null: the result.
  image text check (image in ('person', 'product')),
  person_hashes text[] not null,
  product_hashes text[] not null,
  -- SHA-256 of photo and product image: an allowance is for these bytes before it is for close copies.
  image_digests bytea[],
  created_at timestamptz not null default now_ms()
);
comment on table safety_refusals is 'appeals, and lets an allowed pair of images pass
lifetime: 90 days; with an appeal, until 90 days after the decision
erased by: deleted with the appeal';
comment on column safety_refusals.failed_check is 'which check refused, for example that of the age';
comment on column safety_refusals.person_hashes is 'perceptual hashes of the photo';
comment on column safety_refusals.product_hashes is 'perceptual hash of the product image';
comment on column safety_refusals.image_digests is 'SHA-256 of photo and product image';
comment on column safety_refusals.generation_id is 'ID of the try-on';
create index safety_refusals_pair on safety_refusals (account_id, (person_hashes[1]), (product_hashes[1]));
create index safety_refusals_age on safety_refusals (created_at);

-- Appeals against refusals, and the decisions of operators.
create table safety_reviews (
  generation_id text primary key references safety_refusals (generation_id) on delete cascade,
  -- Why the refusal is wrong, as the account or the shopper wrote it.
  reason text not null,
  -- Whether the shopper wrote it, on the public page of the refusal.
  by_shopper boolean not null default false,
  -- Increases when the account changes its reason.
  version int not null default 1,
  state text not null default 'OPEN' check (state in ('OPEN', 'ALLOWED', 'REFUSED', 'BLOCKED')),
  answer text,
  created_at timestamptz not null default now_ms(),
  decided_at timestamptz,
  -- The try-on that an allowed pair of images passed in.
  used_by text
);
comment on table safety_reviews is 'appeals and the decisions of operators
lifetime: the lifetime of the refusal
erased by: deleted with the refusal';
comment on column safety_reviews.reason is 'as the account or the shopper wrote it';
comment on column safety_reviews.answer is 'answer of the operator';
comment on column safety_reviews.generation_id is 'ID of the try-on';
comment on column safety_reviews.used_by is 'ID of the try-on in which the allowed pair passed';
create index safety_reviews_open on safety_reviews (created_at) where state = 'OPEN';
create index safety_reviews_allowed on safety_reviews (generation_id) where state = 'ALLOWED';

-- Images that operators blocked, by perceptual hash.
create table safety_blocks (
  -- The hashes of one decision share an ID.
  id text not null,
  hash bit(256) not null,
  -- With it, the block applies to photos like `hash` together with products like this one, after a refused result.
  product_hash bit(256),
  -- The blocked image; null: the pair.
  image text,
  account_id text not null,
  created_at timestamptz not null default now_ms(),
  expires_at timestamptz,
  check ((image is null) = (product_hash is not null))
);
comment on table safety_blocks is 'images that operators blocked after a review
lifetime: until its expiry or removal
erased by: none: the hash identifies no person, and keeps the image refused';
comment on column safety_blocks.hash is 'perceptual hash of a photo or a product image';
comment on column safety_blocks.product_hash is 'of the product image blocked with the photo';
create unique index safety_blocks_images on safety_blocks (hash, coalesce(product_hash, hash));

-- PROVENANCE -------------------------------------------------------------------------------------------------------------------------

-- Keys that workers signed results with, by which old results are recognized after a rotation.
create table provenance_keys (
  -- SHA-256 of the public key, in hex.
  fingerprint text primary key,
  -- The certificate it was first used with, in PEM.
  certificate text not null,
  first_used_at timestamptz not null default now()
);

-- ANALYTICS EVENTS -------------------------------------------------------------------------------------------------------------------

-- What shoppers did, as their browsers, apps and shops report it. Partitioned by the day (UTC) of receipt, so that old days are dropped as
-- whole tables. No foreign keys: account and shop are looked up just before, and each key would cost every row another look-up.
create table events (
  received_on date not null,
  batch_id bigint not null,
  name text not null,
  insert_id text not null,
  -- Null: that of the batch.
  product_id text,
  generation_id text,
  properties jsonb not null,
  happened_at timestamptz not null
) partition by range (received_on);
comment on table events is 'statistics of a shop
lifetime: `EVENT_RETENTION_DAYS` (90)
erased by: redaction: only name, time, shop and product stay; waiting events are deleted';
comment on column events.properties is 'values of the shop’s page, such as the ID of an order';
comment on column events.generation_id is 'ID of the try-on';
create index events_batch on events (batch_id);

-- What all events of a batch have in common, stored once: a sender pays for every byte that it makes the service store.
create table event_batches (
  received_on date not null,
  -- Random: the process of the sender chooses it.
  id bigint not null,
  account_id text not null,
  shop_id text,
  anonymous_id text,
  session_id text,
  customer_id text,
  customer_email text,
  -- Whether the proxy or the platform of a shop vouches for the customer; otherwise the sender claims it.
  customer_signed boolean not null,
  product_id text,
  variant_id text,
  context jsonb not null,
  received_at timestamptz not null,
  primary key (received_on, id)
) partition by range (received_on);
comment on table event_batches is 'common data of the events of one request
lifetime: `EVENT_RETENTION_DAYS` (90)
erased by: as `events`';
comment on column event_batches.anonymous_id is 'ID of the browser';
comment on column event_batches.session_id is 'ID of the visit';
comment on column event_batches.customer_id is 'ID at the platform of the shop';
comment on column event_batches.customer_email is 'e-mail address at the platform of the shop';
comment on column event_batches.context is 'address of the page, browser, screen and time zone';
create index event_batches_account on event_batches (account_id, shop_id);
create index event_batches_browser on event_batches (account_id, anonymous_id) where anonymous_id is not null;
create index event_batches_customer on event_batches (account_id, customer_id) where customer_id is not null;
create index event_batches_email on event_batches (account_id, lower(customer_email)) where customer_email is not null;

-- Keys of the stored events of all days, so that a repeated event counts once.
create table event_keys (
  -- event_key of the account and the ID that the sender gave.
  key uuid primary key,
  received_on date not null
);
-- Rows of one day lie together.
create index event_keys_day on event_keys using brin (received_on);

-- Events to be forwarded to the analytics provider.
create table event_outbox (
  id bigint generated always as identity primary key,
  key uuid not null,
  received_on date not null,
  batch_id bigint not null,
  name text not null,
  insert_id text not null,
  product_id text,
  generation_id text,
  properties jsonb not null,
  happened_at timestamptz not null,
  received_at timestamptz not null,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  -- When the provider refused it permanently, and why.
  dead_at timestamptz,
  reason text
);
comment on table event_outbox is 'events to be forwarded to the analytics provider; empty without `ANALYTICS_URL`
lifetime: until they are forwarded, at most `EVENT_RETENTION_DAYS` (90)
erased by: redaction deletes them';
comment on column event_outbox.properties is 'values of the shop’s page, such as the ID of an order';
comment on column event_outbox.generation_id is 'ID of the try-on';
create index event_outbox_waiting on event_outbox (available_at) where dead_at is null;

-- The key of an event.
create function event_key(account text, insert_id text) returns uuid language sql immutable strict as $$
  select (substr(hex, 1, 12) || '8' || substr(hex, 14, 3)
    || substr('89ab', ('x' || substr(hex, 17, 1))::bit(4)::integer % 4 + 1, 1) || substr(hex, 18, 15))::uuid
  from encode(sha256(convert_to(account || E'\n' || insert_id, 'UTF8')), 'hex') as hex
$$;

-- One process at a time creates or drops partitions. The number is that of no other advisory lock.
create function lock_event_partitions() returns void language sql as $$ select pg_advisory_xact_lock(7201430002) $$;

create function events_partition_of(parent text, day date) returns text language sql immutable strict
  as $$ select parent || '_' || to_char(day, 'YYYYMMDD') $$;

-- Creates the missing partitions of the days from `first` to `last`. Returns how many days it completed. A table is created first and
-- attached then, which unlike `create table … partition of` does not block writers.
create function make_event_partitions(first date, last date) returns integer language plpgsql security definer as $$
declare
  parent text;
  name text;
  is_new boolean;
  made integer := 0;
begin
  perform lock_event_partitions();
  for i in 0 .. last - first loop
    is_new := false;
    foreach parent in array array['event_batches', 'events'] loop
      name := events_partition_of(parent, first + i);
      continue when to_regclass(name) is not null;
      execute format('create table %I (like %I including all)', name, parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, name, first + i, first + i + 1);
      is_new := true;
    end loop;
    made := made + is_new::integer;
  end loop;
  return made;
end $$;

-- Drops the partitions of the oldest day before `day`. False when there is none, or when readers hold it for long: behind a waiting
-- drop every writer would wait too.
create function drop_event_partition(day date) returns boolean language plpgsql security definer set lock_timeout = '300ms' as $$
declare
  oldest text;
begin
  perform lock_event_partitions();
  select right(relid::text, 8) into oldest from (
    select relid from pg_partition_tree('events') where isleaf
    union all select relid from pg_partition_tree('event_batches') where isleaf) as leaves
  where right(relid::text, 8) < to_char(day, 'YYYYMMDD') order by 1 limit 1;
  if oldest is null then return false; end if;
  execute format('drop table if exists %I, %I', 'events_' || oldest, 'event_batches_' || oldest);
  return true;
exception when lock_not_available then
  return false;
end $$;

-- Views for statistics. A visitor is a browser or an app, as it names itself; a day is the day (UTC) of receipt. With a condition on the
-- day, only its partitions are read.

-- Every event with all its values.
create view event_details as
select event_key(account_id, insert_id) as key, events.received_on, account_id, shop_id, name, insert_id, anonymous_id, session_id,
  customer_id, customer_email, customer_signed, coalesce(events.product_id, batch.product_id) as product_id, variant_id,
  generation_id, properties, context, happened_at, received_at
from events join event_batches as batch on batch.received_on = events.received_on and batch.id = events.batch_id;

-- How far visitors got, one row for each visitor and day. Each step counts only after the one before it.
create view event_visits as
with steps as (
  select account_id, shop_id, received_on as day, anonymous_id as visitor, happened_at as at,
    name = 'product_page:page_view' as is_page_view,
    name in ('widget:button_click', 'widget:image_upload', 'widget:image_upload_success') as is_engagement,
    name = 'widget:generation_start' as is_generation,
    name = 'widget:result_view' as is_result,
    name in ('widget:add_to_cart', 'widget:add_to_cart_success', 'product_page:cart_add') as is_cart,
    name = 'widget:email_prompt_view' as is_email_prompt,
    name = 'widget:email_collected' as is_email
  from event_details where anonymous_id is not null
), engaged as (
  select *, min(at) filter (where is_engagement) over visit as engaged_at from steps
  window visit as (partition by account_id, shop_id, day, visitor)
), generated as (
  select *, min(at) filter (where is_generation and at >= engaged_at) over visit as generation_started_at from engaged
  window visit as (partition by account_id, shop_id, day, visitor)
), viewed as (
  select *, min(at) filter (where is_result and at >= generation_started_at) over visit as result_viewed_at from generated
  window visit as (partition by account_id, shop_id, day, visitor)
)
select account_id, shop_id, day, visitor,
  min(at) filter (where is_page_view) as page_viewed_at,
  min(engaged_at) as engaged_at,
  min(generation_started_at) as generation_started_at,
  min(result_viewed_at) as result_viewed_at,
  min(at) filter (where is_cart and at >= result_viewed_at) as carted_after_result_at,
  min(at) filter (where is_cart) as carted_at,
  min(at) filter (where is_email_prompt) as email_prompted_at,
  min(at) filter (where is_email) as email_collected_at
from viewed group by account_id, shop_id, day, visitor;

-- Widget engagement → generation → result → cart.
create view event_funnel as
select account_id, shop_id, day,
  count(engaged_at) as engaged,
  count(generation_started_at) as generation_started,
  count(result_viewed_at) as result_viewed,
  count(carted_after_result_at) as carted
from event_visits group by account_id, shop_id, day;

-- Whether visitors who have seen themselves in a product buy more often. Orders are those that the platform of the shop reports, which
-- have no session, not what a browser claims. One counts as after a try-on when its browser or customer has seen a result in the 30 days
-- before it.
create view event_conversion as
with visits as (
  select account_id, shop_id, day,
    count(page_viewed_at) as visitors,
    count(carted_at) filter (where page_viewed_at is not null) as carted,
    count(result_viewed_at) as try_on_visitors,
    count(carted_after_result_at) as try_on_carted,
    0 as orders,
    0 as try_on_orders
  from event_visits group by account_id, shop_id, day
), orders as (
  select account_id, shop_id, received_on as day, 0, 0, 0, 0,
    count(*),
    count(*) filter (where exists (
      select from event_details as result
      where result.account_id = bought.account_id and result.shop_id is not distinct from bought.shop_id
        and result.received_on between bought.received_on - 30 and bought.received_on
        and result.name = 'widget:result_view' and result.happened_at <= bought.happened_at
        and (result.anonymous_id = bought.anonymous_id or result.customer_id = bought.customer_id)
    ))
  from event_details as bought where name = 'order:created' and session_id is null
  group by account_id, shop_id, received_on
)
select account_id, shop_id, day, sum(visitors)::bigint as visitors, sum(carted)::bigint as carted,
  sum(try_on_visitors)::bigint as try_on_visitors, sum(try_on_carted)::bigint as try_on_carted,
  sum(orders)::bigint as orders, sum(try_on_orders)::bigint as try_on_orders
from (select * from visits union all select * from orders) as both_kinds group by account_id, shop_id, day;

-- Who was asked for an e-mail address, and who gave one.
create view event_email_collection as
select account_id, shop_id, day,
  count(email_prompted_at) as prompted,
  count(email_collected_at) as collected,
  count(email_collected_at) filter (where result_viewed_at <= email_collected_at) as collected_after_result
from event_visits group by account_id, shop_id, day;

-- OPERATORS OF THE DASHBOARD ---------------------------------------------------------------------------------------------------------

create table operators (
  id text primary key,
  email text not null,
  name text,
  -- Argon2id with its parameters and salt, as in `$argon2id$v=19$m=…`.
  password_hash text not null,
  role text not null default 'admin' check (role in ('viewer', 'support', 'billing', 'admin', 'owner')),
  -- Of an owner, who sees this account alone. It never changes: a password that one account knows must not lead to another.
  account_id text references accounts (id) check ((role = 'owner') = (account_id is not null)),
  is_active boolean not null default true,
  created_at timestamptz not null default now_ms()
);
comment on table operators is 'signs operators in
lifetime: no end
erased by: an admin deletes an owner; other operators are disabled, not deleted';
comment on column operators.email is 'e-mail address';
comment on column operators.name is 'name';
comment on column operators.password_hash is 'Argon2id hash of the password';
create unique index operators_email on operators (lower(email));
create index operators_account on operators (account_id) where account_id is not null;

-- The second factor of operators who sign in by password (RFC 6238).
create table operator_second_factors (
  operator_id text primary key references operators (id) on delete cascade,
  secret text not null,
  -- Null until a first code has proven that the operator has the secret.
  confirmed_at timestamptz,
  -- Time step of the last accepted code: no code is accepted twice.
  last_step bigint not null default 0,
  -- SHA-256, in hex, of unused recovery codes.
  recovery_hashes jsonb not null default '[]',
  created_at timestamptz not null default now_ms()
);
comment on table operator_second_factors is 'second factor at sign-in
lifetime: until it is reset
erased by: reset by an admin';
comment on column operator_second_factors.secret is 'secret of the authenticator app, encrypted';
comment on column operator_second_factors.recovery_hashes is 'hashes of recovery codes';

-- Operators whose password was right, and whose code is awaited.
create table operator_sign_ins (
  -- SHA-256 of the cookie.
  hash bytea primary key,
  operator_id text not null references operators (id) on delete cascade,
  created_at timestamptz not null default now()
);
comment on table operator_sign_ins is 'waits for the code after the password
lifetime: 5 minutes
erased by: not needed';
comment on column operator_sign_ins.operator_id is 'the operator';
comment on column operator_sign_ins.hash is 'hash of the cookie';

create table operator_sessions (
  -- SHA-256 of the cookie.
  hash bytea primary key,
  operator_id text not null references operators (id) on delete cascade,
  -- How the operator signed in: a provider asks for second factors of its own.
  method text not null default 'password' check (method in ('password', 'provider')),
  -- Signs the IDs of the forms of the session. Never leaves the server: a browser cannot make an ID of its own.
  form_key bytea not null default sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')),
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
comment on table operator_sessions is 'keeps an operator signed in
lifetime: 30 minutes without activity, at most 12 hours; the row 7 days after its last use
erased by: sign-out, or a disabled operator';
comment on column operator_sessions.operator_id is 'the operator';
comment on column operator_sessions.hash is 'hash of the cookie';
comment on column operator_sessions.seen_at is 'time of the last request';
create index operator_sessions_operator on operator_sessions (operator_id);

-- Who did what, when, to what, and why.
create table operator_audit (
  id bigint generated always as identity primary key,
  -- Null if nobody was signed in. The address is that at the time. No foreign key: the entries of a deleted owner stay.
  operator_id text,
  operator_email text,
  -- Who acted on the command line, as `cli:user@host`.
  actor text,
  action text not null,
  -- The ID of what the action changed.
  object text,
  account_id text,
  reason text,
  details jsonb not null default '{}',
  address text,
  -- ID of the form: the same form does nothing twice.
  form text unique,
  created_at timestamptz not null default now_ms()
);
comment on table operator_audit is 'proves who did what and why, including views of photos
lifetime: no end: the database refuses to change or delete entries
erased by: none';
comment on column operator_audit.operator_id is 'the operator';
comment on column operator_audit.operator_email is 'e-mail address at that time';
comment on column operator_audit.actor is 'user and host on the command line';
comment on column operator_audit.address is 'network address';
comment on column operator_audit.reason is 'as the operator wrote it';
comment on column operator_audit.details is 'values that were changed, such as the contact of an account';
create index operator_audit_object on operator_audit (object, id);
create index operator_audit_account on operator_audit (account_id, id) where account_id is not null;

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever added to';
end $$;
create trigger operator_audit_append_only before update or delete or truncate on operator_audit
  for each statement execute function refuse_audit_change();

-- OPERATION --------------------------------------------------------------------------------------------------------------------------

-- The Engine resources of a cluster and the capacity of the pools that run them, for the API. The controller replaces all rows at once,
-- and writes them again every minute.
create table published_engines (
  namespace text not null,
  name text not null,
  license text not null,
  -- That the Engine resource names; null leaves them to the workers.
  garment_types jsonb,
  -- Slots that the pools of the engine may have at most; 0 when no pool can run the engine.
  max_slots integer not null check (max_slots >= 0),
  -- Measured from the start of a worker until it takes jobs; null before the first one.
  start_seconds double precision,
  -- Max that the pools of the engine give a worker to become ready; null without a pool.
  warmup_seconds integer,
  published_at timestamptz not null default now(),
  primary key (namespace, name)
);

-- When a task that runs once per interval, by any process, started last.
create table recurring_tasks (
  name text primary key,
  started_at timestamptz not null
);

-- RIGHTS -----------------------------------------------------------------------------------------------------------------------------

-- Functions that run with the rights of the owner. `drape migrate` grants them, as the rights on tables, to the roles of the processes
-- that need them. Without pg_temp at the end, a caller's temporary table would take the place of a table of the owner.
do $$
declare
  name text;
begin
  foreach name in array array['settle_generations(text[])', 'make_event_partitions(date, date)', 'drop_event_partition(date)'] loop
    execute format('alter function %s set search_path to %I, pg_temp', name, current_schema());
    execute format('revoke execute on function %s from public', name);
  end loop;
end
$$;
