-- A keyed hash of the shopper, by which the weekly limit counts: an erasure removes the ID of the shopper and must not reset the limit.
-- Removed when the ISO week ends.
alter table generations add column shopper_hash text;
comment on column generations.shopper_hash is 'Keyed hash of the shopper, until the ISO week (UTC) of the generation ends.';
create index generations_shoppers on generations (shop_id, shopper_hash, created_at) where shopper_hash is not null;

-- As its siblings for addresses and visitors: VOLATILE, called under the account's row lock.
drop function room_of_shopper(text, text, text, timestamptz, bigint, bigint);
create function room_of_shopper(shop text, shopper text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where shop_id = shop and shopper_hash = shopper and created_at >= since and (status <> 'FAILED' or started_at is not null)
$$;
-- Without a caller since attempts are counted too.
drop function count_of_shopper(text, text, text, timestamptz);
drop function count_of_visitors(text, timestamptz);
drop function count_of_address(text, text, timestamptz);
