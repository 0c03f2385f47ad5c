-- jsonb sorts the members of an object; callers get metadata back in the order in which they sent it.
alter table products alter column metadata type json using metadata::json;
