-- IDs that results carry as an imperceptible mark, and what made them. Nothing leads from here to a result, an account or a person, so the
-- rows outlive all of these.
create table result_marks (
  -- 10 hex digits.
  id text primary key,
  engine text not null,
  version text not null,
  -- A time of day could link an image to a visit.
  made_on date not null default (now() at time zone 'utc')::date
);
