-- How good the result looks by the worker's own measure; null for engines and photos that it cannot judge.
alter table generations add column quality real check (quality between 0 and 1);
