import { reading } from '../http/guards.ts'
import { route } from '../http/route.ts'
import type { AppContext } from '../http/state.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Customer } from '../shared/retention/customer.ts'
import { Erasure } from './erasures.schema.ts'
import type { ErasureRecord, Erasures } from './erasures.store.ts'
import { HEADER, invalid, readMailAddress } from './mail-address.ts'
import type { Receipt } from './receipt.ts'

/**
 * Checks the address in the header of a call; the returned function stores it for the receipt of the erasure, and does nothing without
 * an address.
 * @throws DrapeError VALIDATION_FAILED for a text that is no address, and where the installation sends no e-mails
 * @throws DrapeError RATE_LIMITED over the limit of the mailbox or the account
 */
export type OrderReceiptMail = (accountId: string, header: string) => Promise<(erasureId: string) => Promise<void>>

/** For installations that send no e-mails. */
export const refuseReceiptMail: OrderReceiptMail = async (_, header) => {
  if (readMailAddress(header) === null) return async () => {}
  throw invalid('cannot be used: this installation sends no e-mails. Fetch the receipt instead.')
}

export interface CustomerParts {
  /** Returns the id of the erasure. */
  readonly erase: (customer: Customer) => Promise<string>
  readonly erasures: Pick<Erasures, 'find'>
  readonly orderReceiptMail: OrderReceiptMail
}

const tag = 'Customers'
const scopes = ['erase'] as const

export const customerRoutes = [
  route({
    method: 'delete',
    path: '/tryon/v1/customers/{customerId}',
    id: 'eraseCustomer',
    scopes,
    tag,
    summary: 'Erase an end user',
    description: `Deletes every photo and every result image of the end user, the e-mail addresses that they left with shops and
their recorded data requests, and the results that others made of these photos. Unlinks generations from the end user, and reduces events
to name, time, shop and product. Includes all that was stored under this value in every shop of the account: as the customer ID of the platform of a shop, or as the anonymous ID of
a browser. Unfinished generations are cancelled and refunded. The
header \`Location\` is the path of the erasure, which later returns its signed receipt.`,
    parameters: {
      customerId:
        'The value that was sent for the end user: externalUserId, the customer ID of the platform of a shop, or an anonymous ID, with or without anon_.',
    },
    headers: {
      [HEADER]:
        'E-mail address to which the signed receipt is sent when it is issued. The address is stored until then. At most 5 receipts per day for each mailbox and 500 for each account.',
    },
    answers: { 204: { description: 'The end user is erased, or was unknown.' } },
    errors: ['VALIDATION_FAILED', 'RATE_LIMITED'],
    guards: reading,
    handler: deleteCustomer,
  }),
  route({
    method: 'get',
    path: '/tryon/v1/erasures/{id}',
    id: 'getErasure',
    scopes,
    tag,
    summary: 'Fetch an erasure and its receipt',
    description: `The receipt is issued when storage, workers, caches and the erasure log have confirmed the erasure, after 1 to 10 minutes; the webhook
\`erasure.confirmed\` reports it. Receipts are stored for 3 years.`,
    parameters: {
      id: 'The erasureId: the last segment of the header Location, or erasureId of the webhook customer.erased.',
    },
    answers: { 200: { description: 'The current state of the erasure.', schema: Erasure } },
    errors: ['ERASURE_NOT_FOUND'],
    guards: reading,
    handler: getErasure,
  }),
]

async function deleteCustomer(
  ctx: AppContext,
  { erase, orderReceiptMail }: CustomerParts,
  { params }: { readonly params: { readonly customerId: string } },
): Promise<void> {
  const accountId = ctx.state.account.id
  // Runs before the erasure, so that a refused call changes nothing.
  const order = await orderReceiptMail(accountId, ctx.get(HEADER))
  const id = await erase({ accountId, externalUserId: params.customerId })
  await order(id)
  ctx.set('Location', `/tryon/v1/erasures/${id}`)
}

async function getErasure(
  { state }: AppContext,
  { erasures }: CustomerParts,
  { params: { id } }: { readonly params: { readonly id: string } },
): Promise<Erasure> {
  const erasure = await erasures.find({ accountId: state.account.id, id })
  if (erasure === null) throw new DrapeError('ERASURE_NOT_FOUND', 'The erasure does not exist.')
  return presentErasure(erasure)
}

export function presentErasure({
  id,
  waitsFor,
  requestedAt,
  erasedAt,
  issuedAt,
  receipt,
  leaves,
}: ErasureRecord): Erasure {
  return {
    erasureId: id,
    status: issuedAt === null ? 'PENDING' : 'ISSUED',
    waitsFor: issuedAt === null ? waitsFor : null,
    requestedAt: requestedAt.toISOString(),
    erasedAt: erasedAt?.toISOString() ?? null,
    issuedAt: issuedAt?.toISOString() ?? null,
    // Exactly as signed, or the signature would not match.
    receipt:
      receipt === null ? null : { ...(receipt as Omit<Receipt, 'leaves'>), leaves: leaves?.match(/.{64}/g) ?? [] },
  }
}
