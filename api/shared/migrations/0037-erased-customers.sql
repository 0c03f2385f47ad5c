-- When an end user was last erased. Acceptances that began before it are refused: their snapshot does not show the erasure.
-- Swept after an hour, when no such acceptance can be under way. The end user's id itself is kept nowhere.
create table erased_customers (
  customer bytea primary key,
  erased_at timestamptz not null
);
create index erased_customers_age on erased_customers (erased_at);

create function customer_hash(account_id text, external_user_id text) returns bytea language sql immutable parallel safe
  as $$ select sha256(convert_to(account_id || chr(10) || external_user_id, 'UTF8')) $$;

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

-- VOLATILE on purpose: such a function sees what was committed until it is called, not only until its statement began. The lock
-- lasts until the calling transaction ends: an erasure that this one did not see waits for it, and then sees what it wrote.
create function was_erased_since(account_id text, external_user_id text, since timestamptz) returns boolean
language plpgsql volatile as $$
begin
  if external_user_id is null then
    return false;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended(account_id || chr(10) || external_user_id, 7201430037));
  return exists (
    select from erased_customers
    where customer = customer_hash(account_id, external_user_id) and erased_at >= since);
end $$;

-- Who uses a photo: an erasure asks for each photo without an end user.
create index generations_image on generations (image_id) where image_id is not null;
