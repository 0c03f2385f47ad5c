import { generateKeyPairSync } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createSendMail } from '../../../../api/accounts/smtp.ts'
import { mailboxOf, readMailAddress } from '../../../../api/erasure/mail-address.ts'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../../api/shared/database/database.ts'
import { createOldErasures } from '../../../../api/shared/retention/erasure-record.store.ts'
import { verifyReceipt } from '../../../../api/trust/receipts/verify.ts'
import { ROOT } from '../../../../scripts/stack/session.ts'
import { blocksOf, runCommands } from '../../../support/documented-blocks.ts'
import { readSample, startDrape } from '../../../support/drape.ts'
import { requestService } from '../../../support/request-service.ts'
import { startMailServer } from '../../../support/smtp-server.ts'
import { until } from '../../../support/until.ts'

const Count = rowType(Type.Object({ count: Type.Integer() }))
const Failed = rowType(Type.Object({ id: Type.String(), attempts: Type.Integer() }))

describe('a receipt by e-mail', async () => {
  const server = await startMailServer()
  const drape = await startDrape({
    env: {
      SMTP_URL: server.url,
      MAIL_FROM: 'Example Ltd <privacy@example.com>',
      SERVICE_NAME: 'Fit & Co',
      RECEIPT_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
  })
  afterAll(async () => {
    await drape.stop()
    await server.stop()
  })

  const erase = (externalUserId: string, address: string) =>
    drape.call('DELETE', `/tryon/v1/customers/${externalUserId}`, { headers: { 'x-receipt-email': address } })
  const countAddresses = () =>
    drape.database.oneFirst(sql.type(Count)`select count(*)::int as count from receipt_mails`)
  const hurried = new Map<string, number>()
  /** Stands for the lifetime of caches, and for the time between attempts. */
  const hurry = async () => {
    await drape.database.query(
      sql.unsafe`update erasures set cached_until = now(), check_at = now() where issued_at is null`,
    )
    const failed = await drape.database.any(
      sql.type(Failed)`select erasure_id as id, attempts from receipt_mails where attempts > 0`,
    )
    for (const { id, attempts } of failed) {
      // Only once after each attempt: the next one could be in progress, and a third one would send a second e-mail.
      if (hurried.get(id) === attempts) continue
      hurried.set(id, attempts)
      await drape.database.query(sql.unsafe`update receipt_mails set send_at = now() where erasure_id = ${id}`)
    }
  }
  const untilHurried = (look: () => boolean | Promise<boolean>) =>
    until(async () => {
      await hurry()
      return look()
    })
  const mailTo = (address: string) => server.received.filter(({ to }) => to.includes(address))

  it('is sent after it is issued, with instructions to verify it, and its address is deleted', async () => {
    const { status, headers } = await erase('anna', 'Anna@example.org')
    expect(status).toBe(204)
    expect(await countAddresses()).toBe(1)
    await untilHurried(async () => (await countAddresses()) === 0)
    const [{ raw: wrapped, to }, ...others] = mailTo('Anna@example.org')
    const raw = wrapped.replaceAll('=\r\n', '')
    expect([to, others]).toEqual([['Anna@example.org'], []])
    const id = headers.get('location')?.split('/').at(-1) ?? ''
    expect(raw).toContain('From: Example Ltd <privacy@example.com>\r\nTo: Anna@example.org\r\n')
    expect(raw).toContain('Subject: Fit & Co: receipt of an erasure\r\n')
    expect(raw).toMatch(new RegExp(`Message-ID:\\s+<${id}\\.[0-9a-f]{16}@127\\.0\\.0\\.1>`))
    expect(raw).toContain(`${drape.api.url}/receipts/keys`)
    expect(raw).not.toMatch(/text\/html/)
    const [, base64] = /filename=erasure-receipt\.json\r\n(?:[^\r\n]+\r\n)*\r\n([\w+/=\r\n]+)\r\n--/.exec(wrapped) ?? []
    const attached = Buffer.from(base64, 'base64').toString()
    const { body } = await drape.call('GET', '/receipts/keys')
    const keys = body.keys.map(({ kid }: { kid: string }) => kid)
    expect(verifyReceipt(attached, keys)).toMatchObject({ status: 'valid', statement: { id } })
    expect(attached + drape.api.output()).not.toMatch(/anna@/i)
  })

  it('is requested, fetched and verified with the commands of docs/erasure.md', async () => {
    const { path: folder } = await requestService('folder', null)
    const env = { ...process.env, ROOT, DRAPE_URL: drape.api.url, DRAPE_API_KEY: drape.apiKey }
    const follow = (commands: string, placeholders = {}) =>
      runCommands(`drape() { node "$ROOT/scripts/drape.ts" "$@"; }\n${commands}`, { folder, placeholders, env })
    const [erasure, verification, order, search] = blocksOf('docs/erasure.md')
      .filter(({ language }) => language === 'sh')
      .map(({ text }) => text)
    const photo = await readSample('persons/down-half-teal.jpg')
    const { imageUrl } = await drape.upload(photo, { externalUserId: 'user-1042' })
    // Bytes of a younger one could still arrive in the storage.
    await drape.database.query(sql.unsafe`update objects set created_at = now() - interval '1 hour'`)
    await follow(order)
    const [, id, status] = /"erasureId":"(.+)"\n"status":"(.+)"/.exec(await follow(erasure)) ?? []
    expect(status).toBe('PENDING')
    await untilHurried(() => mailTo('anna@example.com').length === 1)
    const [, ...fetching] = erasure.split('\n')
    expect(await follow(`location=/tryon/v1/erasures/${id}\n${fetching.join('\n')}`)).toContain('"status":"ISSUED"')
    expect(await follow(verification)).toMatch(/^status +valid/m)
    const link = 'https://tryon.example.com/objects/persons/acc_1/img_0190a5b2.jpg?expires=…'
    expect(await follow(search, { [link]: imageUrl })).toMatch(/^isListed +true/m)
  })

  it('is retried after temporary errors, and abandoned after permanent errors', async () => {
    server.refusal = 451
    await erase('ben', 'ben@example.org')
    // The receipt waits for longer than an e-mail is tried.
    await drape.database.query(sql.unsafe`update receipt_mails set created_at = now() - interval '10 days'`)
    await untilHurried(() => server.countRefusals() >= 2)
    expect(await countAddresses()).toBe(1)
    server.refusal = null
    // The sender is a setting of the operator, not of the address.
    server.senderRefusal = 550
    const refusals = server.countRefusals()
    await untilHurried(() => server.countRefusals() >= refusals + 2)
    expect(await countAddresses()).toBe(1)
    server.senderRefusal = null
    await untilHurried(async () => (await countAddresses()) === 0)
    expect(mailTo('ben@example.org')).toHaveLength(1)
    server.refusal = 550
    await erase('cora', 'cora@example.org')
    await untilHurried(async () => (await countAddresses()) === 0)
    server.refusal = null
    expect(mailTo('cora@example.org')).toEqual([])
    await until(() => drape.api.output().includes('receipt not sent by e-mail: given up'))
    expect(drape.api.output()).not.toMatch(/(ben|cora)@/)
  })

  it('is refused for an invalid address, without an erasure', async () => {
    const before = await drape.database.oneFirst(sql.type(Count)`select count(*)::int as count from erasures`)
    for (const text of [
      'anna',
      'a@b.example, c@d.example',
      'Anna <a@b.example>',
      `${'a'.repeat(250)}@b.example`,
      'ä@b.example',
    ]) {
      const { status, body } = await erase('dora', text)
      expect([status, body?.code], text).toEqual([400, 'VALIDATION_FAILED'])
    }
    expect(await drape.database.oneFirst(sql.type(Count)`select count(*)::int as count from erasures`)).toBe(before)
    for (const text of ['a@b.example\r\nBcc: c@d.example', 'a@b.example\nX', 'a@b.example\0'])
      expect(() => readMailAddress(text), text).toThrow(/not valid/)
  })

  it('is limited per mailbox, regardless of tag and case of the address', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 6; i++)
      statuses.push((await erase(`flood${i}`, `${i % 2 ? 'M' : 'm'}ia+${i}@example.org`)).status)
    expect(statuses).toEqual([204, 204, 204, 204, 204, 429])
    expect(mailboxOf('Mia+1+2@Example.org')).toBe('mia@example.org')
    expect(mailboxOf('+1@example.org')).toBe('+1@example.org')
    await untilHurried(async () => (await countAddresses()) === 0)
  })

  it('keeps no address for longer than 14 days after the receipt', async () => {
    await drape.database.query(sql.unsafe`
      insert into receipt_mails (erasure_id, address, send_at)
      select id, 'old@example.org', now() + interval '1 year' from erasures limit 1`)
    await drape.database.query(sql.unsafe`update erasures set issued_at = now() - interval '15 days'`)
    await createOldErasures(drape.database).deleteOldErasures(10)
    expect(await countAddresses()).toBe(0)
  })
})

