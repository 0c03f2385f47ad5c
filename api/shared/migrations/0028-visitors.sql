-- Budgets of visitors whom no platform vouches for, by the day (UTC); null takes the default.
alter table shops add column address_generations integer check (address_generations >= 0),
  add column visitor_generations integer check (visitor_generations >= 0),
  add column requires_visitor_token boolean not null default false;

-- A keyed hash of the network address of such a visitor; null for customers whom the platform of the shop has signed in.
alter table generations add column visitor_address text;
create index generations_visitors on generations (shop_id, created_at, visitor_address)
  where visitor_address is not null;

-- VOLATILE on purpose, as those of the shops: called under the account's row lock they count every generation that was accepted
-- before. Failed ones are given back.
create function count_of_visitors(shop text, since timestamptz) returns bigint language sql volatile as $$
  select count(*) from generations
  where shop_id = shop and created_at >= since and visitor_address is not null and status <> 'FAILED'
$$;
create function count_of_address(shop text, address text, since timestamptz) returns bigint language sql volatile as $$
  select count(*) from generations
  where shop_id = shop and created_at >= since and visitor_address = address and status <> 'FAILED'
$$;
