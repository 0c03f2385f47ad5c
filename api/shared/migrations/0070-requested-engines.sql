alter table generations add column requested_engine text;
comment on column generations.requested_engine is 'Engine that the fallback engine of the generation stands in for; null when the generation runs on the requested engine.';
