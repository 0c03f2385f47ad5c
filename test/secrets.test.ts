import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { sql } from '../api/shared/database/database.ts'
import { formOf, readSample, readSmallPerson, startDrape } from './support/drape.ts'
import { startOtlpReceiver } from './support/otlp-receiver.ts'
import { until } from './support/until.ts'

/** Secrets of callers by kind. Many more people read logs and traces. */
describe('logs and spans', async () => {
  let person: Buffer
  let outputs: () => string
  const secrets = new Map<string, string>()

  const secret = (kind: string) => {
    const value = `s3cret${randomBytes(12).toString('hex')}`
    secrets.set(kind, value)
    return value
  }

  person = await readSmallPerson()
  const garment = await readSample('garments/tshirt-mustard.jpg')
  const shop = createServer(({ url = '' }, response) => {
    if (url.startsWith('/gone')) response.writeHead(500).end()
    else if (url.startsWith('/torn')) response.socket?.destroy()
    else response.end(garment)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const { port } = shop.address() as AddressInfo
  const shopUrl = `http://127.0.0.1:${port}`
  const receiver = await startOtlpReceiver()
  const drape = await startDrape({
    env: {
      ...receiver.env,
      FETCH_ALLOW_PORTS: String(port),
      SIGNING_SECRET: secret('signing secret'),
      LOG_LEVEL: 'debug',
    },
  })
  const worker = await drape.startWorker()
  outputs = () => drape.api.output() + worker.output()
  secrets.set('API key', drape.apiKey)
  afterAll(async () => {
    await drape.stop()
    receiver.stop()
    shop.close()
  })

  /** Fails with the kinds, and never the values, of the readable secrets. */
  const expectNoSecrets = async () => {
    // A request of its own, whose line and span come after all others.
    const last = await drape.call('GET', '/tryon/v1/account/credits')
    const traceId = String(last.headers.get('x-trace-id'))
    await until(() => outputs().includes(traceId) && receiver.received().includes(traceId))
    for (const text of [outputs(), receiver.received()]) {
      expect([...secrets].filter(([, value]) => text.includes(value)).map(([kind]) => kind)).toEqual([])
    }
  }

  const upload = (file: Uint8Array, headers = {}) =>
    drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file }), headers })
  const product = (url: string) => ({
    externalId: secret('identifier of a product'),
    title: `For ${secret('name in a title')}@example.com`,
    metadata: { note: secret('metadata') },
    images: [{ source: { url } }],
  })

  it('contain no secrets of a complete try-on', async () => {
    const { imageId, imageUrl } = (await upload(person)).body
    secrets.set('signature of an upload’s link', String(new URL(imageUrl).searchParams.get('signature')))
    for (const source of [{ id: imageId }, { url: `${shopUrl}/me.jpg?token=${secret('query of a photo’s URL')}` }]) {
      const answer = await drape.call('POST', '/tryon/v1/try-on', {
        body: {
          products: [product(`${shopUrl}/${secret('path of a product’s URL')}.jpg?sig=${secret('query of a URL')}`)],
          person: { image: { source } },
          externalUserId: `${secret('e-mail as the customer’s id')}@example.com`,
          output: { engine: 'mock' },
        },
        headers: { 'idempotency-key': secret('Idempotency-Key') },
      })
      expect(answer.status).toBe(201)
      const { status, resultImageUrl } = await drape.finish(answer.body.generationId)
      expect(status).toBe('COMPLETED')
      const link = new URL(resultImageUrl)
      secrets.set('signature of a result’s link', String(link.searchParams.get('signature')))
      expect((await fetch(link)).status).toBe(200)
      link.searchParams.set('signature', secret('forged signature'))
      expect((await fetch(link)).status).toBe(403)
    }
    await expectNoSecrets()
  })

  it('contain no secrets of refused requests', async () => {
    const key = secret('wrong key')
    const headers = {
      authorization: `Bearer ${secret('Authorization')}`,
      cookie: `session=${secret('cookie')}`,
      'x-shopify-hmac-sha256': secret('signature in a header'),
      'x-request-id': `no id ${secret('free text as request id')}`,
      baggage: `token=${secret('baggage')}`,
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    }
    const requests = [
      ['GET', `/tryon/v1/account/credits?api_key=${secret('key in the query')}`],
      ['GET', `/tryon/v1/${secret('unknown path')}`],
      ['GET', `/tryon/v1/generations/${secret('unknown id')}`],
      ['POST', `/public/upload-image?signature=${secret('signature in the query')}`],
      ['POST', '/tryon/v1/try-on'],
    ]
    for (const [method, path] of requests) {
      for (const sent of [key, drape.apiKey]) {
        const body = method === 'POST' ? `{"broken": "${secret('body that is no JSON')}"` : undefined
        const answer = await fetch(`${drape.api.url}${path}`, {
          method,
          headers: { ...headers, 'x-api-key': sent, 'content-type': 'application/json' },
          body,
        })
        await answer.text()
      }
    }
    await upload(person, { 'x-api-key': `sk_${secret('key with the right beginning')}` })
    await expectNoSecrets()
  })

  it('contain no secrets of failed jobs', async () => {
    const person = { image: { source: { fileKey: 'me' } } }
    for (const path of ['gone', 'torn']) {
      const url = `${shopUrl}/${path}/${secret('path of a URL that fails')}?key=${secret('query of a URL that fails')}`
      const id = await drape.tryOn({ products: [product(url)], person }, { me: garment })
      expect(await drape.finish(id)).toMatchObject({ status: 'FAILED' })
      const call = { products: [product(url)], person: { image: { source: { url } } } }
      const answer = await drape.call('POST', '/tryon/v1/try-on', { body: call })
      expect(answer.body.code).toBe('CUSTOMER_IMAGE_FETCH_FAILED')
    }
    await expectNoSecrets()
  })

  it('contain no secrets of a statement that Postgres terminates', async () => {
    const { imageId } = (await upload(person)).body
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holding = drape.database.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`select id from accounts where id = ${drape.accountId} for update`)
      locked.resolve()
      await over
    })
    await locked.promise
    const call = {
      products: [product(`${shopUrl}/shirt.jpg?sig=${secret('query of a URL in a broken statement')}`)],
      person: { image: { source: { id: imageId } } },
      externalUserId: `${secret('e-mail in a broken statement')}@example.com`,
    }
    const answer = drape.call('POST', '/tryon/v1/try-on', { body: call })
    await until(() =>
      drape.database.oneFirst(sql.unsafe`
        select count(pg_terminate_backend(pid)) > 0 from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%with account as%' and datname = current_database()`),
    )
    end()
    await holding
    expect((await answer).status).toBe(503)
    await expectNoSecrets()
  })

  it('contain no image bytes in any encoding', async () => {
    await upload(person)
    for (const text of [outputs(), receiver.received()]) {
      for (const image of [person, garment]) {
        const part = image.subarray(1000, 1048)
        for (const written of [
          part.toString('latin1'),
          part.toString('utf8'),
          part.toString('base64'),
          part.toString('hex'),
          part.join(),
        ]) {
          expect(text.includes(written)).toBe(false)
        }
      }
      expect(text).not.toMatch(/"type":"Buffer"/)
    }
  })

  it('contain no e-mail address and no keys of a new account', async () => {
    const email = `${secret('e-mail of an account')}@example.com`
    const made = await createAccounts(drape.database).insert({ name: 'Secretive', email, credits: 1 })
    for (const key of [made.apiKey, made.publishableKey]) {
      secrets.set('key of an account', key)
      await drape.call('GET', '/tryon/v1/account/credits', { key })
    }
    await expectNoSecrets()
  })
})
