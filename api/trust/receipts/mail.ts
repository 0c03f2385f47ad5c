import { createHash } from 'node:crypto'
import { type OutboxConsumer, startOutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import { nextAttempt } from '../../shared/queue/retry.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import type { DueReceiptMail, ReceiptMails } from './receipt-mails.store.ts'
import type { Mail, SendMail } from './smtp.ts'

export interface MailingOptions {
  readonly mails: ReceiptMails
  readonly send: SendMail
  /** Address of the installation. */
  readonly installation: string
  readonly serviceName: string
  readonly log: Log
  /** Delay before the first retry in seconds, doubled up to 6 hours. Default 60. */
  readonly firstRetrySeconds?: number
}

const LEASE_SECONDS = 120
const IDLE_MS = 2000
const FAILURE_MS = 3000
const CONCURRENCY = 2
const LONGEST_RETRY_SECONDS = 6 * 3600
const GIVE_UP_SECONDS = 3 * 86_400

/** Sends receipts by e-mail, at least once and always with the same ID, and deletes the address of each. Any number of processes may run concurrently. */
export function startMailing(options: MailingOptions): OutboxConsumer {
  return startOutboxConsumer({
    name: 'receipt mail',
    log: options.log,
    concurrency: CONCURRENCY,
    idleMs: IDLE_MS,
    failureMs: FAILURE_MS,
    claim: async ({ limit }) => ({ items: await options.mails.claim({ limit, leaseSeconds: LEASE_SECONDS }) }),
    handle: (due) => deliver(due, options),
  })
}

async function deliver(due: DueReceiptMail, options: MailingOptions): Promise<void> {
  const { mails, send, log, firstRetrySeconds: first = 60 } = options
  const { erasureId, attempts: failures, ageSeconds } = due
  const sent = await send(composeMail(due, options))
  if (sent.outcome === 'sent') {
    await mails.delete(due)
    log.info({ erasureId }, 'receipt sent by e-mail')
    return
  }
  const policy = { seconds: { first, longest: LONGEST_RETRY_SECONDS }, giveUpSeconds: GIVE_UP_SECONDS }
  const next = sent.outcome === 'refused' ? null : nextAttempt({ failures, ageSeconds }, policy)
  if (next === null) {
    await mails.delete(due)
    log.error({ erasureId, reason: sent.reason }, 'receipt not sent by e-mail: given up')
    return
  }
  await mails.postpone(due, next)
  log.warn({ erasureId, reason: sent.reason }, 'receipt not sent by e-mail: will be retried')
}

/** The e-mail of a receipt. Its text contains nothing that a caller has chosen. */
function composeMail(
  { erasureId, address, receipt, leaves }: Pick<DueReceiptMail, 'erasureId' | 'address' | 'receipt' | 'leaves'>,
  { installation, serviceName }: Pick<MailingOptions, 'installation' | 'serviceName'>,
): Mail {
  const content = JSON.stringify({ ...(receipt as object), leaves: leaves.match(/.{64}/g) ?? [] }, null, 2)
  const name = 'erasure-receipt.json'
  const { hostname } = new URL(installation)
  const part = createHash('sha256').update(`${erasureId}\n${address}`).digest('hex').slice(0, 16)
  return {
    to: address,
    subject: `${serviceName}: receipt of an erasure`,
    text: `An end user's data was erased from ${serviceName} at ${installation}.
The signed receipt is attached as ${name}. It says what was erased and when, what is kept and why.
It names no person and contains no image.

Erasure: ${erasureId}

How to verify the receipt, now or in years:

1. Keep the attached file unchanged, and note where the public keys are: ${installation}/receipts/keys
2. Save the keys as keys.json.
3. Run: drape receipt verify ${name} --keys keys.json
   or use the code in ${installation}/guide/erasure, which needs no program of Drape.

You receive this e-mail because the request for the erasure named this address. The address has been
deleted. Do not reply to this e-mail.
`,
    attachment: { name, type: 'application/json', content },
    id: `<${erasureId}.${part}@${hostname}>`,
  }
}
