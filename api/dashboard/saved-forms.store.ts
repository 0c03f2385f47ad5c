import { type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'

/** Minutes that a form is kept for its operator, and the number of forms. */
const FORM_MINUTES = 60
const MAX_FORMS = 20

const KeptRow = Type.Object({ action: Type.String(), fields: Type.String() })
/** A submitted form: the path that it posts to, and its fields as in the request body. */
export type StoredForm = Static<typeof KeptRow>

export type SavedForms = ReturnType<typeof createSavedForms>

/** Forms that operators submitted after their session had ended. */
export function createSavedForms(database: Database) {
  return {
    /** Stores a form for this operator and deletes expired forms, and the oldest ones of the operator. */
    insert: async ({ form, operatorId, action, fields }: StoredForm & { form: string; operatorId: string }) => {
      await database.query(sql.unsafe`
        with ended as (
          delete from operator_kept_forms where created_at <= now() - make_interval(mins => ${FORM_MINUTES}) or form in (
            select form from operator_kept_forms where operator_id = ${operatorId}
            order by created_at desc offset ${MAX_FORMS - 1})
        )
        insert into operator_kept_forms (form, operator_id, action, fields)
        values (${form}, ${operatorId}, ${action}, ${fields})
        on conflict (form) do update set fields = excluded.fields, created_at = now()
        where operator_kept_forms.operator_id = excluded.operator_id`)
    },

    /** The stored form of this operator; null when it belongs to another operator or has expired. */
    find: (form: string, operatorId: string): Promise<StoredForm | null> =>
      database.maybeOne(sql.type(rowType(KeptRow))`
        select action, fields from operator_kept_forms
        where form = ${form} and operator_id = ${operatorId}
          and created_at > now() - make_interval(mins => ${FORM_MINUTES})`),

    /** Deletes the stored forms of this operator for this path, after the operator has submitted one there. */
    delete: async (operatorId: string, action: string): Promise<void> => {
      await database.query(sql.unsafe`
        delete from operator_kept_forms where operator_id = ${operatorId} and action = ${action}`)
    },
  }
}
