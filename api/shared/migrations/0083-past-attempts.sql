-- For drape debug: the row itself knows only the last attempt, and the outbox only what is not finished.
alter table generations add column attempt_dispatched_at timestamptz;
comment on column generations.attempt_dispatched_at is 'When the attempt that started last was handed to the queue.';
-- [{ attempt, worker, dispatchedAt, startedAt, endedAt, reason }], oldest first; at most MAX_ATTEMPTS + MAX_SPARED.
alter table generations add column past_attempts jsonb not null default '[]';
