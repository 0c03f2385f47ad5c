import type { DefaultContext, ParameterizedContext } from 'koa'
import type { Log } from './shared/log.ts'
import type { AccountRecord } from './stores/accounts.ts'
import type { UploadedFile } from './uploaded-file.ts'

/** What the middleware leaves for a handler. */
export interface AppState {
  requestId: string
  log: Log
  /** Set on every route behind an API key. */
  account: AccountRecord
  /** The JSON body, or the `data` field and plain fields of a multipart body. */
  body: unknown
  /** Plain fields of a multipart body. */
  fields: Readonly<Record<string, string>>
  files: readonly UploadedFile[]
  /** UUID that names what a writing request creates; the same again when a request is taken over from a process that died. */
  resourceId: string
  /** Whether an earlier try of this request may have created it. */
  resumed: boolean
}

export type AppContext = ParameterizedContext<AppState, DefaultContext>
