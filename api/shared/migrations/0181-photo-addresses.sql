-- Finds the photo of a browser for a later request that has only its network address.
alter table images add column visitor_address text;
