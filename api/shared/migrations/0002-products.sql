-- Pages of the catalog, newest first; ids are made in the order of time.
create index products_catalog on products (account_id, id) where not anonymous;

-- Which products still have a stored image.
create index products_objects on products using gin (images jsonb_path_ops)
  where jsonb_path_exists(images, '$[*].objectKey');

-- What workers fetched for a product lies below products/<account>/<product>/; byte order makes that one range.
create index objects_products on objects (account_id, key collate "C") where kind = 'product';

-- A product is counted by the id that callers know, also across a deletion.
create index generations_product_name on generations (account_id, product_external_id, created_at);
drop index generations_product;
