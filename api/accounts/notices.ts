import type { OutboxConsumer } from '../shared/queue/outbox-consumer.ts'
import type { Log } from '../shared/telemetry/log.ts'
import { startMailing } from './mailing.ts'
import type { DueNotice, Notices } from './notices.store.ts'
import type { Mail, SendMail } from './smtp.ts'

export interface NoticeOptions {
  readonly notices: Notices
  readonly send: SendMail
  /** Address of the installation. */
  readonly installation: string
  readonly serviceName: string
  readonly log: Log
  /** Time between two observations. Default: 1 minute. */
  readonly idleMs?: number
}

/** Observes the credits and failures of accounts, and sends one e-mail for each episode. */
export function startNotices({ notices, send, log, idleMs = 60_000, ...about }: NoticeOptions): OutboxConsumer {
  return startMailing<DueNotice>({
    name: 'notice',
    outbox: {
      ...notices,
      claim: async (claiming) => {
        await notices.observe()
        return notices.claim(claiming)
      },
    },
    compose: (due) => composeMail(due, about),
    describe: ({ accountId, kind }) => ({ accountId, kind }),
    send,
    log,
    idleMs,
  })
}

function composeMail(
  due: DueNotice,
  { installation, serviceName }: Pick<NoticeOptions, 'installation' | 'serviceName'>,
): Mail {
  const { accountId, accountName, kind, createdAt, address } = due
  const { hostname } = new URL(installation)
  const { subject, text } = kind === 'credits.low' ? lowCredits(due) : failures(due)
  return {
    to: address,
    subject: `${serviceName}: ${subject}`,
    text: `${text}

Account: ${accountName} (${accountId})
Service: ${serviceName} at ${installation}
Time: ${createdAt.toISOString()}

You receive this e-mail because your address is that of the account. Do not reply to this e-mail.
`,
    id: `<${accountId}.${kind}.${createdAt.getTime()}@${hostname}>`,
  }
}

function lowCredits({ data: { creditBalance, threshold } }: DueNotice) {
  return {
    subject: 'credits are low',
    text: `${creditBalance} credits are left, and the account asked for an e-mail at ${threshold}. Without credits, try-ons
are refused with INSUFFICIENT_CREDITS. The next e-mail follows only after a top-up.`,
  }
}

function failures({ data: { failed, ended, threshold } }: DueNotice) {
  return {
    subject: 'try-ons fail',
    text: `${failed} of ${ended} try-ons of the past hour failed because of the service, and the account asked for an e-mail
at ${threshold} %. Credits of failed try-ons were refunded. The next e-mail follows only after an hour with fewer failures.`,
  }
}
