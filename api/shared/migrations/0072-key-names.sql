-- What people know a key by. Both are null for keys that were made before, of which only hashes are stored. Not `name`: processes of the
-- previous release join keys with accounts and select the `name` of the account unqualified.
alter table api_keys
  add column key_name text,
  add column last_four text check (length(last_four) = 4);
