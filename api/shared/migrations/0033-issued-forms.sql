-- Signs the ids of the forms that a session is shown. It never leaves the server: a browser cannot make an id of its own.
alter table operator_sessions add column form_key bytea not null
  default sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
