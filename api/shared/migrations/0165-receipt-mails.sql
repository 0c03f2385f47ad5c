-- Receipts of erasures that are to be sent by e-mail. The row, and with it the address, is deleted when the e-mail is sent or given up.
create table receipt_mails (
  erasure_id text not null references erasures (id) on delete cascade,
  address text not null,
  attempts integer not null default 0,
  send_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (erasure_id, address)
);
create index receipt_mails_due on receipt_mails (send_at);
create index receipt_mails_created on receipt_mails (created_at);
