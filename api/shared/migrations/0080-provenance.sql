-- What the names of the images in a result's Content Credentials are made with. Without it nobody can tell from a result which photo it shows.
alter table generations add column ingredient_salt text;

-- The keys that workers have signed results with, so that old results are still known as ours after a rotation.
create table provenance_keys (
  -- SHA-256 of the public key, as hex.
  fingerprint text primary key,
  -- The certificate it was first used with, in PEM.
  certificate text not null,
  first_used_at timestamptz not null default now()
);
