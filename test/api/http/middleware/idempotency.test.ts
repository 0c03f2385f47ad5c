import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../../api/accounts/accounts.store.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import { type Answer, type Drape, formOf, readSample, startDrape } from '../../../support/drape.ts'
import { startProgram, type TestProgram } from '../../../support/process.ts'

describe('a request with an Idempotency-Key', () => {
  let drape: Drape
  let person: Buffer
  let shirt: Buffer
  let imageId: string
  let shop: Server
  let shopUrl: string
  /** Handles each request to the shop; tests replace the handler to delay the response. */
  let visit: (response: ServerResponse) => void = (response) => response.end(person)

  beforeAll(async () => {
    person = await readSample('persons/down-half-teal.jpg')
    shirt = await readSample('garments/tshirt-navy.jpg')
    shop = createServer((_, response) => visit(response))
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    const { port } = shop.address() as AddressInfo
    shopUrl = `http://127.0.0.1:${port}`
    drape = await startDrape({ credits: 1000, env: { FETCH_ALLOW_PORTS: `80,443,${port}` } })
    imageId = (await drape.upload(person)).imageId
  })
  afterAll(async () => {
    await drape.stop()
    shop.close()
  })

  const PATH = '/tryon/v1/try-on'
  const inline = (externalId?: string) => ({
    products: [{ externalId, images: [{ source: { url: 'https://shop.invalid/shirt.jpg' } }] }],
    person: { image: { source: { id: imageId } } },
  })
  const post = (key: string, body: unknown, path = PATH): Promise<Answer> =>
    drape.call('POST', path, { body, headers: { 'idempotency-key': key } })
  const isReplay = (answer: Answer) => answer.headers.get('idempotent-replay') === 'true'
  const countLedger = () =>
    drape.database.oneFirst(sql.unsafe`select count(*)::int from ledger where kind = 'reserve'`) as Promise<number>

  it('replays the first response for one credit, in any order of its fields', async () => {
    const before = await drape.balance()
    const body = inline('one')
    const first = await post('same', body)
    expect(first.status).toBe(201)
    expect(isReplay(first)).toBe(false)
    const again = await post('same', Object.fromEntries(Object.entries(body).reverse()))
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(isReplay(again)).toBe(true)
    expect(await drape.balance()).toBe(before - 1)
  })

  it('replays the generated ID of a product without externalId', async () => {
    const answers = [await post('one-shot', inline()), await post('one-shot', inline())]
    expect(answers[0].body.productExternalId).toMatch(/^_anon_/)
    expect(answers[1].body).toEqual(answers[0].body)
  })

  it('is identified by the bytes of its files', async () => {
    const data = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    }
    const first = await post('files', formOf(data, { me: person, shirt }))
    const again = await post('files', formOf(data, { shirt, me: person }))
    expect(again).toMatchObject({ status: 201, body: first.body })
    const other = await post('files', formOf(data, { me: shirt, shirt: person }))
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED', status: 422 } })
  })

  it('stores one photo or product, however often it is repeated', async () => {
    const upload = () => post('photo', formOf(undefined, { file: person }), '/tryon/v1/images/upload')
    const photos = [await upload(), await upload()]
    expect(photos[1].body).toEqual(photos[0].body)
    expect(photos.map(isReplay)).toEqual([false, true])
    const product = { externalId: 'hat', images: [{ source: { url: 'https://shop.invalid/hat.jpg' } }] }
    const products = [
      await post('product', product, '/tryon/v1/products'),
      await post('product', product, '/tryon/v1/products'),
    ]
    expect(products[1].body).toEqual(products[0].body)
    expect(products.map(isReplay)).toEqual([false, true])
  })

  it('is refused with the key of a different request, unless that has another route or account', async () => {
    await post('taken', inline('one'))
    expect(await post('taken', inline('two'))).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    const product = { externalId: 'two', images: [{ source: { url: 'https://shop.invalid/two.jpg' } }] }
    expect((await post('taken', product, '/tryon/v1/products')).status).toBe(200)
    const other = await drape.createAccount(1)
    const foreign = await drape.call('POST', PATH, {
      key: other.apiKey,
      headers: { 'idempotency-key': 'taken' },
      body: formOf(
        { products: [{ images: [{ source: { fileKey: 'a' } }] }], person: { image: { source: { fileKey: 'a' } } } },
        { a: person },
      ),
    })
    expect(foreign.status).toBe(201)
    expect(isReplay(foreign)).toBe(false)
  })

  it('stores no response when it is refused', async () => {
    const poor = await drape.createAccount(0)
    const bad = await post('refused', { ...inline('one'), person: {} })
    expect(bad.status).toBe(400)
    expect((await post('refused', inline('one'))).status).toBe(201)
    const form = () =>
      formOf(
        { products: [{ images: [{ source: { fileKey: 'a' } }] }], person: { image: { source: { fileKey: 'a' } } } },
        { a: person },
      )
    const call = () =>
      drape.call('POST', PATH, { key: poor.apiKey, headers: { 'idempotency-key': 'poor' }, body: form() })
    expect((await call()).status).toBe(402)
    await createAccounts(drape.database).addCredits({ accountId: poor.id, credits: 1, note: null })
    expect((await call()).status).toBe(201)
    expect(isReplay(await call())).toBe(true)
  })

  it.each([
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
  ])('is refused when the key is %s', async (_, key) => {
    const answer = await post(key, inline('one'))
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ path: 'Idempotency-Key' }] },
    })
    expect((await post('k'.repeat(255), inline('one'))).status).toBe(201)
  })

  it('runs once for many concurrent repetitions', async () => {
    const before = await drape.balance()
    const answers = await Promise.all(Array.from({ length: 60 }, () => post('race', inline('race'))))
    const done = answers.filter(({ status }) => status === 201)
    const others = answers.filter(({ status }) => status !== 201)
    expect(new Set(done.map(({ body }) => body.generationId)).size).toBe(1)
    expect(done.filter((answer) => !isReplay(answer))).toHaveLength(1)
    for (const { status, body } of others) {
      expect(status).toBe(409)
      expect(body.code).toBe('IDEMPOTENCY_KEY_IN_USE')
    }
    expect(await drape.balance()).toBe(before - 1)
  })

  it('is refused while the first request is still running', async () => {
    let release: () => void = () => {}
    const visited = new Promise<void>((resolve) => {
      visit = (response) => {
        release = () => response.end(person)
        resolve()
      }
    })
    const slow = { ...inline('slow'), person: { image: { source: { url: `${shopUrl}/me.jpg` } } } }
    const first = post('slow', slow)
    await visited
    // Longer than a claim lasts without renewal.
    await sleep(7000)
    expect(await post('slow', slow)).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_IN_USE' } })
    release()
    expect((await first).status).toBe(201)
    expect((await post('slow', slow)).body).toEqual((await first).body)
  })

  it('returns the first generation if the API died between charge and response', async () => {
    const first = await post('died', inline())
    const before = await drape.balance()
    await drape.database.query(sql.unsafe`
      update idempotency_keys set status = null, answer = null, lease_until = now() where key = 'died'`)
    const answers = await Promise.all([1, 2, 3].map(() => post('died', inline())))
    // The estimated start is not stored.
    const { generationId, productExternalId } = first.body
    const same = { generationId, status: 'PENDING', productExternalId }
    for (const { status, body } of answers) if (status !== 409) expect(body).toMatchObject(same)
    expect(answers.some(({ status }) => status === 201)).toBe(true)
    expect((await post('died', inline())).body).toMatchObject(same)
    expect(await drape.balance()).toBe(before)
  })

  it('runs again after 24 hours', async () => {
    const first = await post('old', inline('one'))
    await drape.database.query(sql.unsafe`
      update idempotency_keys set created_at = created_at - interval '24 hours' where key = 'old'`)
    const second = await post('old', inline('another'))
    expect(second.status).toBe(201)
    expect(second.body.generationId).not.toBe(first.body.generationId)
    await drape.database.query(sql.unsafe`
      update idempotency_keys set created_at = created_at - interval '24 hours' where key = 'old'`)
    expect(await createRetention(drape.database).deleteOld('idempotencyKeys', 500)).toBe(1)
  })

  describe('while the API is killed', () => {
    let api: TestProgram
    beforeAll(async () => {
      api = await startProgram('api', drape.env, { separate: true })
    })
    afterAll(() => api.end())

    const send = async (key: string, body: unknown) => {
      const response = await fetch(`${api.url}${PATH}`, {
        method: 'POST',
        headers: { 'x-api-key': drape.apiKey, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    }
    const killAndRestart = async () => {
      await api.end('SIGKILL')
      api = await startProgram('api', drape.env, { separate: true })
    }
    const untilAnswered = async (key: string, body: unknown) => {
      for (;;) {
        const answer = await send(key, body)
        if (answer.status !== 409) return answer
        await sleep(100)
      }
    }

    it('is resumed after a kill of the API, with one photo and one charge', async () => {
      const before = await countLedger()
      const slow = { ...inline(), person: { image: { source: { url: `${shopUrl}/me.jpg` } } } }
      const visited = new Promise<void>((resolve) => {
        visit = () => resolve()
      })
      const first = send('middle', slow).catch(() => null)
      await visited
      await killAndRestart()
      expect(await first).toBeNull()
      visit = (response) => response.end(person)
      const answer = await untilAnswered('middle', slow)
      expect(answer.status).toBe(201)
      expect((await send('middle', slow)).body).toEqual(answer.body)
      expect(await countLedger()).toBe(before + 1)
    })
  })
})
