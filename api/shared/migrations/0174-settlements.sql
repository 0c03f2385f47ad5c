-- Who gets the events of an account: active endpoints, and polling listeners.
create view webhook_receivers as
  select id, account_id, event_types from webhook_endpoints where is_active
  union all
  select id, account_id, event_types from webhook_listeners where expires_at > now();

-- Settles ended generations: deletes their jobs, refunds those that failed, and queues their webhooks. Runs with the rights of the owner,
-- because workers end generations and must not be able to change balances. Believes no caller: the row of the job, which only this
-- function deletes and no worker can insert, is what shows that a generation is not settled yet. The ledger's unique index makes the
-- refund idempotent. Accounts are locked in the order of their IDs, so that concurrent statements cannot deadlock.
-- VOLATILE on purpose: it sees the rows that the calling statement has ended.
create function settle_generations(ids text[]) returns void language plpgsql volatile strict security definer as $$
begin
  with cleared as (
    delete from outbox using generations
    where generation_id = any(ids) and generations.id = generation_id and status in ('COMPLETED', 'FAILED')
    returning generation_id as id
  ), ended as (
    select generations.* from generations join cleared using (id)
  ), entries as (
    insert into ledger (account_id, amount, kind, generation_id)
    select account_id, cost, 'refund', id from ended where status = 'FAILED' and cost > 0
    returning account_id, amount
  ), sums as (select account_id, sum(amount) as amount from entries group by account_id
  ), owners as (
    select accounts.id, sums.amount from accounts join sums on sums.account_id = accounts.id
    order by accounts.id for no key update of accounts
  ), refunded as (
    update accounts set balance = balance + owners.amount from owners where accounts.id = owners.id
  )
  -- IDs, status and fields of the call, no personal data.
  insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
  select receivers.id, 'evt_' || substr(ended.id, 5), 'generation.' || lower(status), jsonb_strip_nulls(jsonb_build_object(
    'generationId', ended.id, 'status', status, 'errorCode', error_code, 'errorDetails', error_details,
    'productExternalId', product_external_id, 'shopId', shop_id)), updated_at
  from ended join webhook_receivers as receivers
    on receivers.account_id = ended.account_id and receivers.event_types ? ('generation.' || lower(status));
end
$$;
revoke execute on function settle_generations(text[]) from public;

-- Without pg_temp at the end, a caller's temporary table would take the place of a table of the owner.
do $$
declare
  name text;
begin
  foreach name in array array['settle_generations(text[])', 'make_event_partitions(date, date)', 'drop_event_partition(date)'] loop
    execute format('alter function %s set search_path to %I, pg_temp', name, current_schema());
  end loop;
end
$$;
