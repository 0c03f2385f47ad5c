import { type Database, rowType, sql } from '../../api/shared/database/database.ts'
import { type Static, Type } from '../../api/shared/schema.ts'

const MadeResult = Type.Object({
  engine: Type.String(),
  version: Type.String(),
  /** Creation day in UTC, e.g. `2026-11-25`. */
  day: Type.String(),
})
/** What made a result. */
export type MadeResult = Static<typeof MadeResult>
const IdRow = rowType(Type.Object({ id: Type.String() }))

/** IDs that results carry as an imperceptible mark. No row leads to a result, an account or a person. */
export function createResultMarks(database: Database) {
  return {
    /** Records a new ID; false if another result has it already. */
    insert: async ({ id, engine, version }: { id: string; engine: string; version: string }): Promise<boolean> =>
      (await database.maybeOne(sql.type(IdRow)`
        insert into result_marks (id, engine, version) values (${id}, ${engine}, ${version})
        on conflict do nothing returning id`)) !== null,

    find: (id: string): Promise<MadeResult | null> =>
      database.maybeOne(sql.type(rowType(MadeResult))`
        select engine, version, made_on::text as day from result_marks where id = ${id}`),
  }
}
