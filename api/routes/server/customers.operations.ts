import type { Operation } from '../../openapi/operation.ts'

export const customerOperations: readonly Operation[] = [
  {
    method: 'delete',
    path: '/tryon/v1/customers/{customerId}',
    id: 'eraseCustomer',
    scopes: ['erase'],
    tag: 'Customers',
    summary: 'Erase an end user',
    description: `Deletes every photo and every generated picture of the end user and cuts the links of generations to
them; the generations themselves stay. Those that are not finished are cancelled and given back.`,
    parameters: { customerId: 'What was sent as externalUserId.' },
    answers: { 204: { description: 'Erased, or never known.' } },
    errors: [],
  },
]
