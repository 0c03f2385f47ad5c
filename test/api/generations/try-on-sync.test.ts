import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'
import { startProgram } from '../../support/process.ts'

describe('concurrent and synchronous try-ons', async () => {
  const drape = await startDrape({ credits: 1000 })
  const person = await readSample('persons/down-half-teal.jpg')
  const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file: person }) })
  const imageId = upload.body.imageId
  afterAll(() => drape.stop())

  const inline = (externalId: string, output: object = {}) => ({
    products: [{ externalId, title: 'Shirt', images: [{ source: { url: 'https://shop.invalid/shirt.jpg' } }] }],
    person: { image: { source: { id: imageId } } },
    output,
  })
  const post = (path: string, body: object, url = drape.api.url) =>
    fetch(`${url}/tryon/v1${path}`, {
      method: 'POST',
      headers: { 'x-api-key': drape.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const lastGeneration = async () => {
    for (;;) {
      const id = await drape.database.maybeOneFirst(sql.unsafe`
        select generation_id from outbox order by created_at desc limit 1`)
      if (id) return id as string
      await sleep(20)
    }
  }

  describe('POST /try-on/sync', () => {
    it('returns the completed generation', async () => {
      const worker = await drape.startWorker()
      const shirt = await readSample('garments/tshirt-navy.jpg')
      const answer = await drape.call('POST', '/tryon/v1/try-on/sync', {
        body: formOf(
          {
            products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
            person: { image: { source: { id: imageId } } },
          },
          { shirt },
        ),
      })
      await worker.end()
      expect(answer).toMatchObject({
        status: 201,
        body: { generationId: expect.stringMatching(/^gen_/), status: 'COMPLETED', engine: { name: 'mock' } },
      })
      expect(answer.body.productExternalId).toMatch(/^_anon_/)
      expect((await fetch(answer.body.resultImageUrl)).headers.get('content-type')).toBe('image/jpeg')
    })

    it('returns a failed generation', async () => {
      const before = await drape.balance()
      const waiting = post('/try-on/sync', inline('cancelled'))
      await drape.call('POST', `/tryon/v1/generations/${await lastGeneration()}/cancel`)
      const response = await waiting
      expect(response.status).toBe(201)
      expect(await response.json()).toMatchObject({
        status: 'FAILED',
        errorCode: 'GENERATION_CANCELLED',
        productExternalId: 'cancelled',
      })
      expect(await drape.balance()).toBe(before)
    })

    it('returns 202 with the current generation after its time limit', async () => {
      const replica = await startProgram('api', drape.env)
      const waiting = post('/try-on/sync', inline('patient'), replica.url)
      const id = await lastGeneration()
      expect(await replica.end('SIGTERM')).toBe(0)
      const response = await waiting
      expect(response.status).toBe(202)
      expect(await response.json()).toMatchObject({ generationId: id, status: 'PENDING', queuePosition: 1 })
      await drape.call('POST', `/tryon/v1/generations/${id}/cancel`)
    })

    it('refuses what POST /try-on refuses', async () => {
      expect((await post('/try-on/sync', {})).status).toBe(400)
      expect((await post('/try-on/sync', { ...inline('x'), products: [{ externalId: 'unknown' }] })).status).toBe(404)
    })
  })

  it('200 concurrent equal inline calls to two replicas create one product', async () => {
    const replica = await startProgram('api', drape.env)
    const before = await drape.balance()
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        post('/try-on', inline('crowd'), i % 2 === 0 ? drape.api.url : replica.url),
      ),
    )
    await replica.end()
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(200)
    const counts = await drape.database.one(sql.unsafe`
      select count(distinct products.id)::int as products, count(distinct generations.id)::int as generations
      from products join generations on generations.product_id = products.id where external_id = 'crowd'`)
    expect(counts).toEqual({ products: 1, generations: 200 })
    expect(await drape.balance()).toBe(before - 200)
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
  })

  it('returns QUOTA_EXCEEDED at the limit of the account', async () => {
    const { apiKey: key } = await drape.createAccount(5, { concurrentGenerations: 1 })
    const body = () =>
      formOf(
        { products: [{ images: [{ source: { fileKey: 'a' } }] }], person: { image: { source: { fileKey: 'a' } } } },
        { a: person },
      )
    expect((await drape.call('POST', '/tryon/v1/try-on', { key, body: body() })).status).toBe(201)
    const refused = await drape.call('POST', '/tryon/v1/try-on', { key, body: body() })
    expect(refused).toMatchObject({ status: 402, body: { code: 'QUOTA_EXCEEDED', status: 402 } })
  })
})
