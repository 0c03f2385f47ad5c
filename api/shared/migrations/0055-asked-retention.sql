-- The days that the call asked for; null when it left them to the account. Photos that are stored already count as asked for.
alter table images add column keep_for_days integer default 7;
alter table images alter column keep_for_days drop default;
