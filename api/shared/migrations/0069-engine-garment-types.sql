alter table published_engines add column garment_types jsonb;
comment on column published_engines.garment_types is 'Garment types that the Engine resource names; null leaves them to the workers.';
