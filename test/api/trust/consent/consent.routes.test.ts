import { once } from 'node:events'
import { request as openRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { createConsents } from '../../../../api/consents/consents.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createRedis } from '../../../../api/shared/queue/redis.ts'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { createShops } from '../../../../api/shops/shops.store.ts'
import { REDIS_FAMILIES, STORAGE_PREFIXES } from '../../../../scripts/documents/privacy.ts'
import { storageOf } from '../../../support/completed.ts'
import { formOf, readSample, startDrape } from '../../../support/drape.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'
import { until } from '../../../support/until.ts'

const SHIRT = 'gid://shopify/Product/1'
const NEUTRAL = 'neutral-1'

describe('the consent of shoppers', async () => {
  let shoppers = 0

  const drape = await startDrape({ credits: 1000 })
  const shop = await createDevelopmentShop(drape, 'asking.test', { requiresConsent: true })
  const sister = await createDevelopmentShop(drape, 'sister.test', { requiresConsent: true })
  const photo = await readSample('persons/down-half-teal.jpg')
  const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
  await drape.call('POST', '/tryon/v1/products', { body: { externalId: SHIRT, images } })
  afterAll(() => drape.stop())

  type Headers = Readonly<Record<string, string>>
  const newShopper = (of = shop): Headers => ({ ...of.headers, 'x-service-anonymous-id': `anon_agrees-${shoppers++}` })
  const idOf = (headers: Headers, of = shop) => `${of.id}:browser:${headers['x-service-anonymous-id']}`
  const get = (headers: Headers, query = '') => drape.call('GET', `/public/consent${query}`, { key: null, headers })
  const agree = (headers: Headers, changes: object = {}) =>
    drape.call('POST', '/public/consent', {
      key: null,
      headers,
      body: { policy: shop.domain, version: NEUTRAL, language: 'en', ...changes },
    })
  const withdraw = (headers: Headers) => drape.call('POST', '/public/withdraw-consent', { key: null, headers })
  const upload = (headers: Headers) =>
    drape.call('POST', '/public/upload-image', { key: null, headers, body: formOf(undefined, { file: photo }) })
  const prepare = (headers: Headers) => drape.call('POST', '/public/prepare-upload', { key: null, headers })
  const enter = (headers: Headers, userImageId: string) =>
    drape.call('POST', '/public/fitting-room', { key: null, headers, body: { userImageId, productId: SHIRT } })
  const stored = async (headers: Headers) =>
    drape.database.oneFirst(sql.unsafe`
      select (select count(*) from objects where external_user_id = ${idOf(headers)})
        + (select count(*) from images where external_user_id = ${idOf(headers)})
        + (select count(*) from generations where external_user_id = ${idOf(headers)})`)
  const ledgerOf = (headers: Headers) =>
    drape.database.any(sql.unsafe`
      select version, language, withdrawn_at is not null as withdrawn from consents
      where visitor = customer_hash(${drape.accountId}, ${idOf(headers)}) order by id`)
  const agreed = async () => {
    const headers = newShopper()
    expect((await agree(headers)).status).toBe(201)
    return headers
  }

  it('is required before any byte of a photo is stored', async () => {
    const headers = newShopper()
    for (const answer of [await prepare(headers), await upload(headers)])
      expect(answer).toMatchObject({ status: 403, body: { code: 'CONSENT_REQUIRED' } })
    expect(await stored(headers)).toBe(0)
    expect((await agree(headers)).status).toBe(201)
    expect((await upload(headers)).status).toBe(201)
    expect(await stored(headers)).toBeGreaterThan(0)
  })

  it('is recorded once, with a hash of the visitor', async () => {
    const headers = newShopper()
    const [first, second] = [await agree(headers), await agree(headers, { language: 'de-AT' })]
    expect(second.body).toEqual(first.body)
    expect(first.body).toEqual({ policy: shop.domain, version: NEUTRAL, at: expect.stringMatching(/Z$/) })
    expect(await ledgerOf(headers)).toEqual([{ version: NEUTRAL, language: 'en', withdrawn: false }])
    const rows = await drape.database.any(
      sql.unsafe`select shop_id, version, language, encode(visitor, 'hex') from consents`,
    )
    expect(JSON.stringify(rows)).not.toContain('agrees-')
    expect((await get(headers)).body).toMatchObject({ required: true, givenAt: first.body.at })
  })

  it('is requested in the language of the visitor', async () => {
    const { body } = await get(newShopper(), '?lang=de-AT')
    expect(body).toMatchObject({ language: 'de', policy: shop.domain, version: NEUTRAL, givenAt: null })
    expect(body.text).toMatch(/einverstanden/)
    expect(body.privacyUrl).toMatch(new RegExp(`/privacy/${shop.id}$`))
    expect((await get({ ...newShopper(), 'accept-language': 'fr;q=0.9, en;q=0.1' })).body.language).toBe('fr')
    expect((await get(newShopper(), '?lang=nl')).body.language).toBe('en')
    expect((await get(newShopper(), '?lang=<script>')).body.code).toBe('VALIDATION_FAILED')
  })

  it('is refused for another shop or version, or without a visitor', async () => {
    const headers = newShopper()
    const ofSister = { policy: sister.domain }
    expect(await agree(headers, ofSister)).toMatchObject({ status: 400, body: { code: 'CONSENT_POLICY_UNKNOWN' } })
    expect(await agree(headers, { version: '2099' })).toMatchObject({
      status: 400,
      body: { code: 'CONSENT_POLICY_UNKNOWN' },
    })
    const atSister = newShopper(sister)
    expect((await agree(atSister, ofSister)).status).toBe(201)
    // The same browser at the other shop has not agreed there.
    const moved = { ...atSister, ...shop.headers, 'x-service-anonymous-id': atSister['x-service-anonymous-id'] }
    expect(await upload(moved)).toMatchObject({ status: 403, body: { code: 'CONSENT_REQUIRED' } })
    const nobody = { 'x-drape-shop': shop.domain }
    expect(await agree(nobody)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    expect(await withdraw(nobody)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    for (const body of [{ version: 'x'.repeat(65) }, { version: '' }, { language: '"><b>' }, { policy: 7 }])
      expect(await agree(headers, body)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    expect(await ledgerOf(headers)).toEqual([])
  })

  it('ends with a new version of the policy, and the older version is refused', async () => {
    const renewed = await createDevelopmentShop(drape, 'renewed.test', { requiresConsent: true })
    const headers = newShopper(renewed)
    const ours = { policy: renewed.domain }
    expect((await agree(headers, ours)).status).toBe(201)
    const { body: kept } = await upload(headers)
    const name = { accountId: drape.accountId, policy: renewed.domain }
    const consents = createConsents(drape.database)
    const texts = { en: '<script>alert(1)</script> I agree.', de: 'Ja.' }
    await consents.publish(name, { version: '2026-11', texts })
    await expect(consents.publish(name, { version: '2026-11', texts: { en: 'Other' } })).rejects.toThrow(
      /published before/,
    )
    for (const answer of [await upload(headers), await enter(headers, kept.fileId)])
      expect(answer).toMatchObject({ status: 403, body: { code: 'CONSENT_REQUIRED' } })
    expect(await agree(headers, ours)).toMatchObject({
      ...{
        status: 409,
        body: {
          code: 'CONSENT_OUTDATED',
          details: [{ path: 'version', message: 'must be 2026-11', version: '2026-11' }],
        },
      },
    })
    expect((await get(headers)).body).toMatchObject({ version: '2026-11', text: texts.en, givenAt: null })
    expect((await agree(headers, { ...ours, version: '2026-11' })).status).toBe(201)
    const { body } = await enter(headers, kept.fileId)
    const stands = await drape.database.oneFirst(sql.unsafe`select consent from generations where id = ${body.jobId}`)
    expect(stands).toEqual({ policy: renewed.domain, version: '2026-11', at: expect.stringMatching(/Z$/) })
  })

  it('can be withdrawn, which erases photos, cancels try-ons, and requires consent again', async () => {
    const headers = await agreed()
    const { body } = await upload(headers)
    const before = await drape.balance()
    const { body: job } = await enter(headers, body.fileId)
    const link = (await prepare(headers)).body.uploadUrl
    expect((await withdraw(headers)).status).toBe(204)
    expect(await stored(headers)).toBe(0)
    expect(await drape.balance()).toBe(before)
    const status = sql.unsafe`select status, error_code, image_id from generations where id = ${job.jobId}`
    expect(await drape.database.one(status)).toEqual({
      status: 'FAILED',
      error_code: 'GENERATION_CANCELLED',
      image_id: null,
    })
    expect((await fetch(link, { method: 'PUT', body: new Uint8Array(photo) })).status).toBe(404)
    expect((await upload(headers)).body.code).toBe('CONSENT_REQUIRED')
    expect((await withdraw(headers)).status).toBe(204)
    expect(await ledgerOf(headers)).toEqual([{ version: NEUTRAL, language: 'en', withdrawn: true }])
    expect((await agree(headers)).status).toBe(201)
    expect(await ledgerOf(headers)).toHaveLength(2)
    expect((await upload(headers)).status).toBe(201)
  })

  it('does not reset the weekly limit when it is withdrawn, or when the account erases the visitor', async () => {
    const headers = await agreed()
    const erasures = [
      () => withdraw(headers),
      () => drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(idOf(headers))}`),
    ]
    const statuses: number[] = []
    for (const erase of erasures) {
      await agree(headers)
      const { body } = await upload(headers)
      for (let i = 0; i < 6; i++) statuses.push((await enter(headers, body.fileId)).status)
      await drape.database.query(sql.unsafe`
        update generations set status = 'COMPLETED', finished_at = now() where external_user_id = ${idOf(headers)}`)
      expect((await erase()).status).toBe(204)
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
    await agree(headers)
    const { body } = await upload(headers)
    expect(await enter(headers, body.fileId)).toMatchObject({ status: 429, body: { period: 'week' } })
    expect((await enter(await agreed(), body.fileId)).status).toBe(404)
  })

  it('ends with an erasure by the account', async () => {
    const headers = await agreed()
    await drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(idOf(headers))}`)
    expect(await ledgerOf(headers)).toMatchObject([{ withdrawn: true }])
  })

  it('ends again when erasures are repeated after a restore, and is proven for 3 years', async () => {
    const retention = createRetention(drape.database)
    const [headers, later] = [await agreed(), await agreed()]
    const hashOf = (of: Headers) =>
      drape.database.oneFirst(sql.unsafe`select encode(customer_hash(${drape.accountId}, ${idOf(of)}), 'hex')`)
    const [erasedAt, before] = [new Date(Date.now() + 1000), new Date(Date.now() - 60_000)]
    const erasures = new Map([
      [String(await hashOf(headers)), erasedAt],
      [String(await hashOf(later)), before],
    ])
    expect(await retention.withdrawRestoredConsents(erasures)).toBe(1)
    expect(await ledgerOf(headers)).toMatchObject([{ withdrawn: true }])
    expect(await ledgerOf(later)).toMatchObject([{ withdrawn: false }])
    const age = (of: Headers, days: number) =>
      drape.database.query(sql.unsafe`
        update consents set given_at = given_at - make_interval(days => ${days}), withdrawn_at = withdrawn_at - make_interval(days => ${days})
        where visitor = customer_hash(${drape.accountId}, ${idOf(of)})`)
    await age(headers, 1095)
    await age(later, 1097)
    expect(await retention.deleteOld('consents', 10)).toBe(1)
    expect([await ledgerOf(headers), await ledgerOf(later)]).toMatchObject([[{ withdrawn: true }], []])
  })

  it('ends together with recorded data requests of the customer in an erasure by the account', async () => {
    const ask = (customer: string) =>
      drape.database.query(sql.unsafe`
        insert into data_requests (shop_id, request_id, customer_id, email, held)
        values (${shop.id}, ${`request ${customer}`}, ${customer}, 'ada@shopper.example', '{}')`)
    await ask('7')
    await ask('8')
    await drape.call('DELETE', `/tryon/v1/customers/${encodeURIComponent(`${shop.id}:customer:7`)}`)
    const left = sql.unsafe`select customer_id from data_requests where shop_id = ${shop.id}`
    expect(await drape.database.anyFirst(left)).toEqual(['8'])
  })

  it('can be withdrawn by unknown visitors, which erases and logs nothing', async () => {
    const storage = await storageOf(drape)
    const countEntries = async () => {
      let count = 0
      for await (const page of storage.list('erasures/')) count += page.length
      return count
    }
    const before = await countEntries()
    for (let i = 0; i < 3; i++) expect((await withdraw(newShopper())).status).toBe(204)
    expect(await countEntries()).toBe(before)
  })

  it('covers data that is stored or started during its withdrawal', async () => {
    await drape.startWorker()
    const warm = await agreed()
    const { body } = await upload(warm)
    await drape.finish((await enter(warm, body.fileId)).body.jobId)
    for (let i = 0; i < 8; i++) {
      const headers = await agreed()
      const { body: first } = await upload(headers)
      const answers = await Promise.all([
        upload(headers),
        prepare(headers),
        enter(headers, first.fileId),
        new Promise((resolve) => setTimeout(resolve, 12 * i)).then(() => withdraw(headers)),
      ])
      expect(answers[3].status).toBe(204)
      // Rows of bytes that may still arrive stay for a while, without an owner.
      await until(async () => (await stored(headers)) === 0)
      const [job] = answers.slice(2, 3)
      if (job.status !== 200) continue
      await until(async () => {
        const { status } = (await drape.database.one(sql.unsafe`
          select status from generations where id = ${job.body.jobId}`)) as { status: string }
        return status === 'COMPLETED' || status === 'FAILED'
      })
      const links = sql.unsafe`select external_user_id, image_id, result_key from generations where id = ${job.body.jobId}`
      expect(await drape.database.one(links)).toEqual({ external_user_id: null, image_id: null, result_key: null })
    }
  })

  it('is checked again when a photo arrives that was in transit during the withdrawal', async () => {
    const headers = await agreed()
    const listPhotos = async () => {
      const keys: string[] = []
      for await (const page of (await storageOf(drape)).list('persons/')) keys.push(...page.map(({ key }) => key))
      return keys
    }
    const before = await listPhotos()
    const head =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="me.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
    const request = openRequest(`${drape.api.url}/public/upload-image`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=b' },
    })
    const answered = once(request, 'response')
    request.write(Buffer.concat([Buffer.from(head), photo.subarray(0, 1000)]))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect((await withdraw(headers)).status).toBe(204)
    request.end(Buffer.concat([photo.subarray(1000), Buffer.from('\r\n--b--\r\n')]))
    const [answer] = await answered
    expect([answer.statusCode, JSON.parse(await text(answer)).code]).toEqual([403, 'CONSENT_REQUIRED'])
    expect(await stored(headers)).toBe(0)
    expect(await listPhotos()).toEqual(before)
  })

  it('leaves only data of the data map in storage and Redis', async () => {
    const isMapped = (places: object) => (key: string) => Object.keys(places).some((prefix) => key.startsWith(prefix))
    const stored: string[] = []
    for await (const page of (await storageOf(drape)).list('')) stored.push(...page.map(({ key }) => key))
    expect(stored.length).toBeGreaterThan(5)
    expect(stored.filter((key) => !isMapped(STORAGE_PREFIXES)(key))).toEqual([])
    const redis = createRedis(drape.env.REDIS_URL, {
      role: 'consumer',
      log: createLog({ process: 'test', level: 'silent' }),
    })
    const keys = await redis.client.keys('*')
    await redis.close()
    expect(keys.length).toBeGreaterThan(5)
    expect(keys.filter((key) => !isMapped(REDIS_FAMILIES)(key))).toEqual([])
  })

  it('is not required if the shop disables it', async () => {
    const free = await createDevelopmentShop(drape, 'free.test')
    const headers = newShopper(free)
    expect((await get(headers)).body).toMatchObject({ required: false })
    expect((await upload(headers)).status).toBe(201)
  })

  it('is required once the shop has published a policy, unless the shop disables it afterwards', async () => {
    const shops = createShops(drape.database)
    const open = async (domain: string) => {
      await shops.insert({ accountId: drape.accountId, platform: 'development', domain })
      return { 'x-drape-shop': domain, 'x-service-anonymous-id': 'anon_new' }
    }
    const free = await open('new.test')
    expect((await get(free)).body).toMatchObject({ required: false, version: 'neutral-1' })
    const { status, body } = await upload(free)
    expect(status).toBe(201)
    expect(await enter(free, body.fileId)).toMatchObject({ status: 200 })

    const asking = await open('asked.test')
    const policy = { accountId: drape.accountId, policy: 'asked.test' }
    const publish = (version: string) =>
      createConsents(drape.database).publish(policy, { version, texts: { en: 'I agree.' } })
    await publish('1')
    expect((await get(asking)).body).toMatchObject({ required: true, version: '1' })
    expect(await upload(asking)).toMatchObject({ status: 403, body: { code: 'CONSENT_REQUIRED' } })
    await shops.update('asked.test', { requiresConsent: false })
    await publish('2')
    expect((await shops.findByDomain('asked.test'))?.requiresConsent).toBe(false)
    expect((await shops.findByDomain('new.test'))?.requiresConsent).toBe(false)
  })

  it('is required in a new shop whose policy was published before', async () => {
    const policy = { accountId: drape.accountId, policy: 'early.test' }
    await createConsents(drape.database).publish(policy, { version: '1', texts: { en: 'I agree.' } })
    const insert = async (accountId: string, domain: string) => {
      const { id } = await createShops(drape.database).insert({ accountId, platform: 'development', domain })
      return (await createShops(drape.database).findById(id))?.requiresConsent
    }
    expect(await insert(drape.accountId, 'Early.test')).toBe(true)
    expect(await insert(drape.accountId, 'late.test')).toBe(false)
  })

  describe('of callers of the server API', () => {
    const tryOn = (consent: unknown) =>
      drape.call('POST', '/tryon/v1/try-on', {
        body: formOf(
          {
            products: [{ externalId: SHIRT }],
            person: { image: { source: { fileKey: 'person' } } },
            externalUserId: 'consenting',
            consent,
          },
          { person: photo },
        ),
      })
    const photos = () =>
      drape.database.oneFirst(sql.unsafe`select count(*)::int from images where external_user_id = 'consenting'`)

    it('is stored with the generation and returned', async () => {
      const at = new Date(Date.now() - 60_000).toISOString()
      const { status, body } = await tryOn({ policy: 'ASKING.test', version: NEUTRAL, at: at.replace('Z', '+00:00') })
      expect(status).toBe(201)
      const found = await drape.call('GET', `/tryon/v1/generations/${body.generationId}`)
      expect(found.body.consent).toEqual({ policy: 'asking.test', version: NEUTRAL, at })
      expect(
        (
          await drape.call(
            'GET',
            `/tryon/v1/generations/${await drape.tryOn(
              {
                products: [{ externalId: SHIRT }],
                person: { image: { source: { fileKey: 'person' } } },
              },
              { person: photo },
            )}`,
          )
        ).body,
      ).not.toHaveProperty('consent')
    })

    it('can name a policy of an app', async () => {
      const name = { accountId: drape.accountId, policy: 'our-app' }
      await createConsents(drape.database).publish(name, { version: '1', texts: { en: 'Yes' } })
      const at = new Date().toISOString()
      expect((await tryOn({ policy: 'our-app', version: '1', at })).status).toBe(201)
      await createConsents(drape.database).publish(name, { version: '2', texts: { en: 'Yes!' } })
      expect(await tryOn({ policy: 'our-app', version: '1', at })).toMatchObject({
        status: 409,
        body: { code: 'CONSENT_OUTDATED' },
      })
    })

    it('is refused when it is forged, before a photo is stored', async () => {
      const before = await photos()
      const at = new Date().toISOString()
      const other = await drape.createAccount(1)
      await createConsents(drape.database).publish(
        { accountId: other.id, policy: 'theirs' },
        { version: '1', texts: { en: 'x' } },
      )
      for (const [consent, code] of [
        [{ policy: 'theirs', version: '1', at }, 'CONSENT_POLICY_UNKNOWN'],
        [{ policy: 'asking.test', version: 'none', at }, 'CONSENT_POLICY_UNKNOWN'],
        [
          { policy: 'asking.test', version: NEUTRAL, at: new Date(Date.now() + 600_000).toISOString() },
          'VALIDATION_FAILED',
        ],
        [{ policy: 'asking.test', version: NEUTRAL, at: 'yesterday' }, 'VALIDATION_FAILED'],
        [{ policy: 'asking.test', version: NEUTRAL }, 'VALIDATION_FAILED'],
        [{ policy: 'a'.repeat(300), version: NEUTRAL, at }, 'VALIDATION_FAILED'],
        ['yes', 'VALIDATION_FAILED'],
      ])
        expect((await tryOn(consent)).body.code, JSON.stringify(consent)).toBe(code)
      expect(await photos()).toBe(before)
      // A clock that is a minute ahead is tolerated.
      const ahead = new Date(Date.now() + 60_000).toISOString()
      expect((await tryOn({ policy: 'asking.test', version: NEUTRAL, at: ahead })).status).toBe(201)
    })
  })
})
