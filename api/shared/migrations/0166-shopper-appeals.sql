-- Whether the shopper wrote the reason, on the public page of the refusal, and not the account.
alter table safety_reviews add column by_shopper boolean not null default false;
