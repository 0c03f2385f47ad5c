import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../../api/accounts/restrictions.ts'
import { createUsage } from '../../../api/accounts/usage.store.ts'
import { createBacklog } from '../../../api/generations/backlog.store.ts'
import { createGenerationSearches } from '../../../api/generations/generation-search.store.ts'
import { TEST_WARNINGS } from '../../../api/generations/test-inputs.ts'
import { FAILURE_CODES } from '../../../api/shared/contract/error-codes.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createTestMode } from '../../../api/test-mode/test-mode.store.ts'
import { readDemand } from '../../../controller/worker-pool/demand/demand.ts'
import { type Drape, formOf, readSample, startDrape } from '../../support/drape.ts'
import { until } from '../../support/until.ts'

/** No worker runs in this test. */
describe('test mode', () => {
  let drape: Drape
  let key: string
  let imageId: string

  beforeAll(async () => {
    drape = await startDrape({ env: { ENGINES: 'mock', DEFAULT_ENGINE: 'warp' } })
    ;({ key } = await makeKey())
    // A test sends in seconds what a caller sends in minutes.
    const id = await drape.database.oneFirst(sql.unsafe`select id from accounts where test_of = ${drape.accountId}`)
    await createAccounts(drape.database).update(String(id), {
      settings: { readsPerMinute: 1_000_000, writesPerMinute: 1_000_000 },
    })
    imageId = (await upload()).body.imageId
  })
  afterAll(() => drape.stop())

  const makeKey = (settings: object = {}) =>
    createApiKeys(drape.database).insert(drape.accountId, 'secret', { ...UNRESTRICTED, isTest: true, ...settings })
  const upload = async (fields: Readonly<Record<string, string>> = {}) => {
    const form = formOf({}, { file: await readSample('persons/down-half-teal.jpg') })
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    return drape.call('POST', '/tryon/v1/images/upload', { body: form, key })
  }
  const tryOn = (more: object = {}) =>
    drape.call('POST', '/tryon/v1/try-on', {
      key,
      body: {
        products: [{ externalId: 'shirt', images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] }],
        person: { image: { source: { id: imageId } } },
        ...more,
      },
    })
  const ended = async (id: string) => {
    let body: { status: string; [name: string]: unknown } = { status: 'PENDING' }
    await until(async () => {
      ;({ body } = await drape.call('GET', `/tryon/v1/generations/${id}`, { key }))
      return body.status === 'COMPLETED' || body.status === 'FAILED'
    })
    return body
  }
  const outcomeOf = async (externalUserId: string) => {
    const { status, body } = await tryOn({ externalUserId })
    expect(status, JSON.stringify(body)).toBe(201)
    return ended(body.generationId)
  }
  const testAccount = async () => (await drape.call('GET', '/tryon/v1/account', { key })).body

  it('has one account for all test keys, even for those created for the test account', async () => {
    const ids = sql.unsafe`select id from accounts where test_of is not null`
    const before = await drape.database.anyFirst(ids)
    await createApiKeys(drape.database).insert(String(before[0]), 'secret', { ...UNRESTRICTED, isTest: true })
    expect(await drape.database.anyFirst(ids)).toEqual(before)
  })

  it('keys start with sk_test_ and belong to a separate account', async () => {
    expect(key).toMatch(/^sk_test_[0-9A-Za-z]{36}$/)
    const account = await testAccount()
    expect(account).toMatchObject({
      mode: 'test',
      name: 'Test',
      retentionDays: 1,
      id: expect.stringMatching(/^acc_test_/),
    })
    expect((await drape.call('GET', '/tryon/v1/account')).body).toMatchObject({ mode: 'live', id: drape.accountId })
    const { key: another } = await makeKey()
    expect((await drape.call('GET', '/tryon/v1/account', { key: another })).body.id).toBe(account.id)
  })

  it('a try-on returns the photo, without a worker, a credit or the image of the product', async () => {
    const before = await drape.balance()
    const accepted = await tryOn({ output: { format: 'png' } })
    expect(accepted).toMatchObject({ status: 201, body: { engineName: 'test-mode' } })
    const result = await ended(accepted.body.generationId)
    expect(result).toMatchObject({ status: 'COMPLETED', engine: { name: 'test-mode', kind: 'test' } })
    const response = await fetch(String(result.resultImageUrl))
    const { format, width = 0, height = 1 } = await sharp(Buffer.from(await response.arrayBuffer())).metadata()
    expect(format).toBe('png')
    expect(width / height).toBeCloseTo(4 / 5, 2)
    expect(await drape.balance()).toBe(before)
    expect((await drape.call('GET', '/tryon/v1/account/credits', { key })).body.creditBalance).toBe(1000)
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
  })

  it('a try-on with a count returns as many results with their seeds', async () => {
    const { body } = await tryOn({ output: { engine: 'mock', count: 3, seed: 2 ** 31 - 2, changedMask: true } })
    const { results, resultImageUrl } = await ended(body.generationId)
    expect(results).toMatchObject([2 ** 31 - 2, 2 ** 31 - 1, 0].map((seed) => ({ seed })))
    const shown = results as readonly { imageUrl: string; changedMaskUrl: string }[]
    const urls = shown.flatMap(({ imageUrl, changedMaskUrl }) => [imageUrl, changedMaskUrl])
    expect([new Set(urls).size, urls[0]]).toEqual([6, resultImageUrl])
    for (const url of urls) expect((await fetch(url)).status).toBe(200)
    expect(await tryOn({ output: { engine: 'warp', count: 3 } })).toMatchObject({ status: 400 })
  })

  it('refuses an engine that the installation does not have', async () => {
    expect((await tryOn({ output: { engine: 'nonsense' } })).body.code).toBe('VALIDATION_FAILED')
  })

  it.each(FAILURE_CODES)('test_%s fails with this code', async (code) => {
    expect(await outcomeOf(`test_${code}`)).toMatchObject({ status: 'FAILED', errorCode: code })
  })

  it('test_late_… fails after progress was reported', async () => {
    const { body } = await tryOn({ externalUserId: 'test_late_RESULT_REJECTED' })
    const response = await fetch(`${drape.api.url}/tryon/v1/generations/${body.generationId}/events`, {
      headers: { 'x-api-key': key },
    })
    const states = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data))
    expect(states.map(({ progress }) => progress)).toContain(0.9)
    expect(states.at(-1)).toMatchObject({ status: 'FAILED', errorCode: 'RESULT_REJECTED' })
  })

  it.each(TEST_WARNINGS)('test_warning_%s gives this warning', async (warning) => {
    expect(await outcomeOf(`test_warning_${warning}`)).toMatchObject({ status: 'COMPLETED', warnings: [warning] })
  })

  it('test_delay_2s starts after 2 seconds, and test_delay_2s_… fails after them', async () => {
    const begun = performance.now()
    const both = await Promise.all([outcomeOf('test_delay_2s'), outcomeOf('test_delay_2s_NO_PERSON_DETECTED')])
    expect(both.map(({ status }) => status)).toEqual(['COMPLETED', 'FAILED'])
    for (const { createdAt, updatedAt } of both) {
      expect(Date.parse(String(updatedAt)) - Date.parse(String(createdAt))).toBeGreaterThan(2000)
    }
    expect(performance.now() - begun).toBeGreaterThan(2000)
  })

  it('a delay past the deadline is GENERATION_TIMEOUT', async () => {
    const { body } = await tryOn({ externalUserId: 'test_delay_300s', output: { deadlineSeconds: 30 } })
    await drape.database.query(
      sql.unsafe`update generations set deadline_at = now() + interval '1 second' where id = ${body.generationId}`,
    )
    expect(await ended(body.generationId)).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_TIMEOUT' })
  })

  it.each(['test_', 'test_NONSENSE', 'test_delay_301s', 'test_late', 'test_warning_RESULT_REJECTED'])(
    '%s is refused, so that a typo does not look like success',
    async (externalUserId) => {
      const { status, body } = await tryOn({ externalUserId })
      expect([status, body.details?.[0].path]).toEqual([400, 'externalUserId'])
    },
  )

  it('live keys ignore the inputs', async () => {
    const form = formOf({}, { file: await readSample('persons/down-half-teal.jpg') })
    const live = (await drape.call('POST', '/tryon/v1/images/upload', { body: form })).body.imageId
    const body = {
      products: [{ externalId: 'of-live-key', images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] }],
      ...{ person: { image: { source: { id: live } } }, externalUserId: 'test_NONSENSE', output: { engine: 'mock' } },
    }
    const { status } = await drape.call('POST', '/tryon/v1/try-on', { body })
    expect([201, 503]).toContain(status)
  })

  it('a webhook reports the end, only to listeners of the test key', async () => {
    const listen = async (of: string) =>
      (await drape.call('POST', '/tryon/v1/webhooks/listeners', { body: {}, key: of })).body.listenerId
    const poll = async (id: string, of: string) => {
      const path = `/tryon/v1/webhooks/listeners/${id}/poll`
      return (await drape.call('POST', path, { body: { waitSeconds: 0 }, key: of })).body.events
    }
    const [mine, live] = [await listen(key), await listen(drape.apiKey)]
    const { generationId } = await outcomeOf('test_RESULT_REJECTED')
    expect(await poll(mine, key)).toMatchObject([
      { type: 'generation.failed', data: { generationId, errorCode: 'RESULT_REJECTED' } },
    ])
    expect(await poll(live, drape.apiKey)).toEqual([])
  })

  describe('is separate from live data', () => {
    it('neither kind of key can access data of the other', async () => {
      const { body } = await tryOn()
      await ended(body.generationId)
      expect((await drape.call('GET', `/tryon/v1/generations/${body.generationId}`)).body.code).toBe('FORBIDDEN')
      expect((await drape.call('GET', '/tryon/v1/products/shirt')).body.code).toBe('PRODUCT_NOT_FOUND')
      expect((await drape.call('GET', '/tryon/v1/products/shirt', { key })).status).toBe(200)
      const foreign = {
        products: [{ externalId: 'shirt', images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] }],
        person: { image: { source: { id: imageId } } },
      }
      expect((await drape.call('POST', '/tryon/v1/try-on', { body: foreign })).status).toBeGreaterThanOrEqual(400)
    })

    it('lists, statistics and metrics contain no test data', async () => {
      const { id } = await testAccount()
      await outcomeOf('test_RESULT_REJECTED')
      const accounts = createAccounts(drape.database)
      expect((await accounts.list()).map((account) => account.id)).not.toContain(id)
      expect(await accounts.listing.list({ text: id }, { limit: 10 })).toEqual([])
      const { listing } = createGenerationSearches(drape.database)
      expect((await listing.list({}, { limit: 100 })).map(({ accountId }) => accountId)).not.toContain(id)
      expect(await listing.count({ only: { accountId: id } })).toBeGreaterThan(0)
      expect(await createUsage(drape.database).countFailures({ hours: 24 })).toEqual([])
      const waiting = await tryOn({ externalUserId: 'test_delay_300s' })
      const none = async () => ({ waiting: 0, inFlight: 0 })
      expect([...(await readDemand(drape.database, none)).keys()]).not.toContain('test-mode')
      const unfinished = await createBacklog(drape.database).findUnfinished()
      expect(unfinished.map(({ engine }) => engine)).not.toContain('test-mode')
      await drape.call('POST', `/tryon/v1/generations/${waiting.body.generationId}/cancel`, { key })
      const metrics = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
      expect(metrics).toContain('drape_')
      expect(metrics).not.toContain('test-mode')
    })

    it('images are kept for 1 day, whatever the call requests', async () => {
      const { body } = await upload({ keepForDays: '7' })
      const hours = sql.unsafe`
        select extract(epoch from expires_at - now())::float8 / 3600 from images where id = ${body.imageId}`
      expect(await drape.database.oneFirst(hours)).toBeCloseTo(24, 0)
      const files = { me: await readSample('persons/down-half-teal.jpg') }
      const data = {
        products: [{ externalId: 'shirt', images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] }],
        ...{ person: { image: { source: { fileKey: 'me' } } }, output: { keepForDays: 7 } },
      }
      const made = await drape.call('POST', '/tryon/v1/try-on', { body: formOf(data, files), key })
      const result = sql.unsafe`
        select extract(epoch from images_expire_at - now())::float8 / 3600 from generations where id = ${made.body.generationId}`
      expect(await drape.database.oneFirst(result)).toBeCloseTo(24, 0)
      await ended(made.body.generationId)
    })

    it('a full storage refuses try-ons, because no credits limit their results', async () => {
      const { id } = await testAccount()
      const accounts = createAccounts(drape.database)
      const { settings } = (await accounts.find(id)) ?? {}
      await accounts.update(id, { settings: { storageMegabytes: 0 } })
      await until(async () => (await tryOn({ externalUserId: 'test_RESULT_REJECTED' })).body.code === 'QUOTA_EXCEEDED')
      await accounts.update(id, { settings: { storageMegabytes: settings?.storageMegabytes ?? null } })
      await until(async () => (await tryOn({ externalUserId: 'test_RESULT_REJECTED' })).status === 201)
    })

    it('rows are deleted after a day, and those of live keys are not', async () => {
      const { deleteOld } = createTestMode(drape.database)
      const { generationId } = await outcomeOf('test_RESULT_REJECTED')
      await deleteOld(500)
      expect((await drape.call('GET', `/tryon/v1/generations/${generationId}`, { key })).status).toBe(200)
      const live = await drape.call('POST', '/tryon/v1/products', {
        body: { externalId: 'live', title: 'Shirt', images: [{ source: { url: 'https://shop.example/shirt.jpg' } }] },
      })
      expect(live.status).toBeLessThan(300)
      for (const table of ['generations', 'products', 'webhook_deliveries'])
        await drape.database.query(
          sql.unsafe`update ${sql.identifier([table])} set created_at = created_at - interval '25 hours'`,
        )
      while ((await deleteOld(500)) > 0);
      expect((await drape.call('GET', `/tryon/v1/generations/${generationId}`, { key })).status).toBe(404)
      expect((await drape.call('GET', '/tryon/v1/products/shirt', { key })).status).toBe(404)
      expect((await drape.call('GET', '/tryon/v1/products/live')).status).toBe(200)
      expect(await drape.database.oneFirst(sql.unsafe`select count(*)::int from webhook_deliveries`)).toBe(0)
    })
  })

  describe('keys', () => {
    it('are listed, rotated and revoked with those of their account', async () => {
      const keys = createApiKeys(drape.database)
      const { id, key: first } = await makeKey({ name: 'CI', scopes: ['try-on'] })
      const listed = (await keys.list(drape.accountId)).find((known) => known.id === id)
      expect(listed).toMatchObject({ isTest: true, kind: 'secret', name: 'CI', scopes: ['try-on'] })
      const rotated = await keys.rotate({ accountId: drape.accountId, id })
      expect(rotated?.key).toMatch(/^sk_test_/)
      expect((await drape.call('GET', '/tryon/v1/generations/gen_1', { key: rotated?.key })).status).toBe(404)
      expect((await drape.call('GET', '/tryon/v1/account', { key: rotated?.key })).status).toBe(403)
      expect((await drape.call('GET', '/tryon/v1/account', { key: first })).status).toBe(401)
      expect(await keys.revoke({ accountId: 'acc_other', id: rotated?.id ?? '' })).toBeNull()
      expect(await keys.revoke({ accountId: drape.accountId, id: rotated?.id ?? '' })).not.toBeNull()
    })

    it('end with their account', async () => {
      const other = await drape.createAccount(1)
      const { key: theirs } = await createApiKeys(drape.database).insert(other.id, 'secret', {
        ...UNRESTRICTED,
        isTest: true,
      })
      await createAccounts(drape.database).update(other.id, { isActive: false })
      expect((await drape.call('GET', '/tryon/v1/account', { key: theirs })).body.code).toBe('INVALID_API_KEY')
    })
  })
})
