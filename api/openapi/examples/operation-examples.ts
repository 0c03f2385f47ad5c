import type { OperationExamples } from '../operation.ts'
import { SERVER_EXAMPLES } from './server-examples.ts'
import { STOREFRONT_EXAMPLES } from './storefront-examples.ts'

/** By operation id. Each operation with a body or an answer has its own; a test validates all of them. */
export const OPERATION_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...SERVER_EXAMPLES,
  ...STOREFRONT_EXAMPLES,
}
