import type { DefaultContext, Middleware, ParameterizedContext } from 'koa'
import type { UploadedFile } from '../http/bodies/uploaded-file.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Forms } from './forms/issued-forms.ts'
import type { RejectedForm } from './forms/rejected-form.ts'
import type { Actor } from './operator-audit.store.ts'
import type { NextSteps } from './pages/next-steps.ts'
import type { OpenWork } from './pages/open-work.store.ts'
import type { SignedIn } from './sign-in/operator-sessions.store.ts'
import type { OperatorRole, Role } from './sign-in/operators.store.ts'

/** What an operator reads when a form has run, and when the form is submitted again. */
export interface Done {
  readonly message: string
  /** Page with the result; `:object` is that of the audit log. Default: the page of the form. */
  readonly at?: string
  /** Whether the first response showed a secret. */
  readonly showsSecret?: boolean
}

/** What the declarations of all pages say about a request. */
export interface PageIndex {
  /** Roles that may use the routes of this method and path; empty for an unknown path. */
  rolesFor(method: string, path: string): Role[]
  /** Whether the role may send this request. */
  isPermitted(role: OperatorRole, method: string, path: string): boolean
  /** Path of the page that shows the form of this action; null for a path without a form. */
  findFormPage(action: string): string | null
  isSearchPage(path: string): boolean
  findDone(action: string): Done | undefined
  /** Path and name of each page in the menu of this role. */
  menuOf(role: OperatorRole): (readonly [path: string, name: string])[]
}

/** State that the dashboard's middleware sets for pages. */
export interface DashboardState {
  log: Log
  /** The declarations of all pages. */
  pages: PageIndex
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
  /** What waits for operators. */
  openWork: OpenWork
  /** What to do with a key or a shop that has just been created. */
  nextSteps: NextSteps
  /** Session token of the browser. */
  token: string
}

export type DashboardContext = ParameterizedContext<DashboardState, DefaultContext>
export type DashboardMiddleware = Middleware<DashboardState>

/** Context of a page that only signed-in operators reach. */
export type SignedInContext = DashboardContext & { readonly state: { readonly operator: SignedIn } }

/** Actor of this request, for the audit log. */
export function actorOf({ state, ip }: DashboardContext): Actor {
  return { operator: state.operator, address: ip, form: state.formId }
}
