alter table shops add column default_engine text;
comment on column shops.default_engine is 'Engine of try-ons by shoppers; null takes that of the account.';
