import type { FieldProblem } from '../shared/errors.ts'

/** A form that was sent and not carried out, to be shown again with what was typed into it. */
export interface KeptForm {
  /** The path that it posts to, or that it searches. */
  readonly action: string
  /** Without secrets, which are typed in again. */
  readonly values: URLSearchParams
  /** Why it was not carried out, where that is not about one field; may be empty. */
  readonly message: string
  readonly problems: readonly FieldProblem[]
}

/** Stands in the markup of a form that is shown again. Texts in markup are escaped, so no text can hold it. */
export const KEPT_MARK = '<!-- kept -->'

/** Fields that are never shown again, nor stored. `form` is the id of the form itself. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['form', 'password', 'secret', 'adminToken', 'code'])

/** What was typed into a form, without secrets. */
export function typedValues(form: URLSearchParams): URLSearchParams {
  const typed = new URLSearchParams()
  for (const [name, value] of form) if (!SECRET_FIELDS.has(name)) typed.append(name, value.replaceAll('\0', ''))
  return typed
}
