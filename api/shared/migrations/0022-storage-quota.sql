-- The bytes that an account stores are summed from this index alone.
create index objects_account_bytes on objects (account_id) include (bytes);
