-- What images of the try-ons of a shop may show; null: what the account allows.
alter table shops add column safety_level text check (safety_level in ('off', 'standard', 'strict')),
  add column allows_swimwear boolean;
