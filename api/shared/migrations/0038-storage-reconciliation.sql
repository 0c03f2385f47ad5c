-- Storages list their keys in the order of bytes: a reconciliation reads the rows of each part of the list.
create index objects_key_bytes on objects (key collate "C");

-- When a task that runs once per interval, whoever runs it, started last.
create table recurring_tasks (
  name text primary key,
  started_at timestamptz not null
);
