import type { DefaultContext, ParameterizedContext } from 'koa'
import type { AccountRecord } from '../accounts/accounts.store.ts'
import type { LiveKey } from '../accounts/api-keys.store.ts'
import type { ErrorCode } from '../shared/contract/errors.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Shopper } from '../shops/shopper.ts'
import type { ShopRecord } from '../shops/shops.store.ts'
import type { UploadedFile } from './bodies/uploaded-file.ts'
import type { Operation } from './openapi/operation.ts'

/** State that the middleware sets for handlers. */
export interface AppState {
  requestId: string
  /** When the headers of the request had arrived, by `performance.now()`. */
  receivedAt: number
  /** The matched route; set on every route of the OpenAPI document. */
  route: Operation
  log: Log
  /** Set on every route behind an API key or a publishable key. */
  key: LiveKey
  /** Set on every route behind an API key, a publishable key or a shop's proxy. */
  account: AccountRecord
  /** Set on every route behind a shop's proxy; null behind a publishable key. */
  shop: ShopRecord | null
  /** The caller's identity, as far as known. */
  shopper: Shopper
  /** The JSON body, or the `data` field and plain fields of a multipart body. */
  body: unknown
  /** Size of a JSON body, decompressed. Set where only JSON is parsed. */
  bodyBytes: number
  /** Plain fields of a multipart body. */
  fields: Readonly<Record<string, string>>
  files: readonly UploadedFile[]
  /**
   * UUID of the resource that a writing request creates; unchanged when a request is taken over from a dead process.
   */
  resourceId: string
  /** The response was requested by a test key and reveals nothing about the service. */
  isSimulated?: boolean
  /** Set on every error response. */
  errorCode?: ErrorCode
  /** Whether an earlier attempt of this request may have created the resource. */
  resumed: boolean
}

export type AppContext = ParameterizedContext<AppState, DefaultContext>
