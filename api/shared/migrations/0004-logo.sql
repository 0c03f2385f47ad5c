-- Shown in the corner of results; null for an account without a logo.
alter table accounts add column logo_key text references objects (key) on delete set null;
create index accounts_logo on accounts (logo_key) where logo_key is not null;
