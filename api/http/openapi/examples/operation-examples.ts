import type { OperationExamples } from '../operation.ts'
import { SERVER_EXAMPLES } from './server-examples.ts'
import { STOREFRONT_EXAMPLES } from './storefront-examples.ts'

/**
 * Examples by operation ID. Each operation with a request or response body has its own; a test validates all of them.
 */
export const OPERATION_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...SERVER_EXAMPLES,
  ...STOREFRONT_EXAMPLES,
}
