import type { DefaultContext, ParameterizedContext } from 'koa'
import type { Log } from './shared/log.ts'
import type { Shopper } from './shopper.ts'
import type { AccountRecord } from './stores/accounts.ts'
import type { ShopRecord } from './stores/shops.ts'
import type { UploadedFile } from './uploaded-file.ts'

/** What the middleware leaves for a handler. */
export interface AppState {
  requestId: string
  log: Log
  /** Set on every route behind an API key, a publishable key or a shop's proxy. */
  account: AccountRecord
  /** Set on every route behind a shop's proxy; null behind a publishable key. */
  shop: ShopRecord | null
  /** Who is asking, as far as a shop's proxy or the caller tells. */
  shopper: Shopper
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
