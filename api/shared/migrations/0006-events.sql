-- What shoppers did, as their browsers, apps and shops tell it. By day of receipt, so that old days go as whole tables.
-- No foreign keys: an event is only ever stored for an account and a shop that were looked up just before, and each would cost
-- every row a look-up more.
create table events (
  -- Made of the account and of the id that the sender gave: the same event has the same key.
  key uuid not null,
  -- The day (UTC) of received_at.
  received_on date not null,
  account_id text not null,
  shop_id text,
  name text not null,
  insert_id text not null,
  anonymous_id text,
  session_id text,
  customer_id text,
  customer_email text,
  -- Whether a shop's proxy or platform vouches for the customer; otherwise it is what the sender says.
  customer_signed boolean not null,
  product_id text,
  variant_id text,
  generation_id text,
  properties jsonb not null,
  context jsonb not null,
  happened_at timestamptz not null,
  received_at timestamptz not null
) partition by range (received_on);
create index events_account on events (account_id, shop_id);
create index events_customer on events (account_id, customer_id) where customer_id is not null;

-- Keys of the events that are kept, over all days: what makes an event that comes twice count once.
create table event_keys (
  key uuid primary key,
  received_on date not null
);
-- Rows of one day lie together.
create index event_keys_day on event_keys using brin (received_on);

-- Events on their way to the provider of analytics.
create table event_outbox (
  id bigint generated always as identity primary key,
  key uuid not null,
  received_on date not null,
  account_id text not null,
  shop_id text,
  name text not null,
  insert_id text not null,
  anonymous_id text,
  session_id text,
  customer_id text,
  customer_email text,
  customer_signed boolean not null,
  product_id text,
  variant_id text,
  generation_id text,
  properties jsonb not null,
  context jsonb not null,
  happened_at timestamptz not null,
  received_at timestamptz not null,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  -- When the provider refused it for good, and why.
  dead_at timestamptz,
  reason text
);
create index event_outbox_waiting on event_outbox (available_at) where dead_at is null;

-- Any number that nothing else here takes; whoever makes or drops partitions does so alone.
create function lock_event_partitions() returns void language sql as $$ select pg_advisory_xact_lock(7201430002) $$;

create function event_partition(day date) returns text language sql immutable strict
  as $$ select 'events_' || to_char(day, 'YYYYMMDD') $$;

-- Makes those partitions of the days from `first` to `last` that are missing. Returns how many. A table is made first and attached
-- then, which unlike `create table … partition of` lets others go on writing.
create function make_event_partitions(first date, last date) returns integer language plpgsql as $$
declare
  name text;
  made integer := 0;
begin
  perform lock_event_partitions();
  for i in 0 .. last - first loop
    name := event_partition(first + i);
    continue when to_regclass(name) is not null;
    execute format('create table %I (like events including all)', name);
    execute format('alter table events attach partition %I for values from (%L) to (%L)', name, first + i, first + i + 1);
    made := made + 1;
  end loop;
  return made;
end $$;

-- Drops the oldest partition whose day is before `day`. False when there is none, or when readers of events do not let go soon:
-- behind a waiting drop every writer would wait too.
create function drop_event_partition(day date) returns boolean language plpgsql set lock_timeout = '300ms' as $$
declare
  name text;
begin
  perform lock_event_partitions();
  select relid::text into name from pg_partition_tree('events') where isleaf and relid::text < event_partition(day)
  order by 1 limit 1;
  if name is null then return false; end if;
  execute format('drop table %I', name);
  return true;
exception when lock_not_available then
  return false;
end $$;

-- Below, a visitor is a browser or an app, as it calls itself, and a day is the day (UTC) on which events were received. Ask for
-- days (`where day …`) and only their partitions are read.

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
  from events where anonymous_id is not null
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

-- Do visitors who have seen themselves in a product buy more often? Orders are those that the shop's platform told of, which has no
-- session, not what a browser says; one counts as after a try-on when the browser or the customer that it names has seen a
-- result in the 30 days before it.
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
      select from events as result
      where result.account_id = bought.account_id and result.shop_id is not distinct from bought.shop_id
        and result.received_on between bought.received_on - 30 and bought.received_on
        and result.name = 'widget:result_view' and result.happened_at <= bought.happened_at
        and (result.anonymous_id = bought.anonymous_id or result.customer_id = bought.customer_id)
    ))
  from events as bought where name = 'order:created' and session_id is null group by account_id, shop_id, received_on
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
