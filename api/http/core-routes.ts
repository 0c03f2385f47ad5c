import { accountRoutes } from '../accounts/account.routes.ts'
import { customerRoutes } from '../erasure/customers.routes.ts'
import type { Feature } from '../feature.ts'
import { FEATURES } from '../features.ts'
import { engineRoutes } from '../generations/engines/engines.routes.ts'
import { generationRoutes } from '../generations/generations.routes.ts'
import { tryOnRoutes } from '../generations/try-on.routes.ts'
import { imageRoutes } from '../photos/images.routes.ts'
import { productBatchRoutes } from '../products/product-batches.routes.ts'
import { productRoutes } from '../products/products.routes.ts'
import { webhookRoutes } from '../webhooks/webhooks.routes.ts'
import { TAGS } from './openapi/document.ts'
import { openApiRoutes } from './openapi/openapi.routes.ts'
import type { Operation } from './openapi/operation.ts'
import type { Route } from './route.ts'

export const CORE_ROUTES = [
  ...tryOnRoutes,
  ...generationRoutes,
  ...imageRoutes,
  ...productRoutes,
  ...productBatchRoutes,
  ...accountRoutes,
  ...engineRoutes,
  ...customerRoutes,
  ...webhookRoutes,
  ...openApiRoutes,
]

const isForServers = ({ path }: Operation) => path.startsWith('/tryon/')

const TAG_ORDER = Object.keys(TAGS)
/** Position in the document: operations for servers by tag, then the others. */
const rankOf = (operation: Operation) => (isForServers(operation) ? TAG_ORDER.indexOf(operation.tag) : TAG_ORDER.length)

/** The operations of an installation with these extensions, in the order of the OpenAPI document. */
export function operationsOf(features: readonly Feature[]): readonly Route<never>[] {
  const operations = [...CORE_ROUTES, ...features.flatMap(({ operations = [] }) => operations)]
  return operations.toSorted((one, other) => rankOf(one) - rankOf(other))
}

/** Every operation of the OpenAPI document. */
export const ROUTES = operationsOf(FEATURES)

/** Those for servers of accounts. */
export const SERVER_ROUTES = ROUTES.filter(isForServers)

/** Those for shops, their shoppers and their platforms. */
export const STOREFRONT_ROUTES = ROUTES.filter((operation) => !isForServers(operation))
