import type { Operation } from '../../openapi/operation.ts'
import { Account, Credits } from './account.schema.ts'

const tag = 'Account'

export const accountOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/tryon/v1/account',
    id: 'getAccount',
    scopes: ['read'],
    tag,
    summary: 'Fetch the account of the key',
    answers: { 200: { description: 'As it stands now.', schema: Account } },
    errors: ['ACCOUNT_NOT_FOUND'],
  },
  {
    method: 'get',
    path: '/tryon/v1/account/credits',
    id: 'getCredits',
    scopes: ['read'],
    tag,
    summary: 'Fetch the number of credits left',
    answers: { 200: { description: 'As it stands now.', schema: Credits } },
    errors: ['ACCOUNT_NOT_FOUND'],
  },
]
