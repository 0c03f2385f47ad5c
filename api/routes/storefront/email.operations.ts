import type { Operation } from '../../openapi/operation.ts'
import { EmailAnswer, EmailBody } from './email.schema.ts'

export const emailOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/public/collect-email',
    id: 'collectEmail',
    tag: 'Storefront',
    summary: 'Leave an e-mail address with the shop',
    description:
      'The shopper becomes a customer of the shop, or is found among them, and belongs to the segment Widget Leads. This ' +
      'happens after the answer; the address is stored before it. At most 10 a minute for each shopper, 20 for each address of the network and 600 for each shop.',
    access: 'shop',
    body: { json: EmailBody },
    answers: {
      200: {
        description: 'Whether the address was taken; nothing is worth an error to a shopper.',
        schema: EmailAnswer,
      },
    },
    errors: [],
  },
]
