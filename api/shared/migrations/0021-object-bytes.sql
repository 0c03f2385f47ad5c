-- How large an object is. Null where nobody knows: it was stored before this column was there, or its bytes have not come yet.
alter table objects add column bytes bigint check (bytes >= 0);
