-- The fields of the call that a failure is about: [{ "path": "products[0].images[1]", "message": … }].
alter table generations add column error_details jsonb;