describe('the e-mail server', () => {
  it.each([
    ['https://mail.example', 'a@b.example', /SMTP_URL must be/],
    ['smtp://user:secret@', 'a@b.example', /SMTP_URL must be/],
    ['smtp://mail.example', 'a@b.example, c@d.example', /MAIL_FROM must be one address/],
    ['smtp://mail.example', 'A\r\nBcc: x@y.example <a@b.example>', /MAIL_FROM must be one address/],
  ])('is refused as %s with the sender %s', (url, from, message) => {
    expect(() => createSendMail({ url, from })).toThrow(message)
    expect(() => createSendMail({ url, from })).not.toThrow('secret')
  })

  it('must encrypt, unless its URL disables it, and its errors contain neither address nor password', async () => {
    const server = await startMailServer()
    const mail = { to: 'a@b.example', subject: 's', text: 't', id: '<1@b.example>' }
    const attachment = { name: 'a.json', type: 'application/json', content: '{}' }
    const send = (url: string) => createSendMail({ url, from: 'a@b.example' })({ ...mail, attachment })
    expect(await send(server.url)).toEqual({ outcome: 'sent' })
    expect(await send(server.url.replace('?tls=none', ''))).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^ETLS/),
    })
    const wrong = await send(server.url.replace('pass%20word', 'wrong'))
    expect(wrong).toEqual({ outcome: 'failed', reason: 'EAUTH 535' })
    await server.stop()
    expect(await send(server.url)).toMatchObject({ outcome: 'failed' })
  })
})
