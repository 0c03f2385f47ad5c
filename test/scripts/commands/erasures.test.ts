import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { createDatabase, rowType, sql } from '../../../api/shared/database/database.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { createEvents } from '../../../api/storefront/events/events.store.ts'
import { createLeadOutbox } from '../../../api/storefront/leads/lead-outbox.store.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { readSample, startDrape } from '../../support/drape.ts'
import { copyTestDatabase } from '../../support/postgres.ts'
import { createShopperCalls } from '../../support/shopper-calls.ts'
import { listAll } from '../../support/storage-behaviour.ts'
import { until } from '../../support/until.ts'

const Image = rowType(Type.Object({ id: Type.String() }))

describe('restoring a backup older than an erasure', async () => {
  const person = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape()
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: '', signingSecret: '' })
  const folder = await mkdtemp(join(tmpdir(), 'drape-backup-'))
  afterAll(async () => {
    await drape.stop()
    await rm(folder, { recursive: true })
  })

  const upload = (externalUserId: string) => createShopperCalls(drape, person).upload(externalUserId)
  const tryOn = (imageId: string, externalUserId: string) =>
    createShopperCalls(drape, person).tryOn(imageId, externalUserId)

  /** A customer of a shop who left an address and events, but no photo. */
  async function visitShop(customerId: string): Promise<string> {
    const { id: shopId } = await createShops(drape.database).insert({
      accountId: drape.accountId,
      platform: 'plugin',
      domain: 'shop.example',
      secret: 'a secret of the shop',
    })
    const externalUserId = `${shopId}:customer:${customerId}`
    await createLeadOutbox(drape.database).insert({
      shopId,
      externalUserId,
      email: 'gone@example.com',
      marketingConsent: true,
    })
    const nobody = { anonymousId: null, sessionId: null, productId: null, variantId: null }
    const origin = {
      accountId: drape.accountId,
      shopId,
      customerId,
      customerEmail: null,
      customerSigned: true,
      context: {},
    }
    const event = {
      name: 'widget:button_click',
      happenedAt: new Date(),
      properties: '{}',
      productId: null,
      generationId: null,
    }
    await createEvents(drape.database).insert({
      origin: { ...nobody, ...origin },
      events: [{ ...event, insertId: 'e1' }],
    })
    return externalUserId
  }

  it('deletes erased customers again, and keeps data created after the erasure', async () => {
    const [gone, kept] = [await upload('gone'), await upload('kept')]
    await tryOn(gone, 'gone')
    const returned = await upload('returned')
    expect((await drape.call('DELETE', '/tryon/v1/customers/returned')).status).toBe(204)
    const again = await upload('returned')

    const shopper = await visitShop('77')

    const restored = await copyTestDatabase(drape.env.DATABASE_URL)
    const bytes = await storage.get(`persons/${drape.accountId}/${gone}.jpg`)
    // The first calls may find connections that the copying has ended.
    await until(async () => (await drape.call('DELETE', '/tryon/v1/customers/gone')).status === 204)
    expect((await drape.call('DELETE', '/tryon/v1/customers/never-known')).status).toBe(204)
    expect((await drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(shopper)}`)).status).toBe(204)
    const log = await listAll(storage, 'erasures/')
    expect(log).toHaveLength(3)
    for (const { key } of log) expect(`${key} ${await storage.get(key)}`).not.toMatch(/gone|returned/)

    const database = createDatabase(restored.url, { poolSize: 1 })
    try {
      if (bytes) await storage.put(`persons/${drape.accountId}/${gone}.jpg`, bytes, { contentType: 'image/jpeg' })
      const images = () => database.anyFirst(sql.type(Image)`select id from images order by id`)
      expect(await images()).toEqual([gone, kept, again].sort())

      const { drape: cli, answered } = createCommandLine(restored.url, { STORAGE_URL: drape.env.STORAGE_URL })
      const copy = join(folder, 'erasures.jsonl')
      expect(await answered('erasures', 'export', '--file', copy)).toEqual({ entries: 3 })
      const lines = await readFile(copy, 'utf8')
      expect(lines.trim().split('\n')).toHaveLength(3)
      const printed = await cli('erasures', 'export', '--file', '-')
      expect(printed).toEqual({ code: 0, output: lines, stderr: 'entries  3\n' })
      await storage.delete(log.map(({ key }) => key))
      const empty = await cli('erasures', 'apply')
      expect({ ...empty, output: JSON.parse(empty.output) }).toEqual({
        code: 0,
        output: { entries: 0, erased: 0 },
        stderr: expect.stringMatching(/^warning: the erasure log is empty: check STORAGE_URL/),
      })
      expect(await answered('erasures', 'apply', '--file', copy)).toEqual({ entries: 3, erased: 3 })

      expect(await images()).toEqual([kept, again].sort())
      const traces = await database.anyFirst(sql.type(Image)`
        select email as id from lead_outbox union all select customer_id as id from event_details where customer_id is not null`)
      expect(traces).toEqual([])
      expect(await storage.exists(`persons/${drape.accountId}/${gone}.jpg`)).toBe(false)
      expect(await storage.exists(`persons/${drape.accountId}/${returned}.jpg`)).toBe(false)
      for (const id of [kept, again]) expect(await storage.exists(`persons/${drape.accountId}/${id}.jpg`)).toBe(true)
      const links = await database.anyFirst(sql.type(Image)`
        select external_user_id as id from generations where external_user_id is not null`)
      expect(links).toEqual([])
      // The erasures that are repeated have their receipts from before; that of `returned` is part of the backup.
      const receipts = await database.anyFirst(sql.type(Image)`select id from erasures`)
      expect(receipts).toHaveLength(1)
      expect(await createAccounts(database).findLedgerGaps()).toEqual([])
      expect((await cli('erasures', 'apply', '--file', join(folder, 'nothing'))).code).toBe(2)
      const env = { ...process.env, DATABASE_URL: restored.url, STORAGE_URL: drape.env.STORAGE_URL }
      const command = ['scripts/drape.ts', 'erasures', 'apply', '--file', '-', '--json']
      const applying = promisify(execFile)(process.execPath, command, { env })
      applying.child.stdin?.end(lines)
      expect(JSON.parse((await applying).stdout)).toMatchObject({ entries: 3 })
    } finally {
      await database.end()
      await restored.drop()
    }
  })
})
