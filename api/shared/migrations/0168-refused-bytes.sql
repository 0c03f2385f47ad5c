-- SHA-256 of the bytes of photo and product image of a refusal: an allowance is for these bytes before it is for close copies.
alter table safety_refusals add column image_digests bytea[];
create index safety_reviews_allowed on safety_reviews (generation_id) where state = 'ALLOWED';
