import type { FieldProblem } from '../../shared/contract/errors.ts'

/** A submitted form that was not run, to be shown again with the typed values. */
export interface RejectedForm {
  /** Path that the form posts to; of a search `GET ` and its path. */
  readonly action: string
  /** Without secrets, which must be typed again. */
  readonly values: URLSearchParams
  /** General reason, as opposed to errors of fields; may be empty. */
  readonly message: string
  readonly problems: readonly FieldProblem[]
}

/** Marks a form that is shown again in the markup. Texts are escaped, so none can contain it. */
export const KEPT_MARK = '<!-- kept -->'

/** Fields that are never shown again or stored. `form` is the ID of the form itself. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  ...['form', 'password', 'newPassword', 'newPasswordAgain', 'secret', 'adminToken', 'code'],
])

/** Typed values of a form, without secrets. */
export function typedValues(form: URLSearchParams): URLSearchParams {
  const typed = new URLSearchParams()
  for (const [name, value] of form) if (!SECRET_FIELDS.has(name)) typed.append(name, value.replaceAll('\0', ''))
  return typed
}
