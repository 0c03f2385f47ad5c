-- Blocks have an end, can be removed, and can apply to a pair of images, after a refused result. The hashes of one decision share an ID.
alter table safety_blocks
  add column id text not null default 'blk_' || gen_random_uuid(),
  -- With it, the block applies to photos like `hash` together with products like this one.
  add column product_hash bit(256),
  -- The blocked image; null: the pair. Unknown of blocks of earlier versions, which apply to both kinds of images too.
  add column image text,
  add column account_id text,
  add column expires_at timestamptz;
alter table safety_blocks drop constraint safety_blocks_pkey;
create unique index safety_blocks_images on safety_blocks (hash, coalesce(product_hash, hash));
