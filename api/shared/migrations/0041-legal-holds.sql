-- Every retention policy of which the holds are published. One whose holds were never read (read_at is null) holds every image.
create table hold_policies (
  -- 'kubernetes' or 'file': each publisher replaces only what it published itself.
  source text not null,
  name text not null,
  read_at timestamptz,
  primary key (source, name)
);
create index hold_policies_unread on hold_policies (name) where read_at is null;

-- Whose images must be kept, over all policies. Every statement that deletes stored bytes excludes these.
create table legal_holds (
  source text not null,
  policy text not null,
  -- No foreign key: a hold may name an account before the account is created.
  account_id text not null,
  -- One customer of the account; all of them when null.
  external_user_id text,
  foreign key (source, policy) references hold_policies (source, name) on delete cascade,
  unique nulls not distinct (account_id, external_user_id, source, policy)
);

-- Deletions take this lock shared, in the transaction that deletes bytes; a publication takes it alone. So once a hold is
-- published, no deletion that was decided before it is still under way.
create function lock_legal_holds_shared() returns void language sql as $$ select pg_advisory_xact_lock_shared(7201430041) $$;
create function lock_legal_holds() returns void language sql as $$ select pg_advisory_xact_lock(7201430041) $$;
