-- The second factor of operators who sign in by password (RFC 6238).
create table operator_second_factors (
  operator_id text primary key references operators (id) on delete cascade,
  secret text not null,
  -- Null until a first code has proven that the operator has the secret.
  confirmed_at timestamptz,
  -- The time step of the last code that was accepted: no code is accepted twice.
  last_step bigint not null default 0,
  -- SHA-256, in hex, of recovery codes that were not used.
  recovery_hashes jsonb not null default '[]',
  created_at timestamptz not null default now_ms()
);

-- Operators whose password was right, and whose code is awaited.
create table operator_sign_ins (
  -- SHA-256 of what the browser holds.
  hash bytea primary key,
  operator_id text not null references operators (id) on delete cascade,
  created_at timestamptz not null default now()
);

-- How the operator signed in: a provider asks for second factors of its own.
alter table operator_sessions add column method text not null default 'password' check (method in ('password', 'provider'));
