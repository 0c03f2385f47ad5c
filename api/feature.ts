import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import type { Accounts } from './accounts/start.ts'
import type { Connections } from './config.ts'
import type { OrderReceiptMail } from './erasure/customers.routes.ts'
import type { Erasing } from './erasure/start.ts'
import type { AppealUrlOf } from './generations/generations.view.ts'
import type { TryOns } from './generations/start.ts'
import type { Routes } from './http/app.ts'
import type { Route } from './http/route.ts'
import type { StartLink } from './http/start-page.ts'
import type { AppState } from './http/state.ts'
import type { Photos } from './photos/start.ts'
import type { Products } from './products/start.ts'
import type { ShopGuards } from './shops/start.ts'

/** What the core offers to extensions. */
export interface Core extends Connections, TryOns, Photos, Accounts, Products, Erasing, ShopGuards {
  /** Notifies all that run try-ons of new work. */
  readonly wake: () => void
  readonly hasFeature: (name: string) => boolean
  /** The OpenAPI document of the installation. */
  readonly document: object
}

/** What a started extension adds. Its work in the background ends with `core.lifecycle`. */
export interface Extension {
  readonly routes?: readonly Routes[]
  /** Serves requests before all middleware. */
  readonly before?: (next: RequestListener) => RequestListener
  /** Runs after each acceptance of a try-on. */
  readonly onAccepted?: () => void
  /** Runs after each erasure of a customer. */
  readonly onErased?: () => void
  readonly appealUrlOf?: AppealUrlOf
  readonly orderReceiptMail?: OrderReceiptMail
}

/** A part of the service that an installation can leave out. */
export interface Feature {
  readonly name: string
  /** Its operations of the OpenAPI document. */
  readonly operations?: readonly Route<never>[]
  /** Its links of the start page. */
  readonly links?: readonly StartLink[]
  /** Checks requests with an API key, after authentication and again when the body is read. */
  readonly guard?: Middleware<AppState>
  readonly start: (core: Core) => Extension | Promise<Extension>
}
