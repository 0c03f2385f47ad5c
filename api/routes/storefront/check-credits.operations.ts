import type { Operation } from '../../openapi/operation.ts'
import { CreditCheck } from './check-credits.schema.ts'

export const checkCreditsOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/public/check-credits',
    id: 'checkCredits',
    tag: 'Storefront',
    summary: 'Whether the shop can offer try-ons now',
    description: `False when the account has no credits or is not active, the plan does not allow generations, or a monthly quota is
used up. When something on our side is wrong it is true: what counts is said by fitting-room.`,
    access: 'shop',
    answers: { 200: { description: 'For 2 minutes.', schema: CreditCheck } },
    errors: [],
  },
]
