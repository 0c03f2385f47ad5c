-- Freezes what workers write of an ended generation: a worker that was taken over could fail and refund a generation and then complete
-- it, or replace results of others. Erasure and retention only empty columns; of those, workers can write these two.
create function refuse_change_of_ended_generation() returns trigger language plpgsql as $$
begin
  raise exception 'The generation % has ended', old.id using errcode = 'object_not_in_prerequisite_state';
end
$$;
create trigger generations_ended before update on generations for each row
  when (old.status in ('COMPLETED', 'FAILED') and (
    (old.status, old.attempt, old.worker, old.lease_until, old.started_at, old.finished_at, old.updated_at, old.progress, old.warnings,
      old.timings, old.attempt_dispatched_at, old.past_attempts, old.engine_info, old.category, old.quality, old.error_code,
      old.error_message, old.error_details)
    is distinct from
    (new.status, new.attempt, new.worker, new.lease_until, new.started_at, new.finished_at, new.updated_at, new.progress, new.warnings,
      new.timings, new.attempt_dispatched_at, new.past_attempts, new.engine_info, new.category, new.quality, new.error_code,
      new.error_message, new.error_details)
    or (new.result_key is not null and new.result_key is distinct from old.result_key)
    or (new.ingredient_salt is not null and new.ingredient_salt is distinct from old.ingredient_salt)))
  execute function refuse_change_of_ended_generation();

-- Answers and webhooks contain these details as a worker wrote them.
alter table generations add constraint generations_error_details check (
  case when jsonb_typeof(error_details) = 'array' then
    octet_length(error_details::text) <= 65536
    and jsonb_array_length(error_details) = jsonb_array_length(jsonb_path_query_array(error_details, 'strict $[*] ? (
      @.path.type() == "string" && @.message.type() == "string"
      && !exists(@.keyvalue() ? (@.key != "path" && @.key != "message")))'))
  else error_details is null end);
