import type { DefaultContext, ParameterizedContext } from 'koa'
import type { UploadedFile } from './bodies/uploaded-file.ts'
import type { Operation } from './openapi/operation.ts'
import type { ErrorCode } from './shared/errors.ts'
import type { Log } from './shared/log.ts'
import type { Shopper } from './shoppers/shopper.ts'
import type { AccountRecord } from './stores/accounts.ts'
import type { LiveKey } from './stores/api-keys.ts'
import type { ShopRecord } from './stores/shops.ts'

/** What the middleware leaves for a handler. */
export interface AppState {
  requestId: string
  /** The matched route, on every route of the OpenAPI document. */
  route: Operation
  log: Log
  /** Set on every route behind an API key or a publishable key. */
  key: LiveKey
  /** Set on every route behind an API key, a publishable key or a shop's proxy. */
  account: AccountRecord
  /** Set on every route behind a shop's proxy; null behind a publishable key. */
  shop: ShopRecord | null
  /** The caller's identity, as far as a shop's proxy or the caller gives it. */
  shopper: Shopper
  /** The JSON body, or the `data` field and plain fields of a multipart body. */
  body: unknown
  /** Plain fields of a multipart body. */
  fields: Readonly<Record<string, string>>
  files: readonly UploadedFile[]
  /** UUID that names what a writing request creates; the same again when a request is taken over from a process that died. */
  resourceId: string
  /** The answer was asked for by a test key: it says nothing about the service. */
  isSimulated?: boolean
  /** Set on every answer that is an error. */
  errorCode?: ErrorCode
  /** Whether an earlier try of this request may have created it. */
  resumed: boolean
}

export type AppContext = ParameterizedContext<AppState, DefaultContext>
