-- Failed generations cost no credit and do not count towards the limits of results, but those that a worker has started count as
-- attempts, which have limits of their own. VOLATILE as the functions that count results: called under the account's row lock they
-- count every generation that was accepted before. Each returns the generations that may still be accepted.
create function room_of_shopper(account text, shop text, shopper text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where account_id = account and external_user_id = shopper and shop_id = shop and created_at >= since
    and (status <> 'FAILED' or started_at is not null)
$$;
create function room_of_address(shop text, address text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where shop_id = shop and created_at >= since and visitor_address = address and (status <> 'FAILED' or started_at is not null)
$$;
create function room_of_visitors(shop text, since timestamptz, max_results bigint, max_attempts bigint)
returns bigint language sql volatile as $$
  select least(max_results - count(*) filter (where status <> 'FAILED'), max_attempts - count(*)) from generations
  where shop_id = shop and created_at >= since and visitor_address is not null
    and (status <> 'FAILED' or started_at is not null)
$$;

create index generations_failed_lately on generations (account_id, finished_at) where status = 'FAILED' and shop_id is null;

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
