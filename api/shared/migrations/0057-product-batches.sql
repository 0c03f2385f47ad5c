-- Catalogues in batches of up to 500 products: what became of each product and of each of its images. Swept after 7 days.
create table product_batches (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  items int not null,
  -- Whether images of the batch may be left to fetch.
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
