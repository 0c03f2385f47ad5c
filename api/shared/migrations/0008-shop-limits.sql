-- VOLATILE on purpose, as those of the accounts: called under the account's row lock they count every generation of the shop that
-- was accepted before. Failed ones are given back.
create function count_of_shop(shop text, since timestamptz) returns bigint language sql volatile as $$
  select count(*) from generations where shop_id = shop and created_at >= since and status <> 'FAILED'
$$;
create function count_of_shopper(account text, shop text, shopper text, since timestamptz) returns bigint
language sql volatile as $$
  select count(*) from generations
  where account_id = account and external_user_id = shopper and shop_id = shop and created_at >= since and status <> 'FAILED'
$$;
