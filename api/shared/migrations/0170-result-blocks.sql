-- Earlier versions blocked the photo alone when an operator blocked a refused result. Such a block becomes one of the photo together with the
-- product, as new ones are, unless the photo or product image itself was blocked too. A block whose refusal is deleted stays: nothing
-- tells any more what it was made from.
with blocked as (
  select generation_id, image, account_id, ('x' || hex)::bit(256) as hash, ('x' || product_hashes[1])::bit(256) as product_hash
  from safety_refusals join safety_reviews using (generation_id)
  cross join unnest(case when image = 'product' then product_hashes else person_hashes end) as named (hex)
  where state = 'BLOCKED'
), of_results as (
  select distinct on (hash, blocked.product_hash) hash, blocked.product_hash, 'blk_' || md5(generation_id)::uuid as id,
    blocked.account_id, created_at, expires_at
  from safety_blocks join blocked using (hash)
  where safety_blocks.image is null and safety_blocks.product_hash is null and blocked.image is null
    and not exists (select from blocked as alone where alone.hash = safety_blocks.hash and alone.image is not null)
), ended as (
  delete from safety_blocks using of_results
  where safety_blocks.hash = of_results.hash and safety_blocks.image is null and safety_blocks.product_hash is null
)
insert into safety_blocks (id, hash, product_hash, account_id, created_at, expires_at)
select id, hash, product_hash, account_id, created_at, expires_at from of_results
on conflict do nothing;
