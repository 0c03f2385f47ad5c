import type { DefaultContext, Middleware, ParameterizedContext } from 'koa'
import type { UploadedFile } from '../bodies/uploaded-file.ts'
import type { Log } from '../shared/log.ts'
import type { Actor } from '../stores/operator-audit.ts'
import type { SignedIn } from '../stores/operator-sessions.ts'
import type { Forms } from './issued-forms.ts'
import type { KeptForm } from './kept-form.ts'

/** What the middleware of the dashboard leaves for a page. */
export interface DashboardState {
  log: Log
  /** The fields of a form that was sent; empty otherwise. */
  form: URLSearchParams
  /** Plain fields and files of a multipart form. */
  fields: Readonly<Record<string, string>>
  files: readonly UploadedFile[]
  /** Who is signed in; null on the pages for everybody. */
  operator: SignedIn | null
  /** The forms that this session is shown. */
  forms: Forms
  /** A form that was not carried out, and is shown again; null on most requests. */
  kept: KeptForm | null
  formKey: Buffer | null
  /** Names the form that was sent; null on a request that needs none. */
  formId: string | null
  /** What the browser holds. */
  token: string
}

export type DashboardContext = ParameterizedContext<DashboardState, DefaultContext>
export type DashboardMiddleware = Middleware<DashboardState>

/** Who acts by this request. */
export function actorOf({ state, ip }: DashboardContext): Actor {
  return { operator: state.operator, address: ip, form: state.formId }
}
