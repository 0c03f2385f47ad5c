import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type Database, sql } from '../../../api/shared/database/database.ts'
import { createAccounts } from '../../../api/stores/accounts.ts'
import { openSecrets } from '../../../api/stores/live-secrets.ts'
import { createWebhooks } from '../../../api/stores/webhooks.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { TEST_SECRETS } from '../../support/secrets.ts'

const OWN = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

describe('the command line of webhooks', () => {
  let database: Database
  let drop: () => Promise<void>
  let drape: ReturnType<typeof createCommandLine>['drape']
  let answered: ReturnType<typeof createCommandLine>['answered']
  let accountId: string

  beforeAll(async () => {
    const created = await createTestDatabase()
    drop = created.drop
    database = createDatabase(created.url, { poolSize: 1, secrets: TEST_SECRETS })
    ;({ drape, answered } = createCommandLine(created.url))
    accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })).id
  })
  afterAll(async () => {
    await database.end()
    await drop()
  })

  const create = (...more: string[]) =>
    answered('webhook', 'create', '--account', accountId, '--url', 'https://shop.example/hook', ...more)
  const insert = () =>
    createWebhooks(database).insert({
      accountId,
      url: 'https://shop.example/hook',
      eventTypes: ['credits.low', 'customer.erased'],
      secret: OWN,
    })
  const secretsOf = async (id: string) => {
    const { secrets } = await createWebhooks(database).get(id)
    return (await openSecrets(database, secrets, { table: 'webhook_endpoints', id })).map(({ secret }) => secret)
  }
  it('creates an endpoint and shows its secret once', async () => {
    const created = await create()
    expect(created).toMatchObject({
      id: expect.stringMatching(/^endpoint_/),
      accountId,
      url: 'https://shop.example/hook',
      eventTypes: ['generation.completed', 'generation.failed', 'credits.low', 'customer.erased', 'erasure.confirmed'],
      isActive: true,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    expect(await secretsOf(created.id)).toEqual([created.secret])
    const listed = await drape('webhook', 'list', '--account', accountId)
    expect(listed.output).toContain(created.id)
    expect(listed.output).not.toContain(created.secret)
    expect((await answered('webhook', 'list', '--account', 'acc_other')).endpoints).toEqual([])
  })

  it('takes a secret that the receiver has made', async () => {
    const { output } = await drape(
      ...['webhook', 'create', '--account', accountId, '--url', 'https://shop.example/own', '--secret', OWN],
    )
    expect(output).not.toContain(OWN)
    expect(await secretsOf(JSON.parse(output).id)).toEqual([OWN])
  })

  it('turns secrets: one or two are live', async () => {
    const { id } = await insert()
    const turn = (what: string, ...more: string[]) => drape('webhook', 'secret', what, '--endpoint', id, ...more)
    expect(await turn('remove')).toMatchObject({ code: 1, said: expect.stringContaining('Add another one first') })
    const second = JSON.parse((await turn('add')).output).secret
    expect(await turn('add')).toMatchObject({ code: 1, said: expect.stringContaining('Remove one first') })
    expect(await secretsOf(id)).toEqual([second, OWN])
    expect(await turn('remove', '--secret', 'whsec_other')).toMatchObject({
      code: 1,
      said: expect.stringContaining('does not exist'),
    })
    expect((await turn('remove')).code).toBe(0)
    expect(await secretsOf(id)).toEqual([second])
  })

  it('changes what it is told to, and deletes', async () => {
    const { id } = await insert()
    const update = (...options: string[]) => answered('webhook', 'update', '--endpoint', id, ...options)
    expect(await update('--active', 'false')).toMatchObject({
      eventTypes: ['credits.low', 'customer.erased'],
      isActive: false,
    })
    expect(await update('--url', 'https://other.example/', '--events', 'generation.failed')).toMatchObject({
      url: 'https://other.example/',
      eventTypes: ['generation.failed'],
      isActive: false,
    })
    expect(await answered('webhook', 'delete', '--endpoint', id)).toEqual({ deleted: true })
    expect(await drape('webhook', 'deliveries', '--endpoint', id)).toMatchObject({
      code: 1,
      said: expect.stringContaining('does not exist'),
    })
  })

  it('shows what was told and what came of it', async () => {
    const { id } = await insert()
    const { delivery } = await answered('webhook', 'test', '--endpoint', id)
    await createWebhooks(database).insertErased({ accountId, externalUserId: 'user-1' }, 'era_1')
    await database.query(sql.unsafe`
      update webhook_deliveries set status = 'failed', attempts = 10, last_status = 500, last_error = 'the endpoint returned 500', ended_at = now()
      where id = ${delivery}`)
    const { deliveries } = await answered('webhook', 'deliveries', '--endpoint', id)
    expect(deliveries).toMatchObject([
      { type: 'customer.erased', status: 'waiting', attempts: 0, nextAttemptAt: expect.any(String) },
      { id: delivery, type: 'webhook.test', status: 'failed', attempts: 10, lastStatus: 500, nextAttemptAt: null },
    ])
    expect((await answered('webhook', 'deliveries', '--endpoint', id, '--failed')).deliveries).toEqual([deliveries[1]])
    expect((await answered('webhook', 'deliveries', '--endpoint', id, '--limit', '1')).deliveries).toHaveLength(1)
  })

  it('tells once more, while the endpoint is in use', async () => {
    const { id } = await insert()
    const delivery = await createWebhooks(database).insertTest(id)
    const log = () => createWebhooks(database).listDeliveries({ endpointId: id, failed: false, limit: 1 })
    await database.query(
      sql.unsafe`update webhook_deliveries set status = 'failed', attempts = 10 where id = ${delivery}`,
    )
    await answered('webhook', 'retry', '--delivery', String(delivery))
    expect(await log()).toMatchObject([{ status: 'waiting', attempts: 0 }])
    await createWebhooks(database).update(id, { isActive: false })
    for (const command of [
      ['retry', '--delivery', String(delivery)],
      ['test', '--endpoint', id],
    ]) {
      expect(await drape('webhook', ...command)).toMatchObject({ code: 1, said: expect.stringContaining('not active') })
    }
  })

  const url = (text: string) => ['create', '--account', 'acc_x', '--url', text]
  it.each([
    ['an account that nobody has', 1, 'does not exist', url('https://shop.example/')],
    ['no address', 2, '--url is required', ['create', '--account', 'acc_x']],
    ['an address that is none', 2, 'not a valid', url('shop.example')],
    ['credentials in an address', 2, 'credentials', url('https://me:secret@shop.example/')],
    ['a port that is not allowed', 2, 'port', url('https://shop.example:8443/')],
    ['a private address', 2, 'not public', url('http://[::ffff:10.0.0.1]/')],
    ['an event that nobody knows', 2, 'not order.paid', [...url('https://a.example/'), '--events', 'order.paid']],
    ['no event', 2, '--events', [...url('https://a.example/'), '--events', ',']],
    ['a secret that is too short', 2, '--secret', [...url('https://a.example/'), '--secret', 'whsec_aGk=']],
    ['an endpoint that nobody has', 1, 'does not exist', ['update', '--endpoint', 'endpoint_x', '--active', 'true']],
    ['nothing to change', 1, 'changes nothing', ['update', '--endpoint', 'endpoint_x']],
    ['a delivery that nobody made', 1, 'delivery 99 does not exist', ['retry', '--delivery', '99']],
    ['a delivery in words', 2, '--delivery', ['retry', '--delivery', 'last']],
  ])('says clearly what is wrong with %s', async (_, code, words, args) => {
    const refused = await drape('webhook', ...args)
    expect(refused).toMatchObject({ code, output: '', said: expect.stringContaining(words) })
  })
})
