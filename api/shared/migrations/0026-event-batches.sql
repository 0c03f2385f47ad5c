-- What all events of a batch have in common, stored once: a sender pays for every byte that it makes the service store.
-- By day of receipt, as the events.
create table event_batches (
  received_on date not null,
  -- Random: the sender's process chooses it.
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
create index event_batches_account on event_batches (account_id, shop_id);
create index event_batches_customer on event_batches (account_id, customer_id) where customer_id is not null;
create index event_batches_email on event_batches (account_id, lower(customer_email)) where customer_email is not null;

-- An event with a batch has these columns there. Earlier versions of the service write events without a batch.
alter table events add column batch_id bigint,
  alter column key drop not null, alter column account_id drop not null, alter column customer_signed drop not null,
  alter column context drop not null, alter column received_at drop not null;
create index events_batch on events (batch_id) where batch_id is not null;
alter table event_outbox add column batch_id bigint,
  alter column account_id drop not null, alter column customer_signed drop not null, alter column context drop not null;

create function events_partition_of(parent text, day date) returns text language sql immutable strict
  as $$ select parent || '_' || to_char(day, 'YYYYMMDD') $$;

-- Makes the partitions of the days from `first` to `last` that are missing. Returns how many days it completed. A table is made
-- first and attached then, which unlike `create table … partition of` does not block writers.
create or replace function make_event_partitions(first date, last date) returns integer language plpgsql
security definer set search_path from current as $$
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
create or replace function drop_event_partition(day date) returns boolean language plpgsql
security definer set search_path from current set lock_timeout = '300ms' as $$
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

-- Every day that has a partition for events has one for batches.
do $$
declare
  day date;
begin
  for day in select to_date(right(relid::text, 8), 'YYYYMMDD') from pg_partition_tree('events') where isleaf loop
    perform make_event_partitions(day, day);
  end loop;
end $$;

-- The key of an event, made of its account and of the id that the sender gave.
create function event_key(account text, insert_id text) returns uuid language sql immutable strict as $$
  select (substr(hex, 1, 12) || '8' || substr(hex, 14, 3)
    || substr('89ab', ('x' || substr(hex, 17, 1))::bit(4)::integer % 4 + 1, 1) || substr(hex, 18, 15))::uuid
  from encode(sha256(convert_to(account || E'\n' || insert_id, 'UTF8')), 'hex') as hex
$$;

-- Every event with all that is known of it. Ask for days (`where received_on …`) and only their partitions are read.
create view event_details as
select coalesce(events.key, event_key(batch.account_id, insert_id)) as key, events.received_on,
  coalesce(events.account_id, batch.account_id) as account_id, coalesce(events.shop_id, batch.shop_id) as shop_id,
  name, insert_id,
  coalesce(events.anonymous_id, batch.anonymous_id) as anonymous_id,
  coalesce(events.session_id, batch.session_id) as session_id,
  coalesce(events.customer_id, batch.customer_id) as customer_id,
  coalesce(events.customer_email, batch.customer_email) as customer_email,
  coalesce(events.customer_signed, batch.customer_signed) as customer_signed,
  coalesce(events.product_id, batch.product_id) as product_id,
  coalesce(events.variant_id, batch.variant_id) as variant_id,
  generation_id, properties, coalesce(events.context, batch.context) as context, happened_at,
  coalesce(events.received_at, batch.received_at) as received_at
from events left join event_batches as batch on batch.received_on = events.received_on and batch.id = events.batch_id;

create or replace view event_visits as
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

create or replace view event_conversion as
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
