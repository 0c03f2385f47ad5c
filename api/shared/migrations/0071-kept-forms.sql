-- Forms that were sent after their session had ended, for the operator of that session alone, who signs in again and sends them anew.
create table operator_kept_forms (
  -- Names the form that was sent.
  form text primary key,
  operator_id text not null references operators (id) on delete cascade,
  -- The path that the form posts to.
  action text not null,
  -- As in the body of the request, without secrets.
  fields text not null,
  created_at timestamptz not null default now()
);
