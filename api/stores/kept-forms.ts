import { type Database, rowType, sql } from '../shared/database/database.ts'
import { type Static, Type } from '../shared/schema.ts'

/** How long what was typed waits for its operator. */
const KEPT_FORM_MINUTES = 60

const KeptRow = Type.Object({ action: Type.String(), fields: Type.String() })
/** A form by the path that it posts to, with its fields as in the body of a request. */
export type StoredForm = Static<typeof KeptRow>

export type KeptForms = ReturnType<typeof createKeptForms>

/** Forms that were sent after their session had ended. */
export function createKeptForms(database: Database) {
  return {
    /** Keeps a form for this operator. Deletes those that nobody has come back for. */
    insert: async ({ form, operatorId, action, fields }: StoredForm & { form: string; operatorId: string }) => {
      await database.query(sql.unsafe`
        with ended as (
          delete from operator_kept_forms where created_at <= now() - make_interval(mins => ${KEPT_FORM_MINUTES})
        )
        insert into operator_kept_forms (form, operator_id, action, fields)
        values (${form}, ${operatorId}, ${action}, ${fields})
        on conflict (form) do update set fields = excluded.fields, created_at = now()
        where operator_kept_forms.operator_id = excluded.operator_id`)
    },

    /** The form that is kept for this operator; null for one of another operator, or that has been kept too long. */
    find: (form: string, operatorId: string): Promise<StoredForm | null> =>
      database.maybeOne(sql.type(rowType(KeptRow))`
        select action, fields from operator_kept_forms
        where form = ${form} and operator_id = ${operatorId}
          and created_at > now() - make_interval(mins => ${KEPT_FORM_MINUTES})`),

    /** Deletes what was kept of this operator for this path, once a form is sent there. */
    delete: async (operatorId: string, action: string): Promise<void> => {
      await database.query(sql.unsafe`
        delete from operator_kept_forms where operator_id = ${operatorId} and action = ${action}`)
    },
  }
}
