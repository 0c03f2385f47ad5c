-- What we hold of a customer, written down when a shop's platform asks for it, for an operator to pass on to the merchant. Deleted
-- with the customer.
create table data_requests (
  id bigint generated always as identity primary key,
  shop_id text not null references shops (id),
  -- The platform's own id of the request: one that comes again is written down once.
  request_id text not null,
  customer_id text,
  email text,
  held jsonb not null,
  created_at timestamptz not null default now_ms(),
  unique (shop_id, request_id)
);
create index data_requests_age on data_requests (created_at);

create index events_email on events (account_id, lower(customer_email)) where customer_email is not null;
