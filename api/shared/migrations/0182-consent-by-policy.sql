-- A shop requires consent once it has published a policy.
alter table shops alter column requires_consent set default false;
