import type { Customer } from '../../shared/stores/customer.ts'
import type { AppContext } from '../../state.ts'
import { route } from '../route.ts'
import { reading } from './guards.ts'

export interface CustomerParts {
  readonly erase: (customer: Customer) => Promise<void>
}

export const customerRoutes = [
  route({
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
    guards: reading,
    handler: deleteCustomer,
  }),
]

async function deleteCustomer(
  { state }: AppContext,
  { erase }: CustomerParts,
  { params }: { readonly params: { readonly customerId: string } },
): Promise<void> {
  await erase({ accountId: state.account.id, externalUserId: params.customerId })
}
