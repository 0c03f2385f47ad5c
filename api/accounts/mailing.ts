import { type OutboxConsumer, startOutboxConsumer } from '../shared/queue/outbox-consumer.ts'
import { nextAttempt } from '../shared/queue/retry.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Mail, SendMail } from './smtp.ts'

/** An e-mail that is due. */
export interface DueMail {
  /** Failed attempts. */
  readonly attempts: number
  readonly ageSeconds: number
}

export interface MailingOptions<Due extends DueMail> {
  /** What is sent, in log messages. */
  readonly name: string
  readonly outbox: {
    /** Claims e-mails for the time of the lease. */
    readonly claim: (claiming: { limit: number; leaseSeconds: number }) => Promise<readonly Due[]>
    /** Ends a sent or abandoned e-mail. */
    readonly end: (due: Due) => Promise<void>
    /** Schedules the next attempt in this many seconds. */
    readonly postpone: (due: Due, seconds: number) => Promise<void>
  }
  readonly compose: (due: Due) => Mail
  /** What the log says about it, without an address. */
  readonly describe: (due: Due) => object
  readonly send: SendMail
  readonly log: Log
  /** Time between two claims without due e-mails. */
  readonly idleMs: number
}

const LEASE_SECONDS = 120
const FAILURE_MS = 3000
const CONCURRENCY = 2
const RETRY = { seconds: { first: 60, longest: 6 * 3600 }, giveUpSeconds: 3 * 86_400 }

/** Sends the e-mails of an outbox, at least once and always with the same ID. Any number of processes may run concurrently. */
export function startMailing<Due extends DueMail>(options: MailingOptions<Due>): OutboxConsumer {
  const { name, outbox, log, idleMs } = options
  return startOutboxConsumer<Due>({
    name: `${name} mail`,
    log,
    concurrency: CONCURRENCY,
    idleMs,
    failureMs: FAILURE_MS,
    claim: async ({ limit }) => ({ items: await outbox.claim({ limit, leaseSeconds: LEASE_SECONDS }) }),
    handle: (due) => deliver(due, options),
  })
}

async function deliver<Due extends DueMail>(due: Due, options: MailingOptions<Due>): Promise<void> {
  const { name, outbox, compose, describe, send, log } = options
  const sent = await send(compose(due))
  if (sent.outcome === 'sent') {
    await outbox.end(due)
    log.info(describe(due), `${name} sent by e-mail`)
    return
  }
  const about = { ...describe(due), reason: sent.reason }
  const { attempts: failures, ageSeconds } = due
  const next = sent.outcome === 'refused' ? null : nextAttempt({ failures, ageSeconds }, RETRY)
  if (next === null) {
    await outbox.end(due)
    log.error(about, `${name} not sent by e-mail: given up`)
    return
  }
  await outbox.postpone(due, next)
  log.warn(about, `${name} not sent by e-mail: will be retried`)
}
