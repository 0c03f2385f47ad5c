import { type Database, rowType, sql } from '../database/database.ts'
import { Type } from '../schema.ts'

const Key = rowType(Type.Object({ key: Type.String() }))

/** Kinds of objects that show a person. */
const HASHED_KINDS = ['person', 'result']

type SqlFragment = ReturnType<typeof sql.fragment>

/**
 * Stores the hash of the object that `object` returns, in the statement that records it. A part `hashed` of its `with`. Undefined:
 * not hashed; the background job does it.
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

export type ImageHashes = ReturnType<typeof createImageHashes>

/** Hashes of objects that were stored without one, by an earlier version. */
export function createImageHashes(database: Database) {
  return {
    /** Keys after this one of photos and results without a hash, whose bytes have arrived, in ascending order. */
    findMissing: (after: string, limit: number): Promise<readonly string[]> =>
      database.anyFirst(sql.type(Key)`
        select key from objects
        where kind = any(${sql.array([...HASHED_KINDS], 'text')}) and key collate "C" > ${after} and not starts_with(key, 'held/')
          and created_at <= now() - interval '10 minutes' and (expires_at is null or expires_at > now())
          and not exists (select from image_hashes where object_key = key)
        order by key collate "C" limit ${limit}`),

    /** Stores the hash, unless the object was deleted meanwhile. */
    insert: async (key: string, hash: string | null): Promise<void> => {
      await database.query(sql.unsafe`
        with object as (select key from objects where key = ${key} for key share),
          ${insertHash(sql.fragment`object`, hash)}
        select from object`)
    },
  }
}
