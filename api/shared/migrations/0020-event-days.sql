-- Processes may have roles with fewer rights than the owner, whose tables the days of events are.
alter function make_event_partitions(date, date) security definer set search_path from current;
alter function drop_event_partition(date) security definer set search_path from current;
revoke execute on function make_event_partitions(date, date), drop_event_partition(date) from public;
