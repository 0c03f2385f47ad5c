-- Until when one replica makes the bytes of an upload a photo; the others wait for its result. Null for all other objects.
alter table objects add column claimed_until timestamptz;
