-- Policies ask for the oldest objects of a kind.
create index objects_age on objects (kind, created_at);
