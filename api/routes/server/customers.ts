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
    description: `Deletes every photo and every result image of the end user and unlinks the generations from the
end user; the generations themselves stay. Unfinished generations are cancelled and refunded.`,
    parameters: { customerId: 'The externalUserId of the calls.' },
    answers: { 204: { description: 'Erased, or unknown.' } },
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
