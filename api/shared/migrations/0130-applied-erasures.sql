-- Entries of the erasure log that this database reflects: a restored backup lacks those of later erasures. Written when an erasure has
-- deleted everything, never before. Empty for a database from before this
-- table: the next start reads the whole log. Entries more than a week older than the newest are deleted after the comparison.
create table applied_erasures (
  log_key text collate "C" primary key
);
