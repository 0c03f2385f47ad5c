-- An end user is erased by any value that a surface was sent: an externalUserId, a customer ID of the platform of a shop, or the ID of a
-- browser. Shops store the last two as shop_…:customer:… and shop_…:browser:…, and visitors with a token as shop_…:visitor:….
-- Returns the value in such an ID; null for other IDs.
create function customer_value(external_user_id text) returns text language sql immutable parallel safe
  as $$ select substring(external_user_id from '^shop_[^:]+:(?:customer|browser|visitor):(.+)$') $$;

-- Every ID under which an end user of the account may be stored: the ID itself and, for a value, the IDs of all shops.
create function customer_ids(account text, external_user_id text) returns text[] language sql stable parallel safe as $$
  select array(
    select shops.id || ':' || kind || ':' || $2 from shops cross join unnest(array['customer', 'browser', 'visitor']) as kind
    where shops.account_id = $1 and customer_value($2) is null
  ) || $2
$$;

-- Also considers erasures of the value in the ID.
create or replace function was_erased_since(account_id text, external_user_id text, since timestamptz) returns boolean
language plpgsql volatile as $$
declare
  names text[] := array_remove(array[external_user_id, customer_value(external_user_id)], null);
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(account_id || chr(10) || name, 7201430037)) from unnest(names) as name;
  return exists (
    select from unnest(names) as name join erased_customers on customer = customer_hash(account_id, name)
    where erased_at >= since);
end $$;

-- The object without the entries that are or contain one of the texts.
create function without_texts(object jsonb, texts text[]) returns jsonb language sql immutable strict parallel safe as $$
  select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(object)
  where not exists (
    select from unnest(texts) as text where value #>> '{}' = text or strpos(value::text, to_jsonb(text)::text) > 0)
$$;

-- An erasure finds the events of a browser.
create index event_batches_browser on event_batches (account_id, anonymous_id) where anonymous_id is not null;
