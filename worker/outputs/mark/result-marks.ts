import { type Static, Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'

const MadeResult = Type.Object({
  engine: Type.String(),
  version: Type.String(),
  /** Creation day in UTC, e.g. `2026-11-25`. */
  day: Type.String(),
})
/** Engine, version and day of a result. */
export type MadeResult = Static<typeof MadeResult>

export type ResultMarks = ReturnType<typeof createResultMarks>

/** IDs that results carry as an imperceptible mark. No row leads to a result, an account or a person. */
export function createResultMarks(database: Database) {
  return {
    /**
     * Records the ID of a new result.
     * @throws Error if another result has it already
     */
    insert: async ({ id, engine, version }: { id: string; engine: string; version: string }): Promise<void> => {
      await database.query(sql.unsafe`
        insert into result_marks (id, engine, version) values (${id}, ${engine}, ${version})`)
    },

    find: (id: string): Promise<MadeResult | null> =>
      database.maybeOne(sql.type(rowType(MadeResult))`
        select engine, version, made_on::text as day from result_marks where id = ${id}`),
  }
}
