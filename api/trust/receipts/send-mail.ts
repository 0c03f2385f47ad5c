import { createHash } from 'node:crypto'
import { startMailing } from '../../accounts/mailing.ts'
import type { Mail, SendMail } from '../../accounts/smtp.ts'
import type { OutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import type { DueReceiptMail, ReceiptMails } from './receipt-mails.store.ts'

export interface ReceiptMailingOptions {
  readonly mails: ReceiptMails
  readonly send: SendMail
  /** Address of the installation. */
  readonly installation: string
  readonly serviceName: string
  readonly log: Log
}

/** Sends receipts by e-mail, and deletes the address of each. */
export function startReceiptMailing({ mails, send, log, ...about }: ReceiptMailingOptions): OutboxConsumer {
  return startMailing({
    name: 'receipt',
    outbox: mails,
    compose: (due) => composeMail(due, about),
    describe: ({ erasureId }) => ({ erasureId }),
    send,
    log,
    idleMs: 2000,
  })
}

/** The e-mail of a receipt. Its text contains nothing that a caller has chosen. */
function composeMail(
  { erasureId, address, receipt, leaves }: DueReceiptMail,
  { installation, serviceName }: Pick<ReceiptMailingOptions, 'installation' | 'serviceName'>,
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
