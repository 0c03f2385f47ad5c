-- What a key may be used for, until when and from where; null restricts nothing, as for every key that was made before.
alter table api_keys
  add column scopes jsonb check (jsonb_typeof(scopes) = 'array'),
  add column expires_at timestamptz,
  add column allowed_cidrs jsonb check (jsonb_typeof(allowed_cidrs) = 'array'),
  -- Written about once a minute, not with every request.
  add column last_used_at timestamptz;
