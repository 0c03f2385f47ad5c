import type { DefaultContext, Middleware, ParameterizedContext } from 'koa'
import type { UploadedFile } from '../http/bodies/uploaded-file.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Forms } from './issued-forms.ts'
import type { Actor } from './operator-audit.store.ts'
import type { SignedIn } from './operator-sessions.store.ts'
import type { RejectedForm } from './rejected-form.ts'

/** State that the dashboard's middleware sets for pages. */
export interface DashboardState {
  log: Log
  /** Fields of a submitted form; empty otherwise. */
  form: URLSearchParams
  /** Plain fields and files of a multipart form. */
  fields: Readonly<Record<string, string>>
  files: readonly UploadedFile[]
  /** The signed-in operator; null on public pages. */
  operator: SignedIn | null
  /** Forms of this session. */
  forms: Forms
  /** A refused form that is shown again; null on most requests. */
  kept: RejectedForm | null
  formKey: Buffer | null
  /** ID of the submitted form; null on a request that needs none. */
  formId: string | null
  /** Session token of the browser. */
  token: string
}

export type DashboardContext = ParameterizedContext<DashboardState, DefaultContext>
export type DashboardMiddleware = Middleware<DashboardState>

/** Actor of this request, for the audit log. */
export function actorOf({ state, ip }: DashboardContext): Actor {
  return { operator: state.operator, address: ip, form: state.formId }
}
