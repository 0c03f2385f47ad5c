-- An account keeps its images 1 to 90 days; a call chooses 1, 3 or 7.
alter table accounts drop constraint accounts_retention_days_check;
alter table accounts add constraint accounts_retention_window check (retention_days between 1 and 90);
