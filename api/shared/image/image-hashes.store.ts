import { sql } from '../database/database.ts'

type SqlFragment = ReturnType<typeof sql.fragment>

/**
 * Stores the hash of the object that `object` returns, in the statement that records it. A part `hashed` of its `with`. Undefined:
 * not hashed, so that no removal request finds the object.
 */
export function insertHash(object: SqlFragment, hash: string | null | undefined): SqlFragment {
  if (hash === undefined) return sql.fragment`hashed as (select 1)`
  return sql.fragment`hashed as (
    insert into image_hashes (object_key, hash) select key, ${toBits(sql.fragment`${hash}::text`)} from ${object}
    on conflict (object_key) do update set hash = excluded.hash)`
}

/** 256 bits of a text of 64 hex digits. */
export function toBits(hex: SqlFragment): SqlFragment {
  return sql.fragment`('x' || ${hex})::bit(256)`
}
