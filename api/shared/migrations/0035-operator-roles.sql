-- What an operator may do in the dashboard. Operators that exist could do everything.
alter table operators add column role text not null default 'admin'
  check (role in ('viewer', 'support', 'billing', 'admin'));

-- Who acted on the command line, as `cli:user@host`; null where an operator was signed in.
alter table operator_audit add column actor text;
