import type { Operation } from '../../openapi/operation.ts'
import { Visitor, VisitorBody } from './visitor.schema.ts'

export const visitorOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/public/visitor',
    id: 'createVisitor',
    tag: 'Storefront',
    summary: 'Get a token for a visitor',
    description: `Names a new visitor of the shop. The browser keeps the token and sends it in \`X-Service-Visitor-Token\`: the weekly
limit counts by it, and photos belong to it. Optional: calls without a token are counted by the anonymous id. At most 20 an hour for each
address of the network and 5,000 for each shop.`,
    access: 'shop',
    body: { json: VisitorBody },
    answers: { 201: { description: 'A new visitor.', schema: Visitor } },
    errors: ['VALIDATION_FAILED', 'CAPTCHA_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
  },
]
