import { type Static, Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'

const MadeResult = Type.Object({
  engine: Type.String(),
  version: Type.String(),
  /** Creation day in UTC, e.g. `2026-11-25`. */
  day: Type.String(),
})
/** Engine, version and day of a result. */
export type MadeResult = Static<typeof MadeResult>

/** IDs that results carry as an imperceptible mark. No row leads to a result, an account or a person. */
export function createResultMarks(database: Database) {
  return {
    /**
     * Records the ID of a new result. `isRepeat`: the row may be that of this result.
     * @throws Error if another result has it already
     */
    insert: async (
      { id, engine, version }: { id: string; engine: string; version: string },
      { isRepeat = false } = {},
    ): Promise<void> => {
      const same = sql.fragment`${isRepeat} and result_marks.engine = excluded.engine
        and result_marks.version = excluded.version and result_marks.made_on = excluded.made_on`
      const { rowCount } = await database.query(sql.unsafe`
        insert into result_marks (id, engine, version) values (${id}, ${engine}, ${version})
        on conflict (id) do update set engine = excluded.engine where ${same}`)
      if (rowCount === 0) throw new Error('Another result has the ID of this mark.')
    },

    find: (id: string): Promise<MadeResult | null> =>
      database.maybeOne(sql.type(rowType(MadeResult))`
        select engine, version, made_on::text as day from result_marks where id = ${id}`),
  }
}
