import type { OrderReceiptMail } from '../../erasure/customers.routes.ts'
import { mailboxOf, readMailAddress } from '../../erasure/mail-address.ts'
import type { RateLimiter } from '../../http/limits/rate-limiter.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { hashText, type SigningSecret } from '../../shared/signing/signing.ts'
import type { ReceiptMails } from './receipt-mails.store.ts'

export interface OrderOptions {
  readonly mails: Pick<ReceiptMails, 'insert'>
  readonly signingSecret: SigningSecret
  readonly createRateLimiter: (budget: { name: string; points: number; seconds: number }) => RateLimiter
}

const DAY_SECONDS = 86_400

export function createOrderReceiptMail({ mails, signingSecret, createRateLimiter }: OrderOptions): OrderReceiptMail {
  const ofMailbox = createRateLimiter({ name: 'receipt-mailbox', points: 5, seconds: DAY_SECONDS })
  const ofAccount = createRateLimiter({ name: 'receipt-mails', points: 500, seconds: DAY_SECONDS })
  return async (accountId, header) => {
    const address = readMailAddress(header)
    if (address === null) return async () => {}
    assertAllowed(await ofAccount(accountId))
    // The counter must not contain the address.
    assertAllowed(await ofMailbox(hashText(signingSecret, mailboxOf(address))))
    return (erasureId) => mails.insert({ erasureId, address })
  }
}

function assertAllowed({ allowed, retrySeconds }: Awaited<ReturnType<RateLimiter>>): void {
  if (allowed) return
  throw new DrapeError(
    'RATE_LIMITED',
    'Too many receipts by e-mail were requested today. Repeat the erasure without the header, and fetch the receipt.',
    {
      retryable: true,
      retryAfterSeconds: retrySeconds,
    },
  )
}
