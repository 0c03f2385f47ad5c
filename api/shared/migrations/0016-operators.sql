-- People who may use the dashboard.
create table operators (
  id text primary key,
  email text not null,
  name text,
  -- Argon2id with its parameters and salt, as in `$argon2id$v=19$m=…`.
  password_hash text not null,
  is_active boolean not null default true,
  created_at timestamptz not null default now_ms()
);
create unique index operators_email on operators (lower(email));

create table operator_sessions (
  -- SHA-256 of what the browser holds.
  hash bytea primary key,
  operator_id text not null references operators (id) on delete cascade,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
create index operator_sessions_operator on operator_sessions (operator_id);

-- Who did what, when, to what, and why. Nobody changes or deletes what was written.
create table operator_audit (
  id bigint generated always as identity primary key,
  -- Null when nobody was signed in. The address is kept as it was then.
  operator_id text references operators (id),
  operator_email text,
  action text not null,
  -- The id of what it was done to.
  object text,
  account_id text,
  reason text,
  details jsonb not null default '{}',
  address text,
  -- Names the form that was sent: the same form does nothing twice.
  form text unique,
  created_at timestamptz not null default now_ms()
);
create index operator_audit_object on operator_audit (object, id);
create index operator_audit_account on operator_audit (account_id, id) where account_id is not null;

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever added to';
end $$;
create trigger operator_audit_append_only before update or delete or truncate on operator_audit
  for each statement execute function refuse_audit_change();

-- What the dashboard looks for: generations of a time, and failed ones by their code.
create index generations_created on generations using brin (created_at);
create index generations_failed on generations (error_code, id) where status = 'FAILED';
