import { afterEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createNotices } from '../../../api/accounts/notices.store.ts'
import { startNotices } from '../../../api/accounts/notices.ts'
import type { Mail, MailOutcome } from '../../../api/accounts/smtp.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import type { ErrorCode } from '../../../api/shared/contract/errors.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import type { OutboxConsumer } from '../../../api/shared/queue/outbox-consumer.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const EMAIL = 'ada@shop.example'

describe('the notices of an account', async () => {
  const { database } = await openTestDatabase({ poolSize: 4 })
  let mails: Mail[] = []
  let outcome: (mail: Mail) => Promise<MailOutcome>
  const running: OutboxConsumer[] = []

  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()))
    await database.query(sql.unsafe`delete from account_notices`)
    await database.query(sql.unsafe`update accounts set email = null`)
    mails = []
  })

  const start = (send: (mail: Mail) => Promise<MailOutcome> = async () => ({ outcome: 'sent' })) => {
    outcome = send
    const noticing = startNotices({
      notices: createNotices(database),
      send: (mail) => {
        mails.push(mail)
        return outcome(mail)
      },
      installation: 'https://api.example',
      serviceName: 'Drape',
      log: createLog({ process: 'test', level: 'silent' }),
      idleMs: 10,
    })
    running.push(noticing)
  }
  /** Resolves when the consumers have observed the current state. */
  const observed = async () => {
    await createNotices(database).observe()
    const isDue = () => database.exists(sql.unsafe`select from account_notices where send_at <= now()`)
    await until(async () => !(await isDue()))
  }
  const add = ({ accountId }: Caller, credits: number) =>
    createAccounts(database).addCredits({ accountId, credits, note: null })
  const create = async (credits: number, settings: object) => {
    const caller = await createCaller(database, credits)
    await createAccounts(database).update(caller.accountId, { email: EMAIL, settings })
    return caller
  }
  const tryOn = async (caller: Caller, code: ErrorCode | null = null) => {
    const call = callOf(caller)
    await acceptGeneration(database, call)
    if (code !== null)
      await createGenerations(database).fail({ id: call.generationId, attempt: null, code, message: 'No.' })
  }
  const hurry = () => database.query(sql.unsafe`update account_notices set send_at = now() where send_at is not null`)

  it('tell low credits once, and again only after a top-up', async () => {
    start()
    start()
    const caller = await create(5, { creditsLowAt: 3 })
    await tryOn(caller)
    await observed()
    expect(mails).toEqual([])
    for (let i = 0; i < 3; i++) await tryOn(caller)
    await observed()
    expect(mails).toEqual([
      {
        to: EMAIL,
        subject: 'Drape: credits are low',
        text: expect.stringMatching(/^[123] credits are left, and the account asked for an e-mail at 3\./),
        id: expect.stringMatching(new RegExp(`^<${caller.accountId}\\.credits\\.low\\.\\d+@api\\.example>$`)),
      },
    ])
    await add(caller, 1)
    await observed()
    expect(mails).toHaveLength(1)
    // Also when the next episode begins before the end of this one is observed.
    await add(caller, 2)
    await tryOn(caller)
    await observed()
    expect(mails).toHaveLength(2)
    expect(new Set(mails.map(({ id }) => id)).size).toBe(2)
  })

  it('go only to accounts with a threshold and an address, and begin when these are set', async () => {
    start()
    const silent = await create(2, {})
    const unknown = await create(2, { creditsLowAt: 2 })
    await createAccounts(database).update(unknown.accountId, { email: null })
    for (const caller of [silent, unknown]) await tryOn(caller)
    await observed()
    expect(mails).toEqual([])
    await createAccounts(database).update(unknown.accountId, { email: 'late@shop.example' })
    await observed()
    expect(mails.map(({ to }) => to)).toEqual(['late@shop.example'])
  })

  it('tell a high share of failures of the service once, until an hour without', async () => {
    start()
    const caller = await create(100, { failuresHighAt: 30 })
    for (let i = 0; i < 3; i++) await tryOn(caller, 'GENERATION_FAILED')
    for (let i = 0; i < 6; i++) await tryOn(caller, 'NO_PERSON_DETECTED')
    await observed()
    expect(mails).toEqual([])
    await tryOn(caller, 'NO_PERSON_DETECTED')
    await observed()
    await until(() => mails.length > 0)
    expect(mails.map(({ subject, text }) => [subject, text.split('\n')[0]])).toEqual([
      [
        'Drape: try-ons fail',
        '3 of 10 try-ons of the past hour failed because of the service, and the account asked for an e-mail',
      ],
    ])
    await tryOn(caller, 'GENERATION_FAILED')
    await observed()
    await tryOn(caller, 'NO_PERSON_DETECTED')
    await database.query(sql.unsafe`update account_notices set seen_at = now() - interval '59 minutes'`)
    await observed()
    expect(mails).toHaveLength(1)
    await database.query(sql.unsafe`update account_notices set seen_at = now() - interval '61 minutes'`)
    await observed()
    await until(() => mails.length === 2)
  })

  it('are sent again with the same ID after a temporary error or the end of the process, and never after a permanent one', async () => {
    const caller = await create(2, { creditsLowAt: 1 })
    await tryOn(caller)
    // The process ends before it knows whether the e-mail was sent.
    await createNotices(database).observe()
    const [claimed] = await createNotices(database).claim({ limit: 9, leaseSeconds: 120 })
    expect(claimed).toMatchObject({ accountId: caller.accountId, kind: 'credits.low' })
    expect(await createNotices(database).claim({ limit: 9, leaseSeconds: 120 })).toEqual([])
    start(async () => ({ outcome: 'failed', reason: '451' }))
    await hurry()
    await until(() => mails.length === 1)
    await observed()
    outcome = async () => ({ outcome: 'sent' })
    await hurry()
    await until(() => mails.length === 2)
    expect(mails[1]).toEqual(mails[0])
    outcome = async () => ({ outcome: 'refused', reason: '550' })
    await add(caller, 1)
    await tryOn(caller)
    await until(() => mails.length === 3)
    await observed()
    await hurry()
    await observed()
    expect(mails).toHaveLength(3)
  })

  it('are not sent once their episode has ended', async () => {
    const caller = await create(2, { creditsLowAt: 1 })
    await tryOn(caller)
    start(async () => ({ outcome: 'failed', reason: '451' }))
    await until(() => mails.length === 1)
    await add(caller, 5)
    await hurry()
    await observed()
    expect(await database.exists(sql.unsafe`select from account_notices`)).toBe(false)
  })
})
