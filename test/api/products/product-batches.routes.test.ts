import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../api/shared/database/database.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { type Answer, readSample, startDrape } from '../../support/drape.ts'
import { startProgram } from '../../support/process.ts'
import { until } from '../../support/until.ts'

const PATH = '/tryon/v1/products/batch'
const NDJSON = 'application/x-ndjson'

describe('batches of products', async () => {
  let requests = 0

  const photo = await readSample('garments/tshirt-mustard.jpg')
  const shop = createServer(({ url }, response) => {
    requests++
    response.statusCode = url === '/missing.jpg' ? 404 : 200
    response.end(url === '/page.html' ? '<html>' : photo)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const { port } = shop.address() as AddressInfo
  const shopUrl = `http://127.0.0.1:${port}`
  const drape = await startDrape({ env: { FETCH_ALLOW_PORTS: `80,443,${port}` } })
  afterAll(async () => {
    await drape?.stop()
    shop.closeAllConnections()
    shop.close()
  })

  const images = [{ source: { url: 'https://shop.example/shirt.jpg' } }]
  const send = (body: unknown, { type = 'application/json', ...options }: SendOptions = {}): Promise<Answer> =>
    drape.call('POST', PATH, { body, ...options, headers: { 'content-type': type, ...options.headers } })
  const get = (id: string, query = '', options = {}) => drape.call('GET', `${PATH}/${id}${query}`, options)
  const lines = (products: readonly unknown[]) => products.map((product) => JSON.stringify(product)).join('\n')
  const resultsOf = ({ body }: Answer) => body.items.map(({ result }: { result: string }) => result)
  const product = async (externalId: string) => (await drape.call('GET', `/tryon/v1/products/${externalId}`)).body

  it('return a result for each product', async () => {
    await drape.call('POST', '/tryon/v1/products', { body: { externalId: 'b-old', images, title: 'Old' } })
    await drape.call('POST', '/tryon/v1/products', { body: { externalId: 'b-same', images } })
    const answer = await send({
      products: [
        { externalId: 'b-new', images, metadata: { sku: 12 }, validForDays: 30 },
        { externalId: 'b-old', title: 'New' },
        { externalId: 'b-same', images },
        { externalId: 'b-bare', title: 'no image' },
        { externalId: '_anon_1', images },
        { externalId: '..', images },
        { title: 'no id' },
        { externalId: 'b-bad', images, validForDays: 400 },
        { externalId: 'b-file', images: [{ source: { fileKey: 'body' } }] },
        { externalId: 'b-flat', imageUrls: ['https://shop.example/1.jpg'], title: null },
        'text',
        { externalId: 'b-new', title: 'Again' },
      ],
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('deprecation')).toMatch(/^@/)
    expect(
      answer.body.items.map(({ result, error }: { result: string; error?: { code: string } }) => error?.code ?? result),
    ).toEqual([
      'created',
      'updated',
      'unchanged',
      'PRODUCT_IMAGES_REQUIRED',
      'RESERVED_EXTERNAL_ID',
      'VALIDATION_FAILED',
      'EXTERNAL_ID_REQUIRED',
      'VALIDATION_FAILED',
      'MULTIPART_FILE_NOT_FOUND',
      'created',
      'VALIDATION_FAILED',
      'updated',
    ])
    expect(answer.body.items[7].error.details).toEqual([{ path: 'validForDays', message: expect.any(String) }])
    expect(answer.body.counts).toEqual({ total: 12, created: 2, updated: 2, unchanged: 1, failed: 7, pending: 0 })
    expect(await product('b-new')).toMatchObject({ title: 'Again', metadata: { sku: 12 }, validForDays: 30 })
    expect(await product('b-old')).toMatchObject({ title: 'New', images: [{ order: 0 }] })
    expect((await product('b-bare')).code).toBe('PRODUCT_NOT_FOUND')
  })

  it('accept NDJSON and CSV, and errors name the line', async () => {
    const ndjson = await send(`${lines([{ externalId: 'n-1', images }])}\r\n\n{"externalId":\n{"externalId":"n-2"}\n`, {
      type: NDJSON,
    })
    expect(resultsOf(ndjson)).toEqual(['created', 'failed', 'failed'])
    expect(ndjson.body.items.map(({ line }: { line: number }) => line)).toEqual([1, 3, 4])
    const csv = await send(
      '\ufeffExternal_ID;Title;image urls;validForDays;metadata;stock\n' +
        'c-1;"Shirt; ""red""\nlong";https://shop.example/1.jpg https://shop.example/2.jpg;forever;"{""sku"":12345678901234567890}";3\n' +
        'c-2;Trousers;not a url;30;;\n' +
        'c-3;;https://shop.example/3.jpg;14;;1;;\n',
      { type: 'text/csv; charset=utf-8' },
    )
    expect(resultsOf(csv)).toEqual(['created', 'failed', 'created'])
    expect(csv.body.items.map(({ line }: { line: number }) => line)).toEqual([2, 4, 5])
    expect(await product('c-1')).toMatchObject({ title: 'Shirt; "red"\nlong', validForDays: null })
    expect((await product('c-1')).images).toHaveLength(2)
    expect(await product('c-3')).toMatchObject({ title: null, validForDays: 14 })
  })

  it.each([
    ['more than 500 products', lines(Array.from({ length: 501 }, () => ({}))), NDJSON, 'VALIDATION_FAILED'],
    ['no product', '{"products":[]}', 'application/json', 'VALIDATION_FAILED'],
    ['no list', '{"products":{"a":[]}}', 'application/json', 'VALIDATION_FAILED'],
    ['half of a list', '{"products":[{"externalId":"half"},{"', 'application/json', 'VALIDATION_FAILED'],
    ['CSV with an open quote', 'externalId,title\nhalf,"x\n', 'text/csv', 'VALIDATION_FAILED'],
    ['CSV without externalId', 'sku,title\nhalf,x\n', 'text/csv', 'VALIDATION_FAILED'],
    ['another type', 'externalId: half', 'application/yaml', 'VALIDATION_FAILED'],
    ['more than 10 MB', `"${'x'.repeat(10 * 1024 * 1024)}"`, NDJSON, 'FILE_TOO_LARGE'],
  ])('refuse %s and store nothing', async (_, body, type, code) => {
    const answer = await send(body, { type })
    expect(answer.body.code).toBe(code)
    expect((await product('half')).code).toBe('PRODUCT_NOT_FOUND')
  })

  it('return the first response again, and continue after a kill without repeating work', async () => {
    const body = lines(Array.from({ length: 500 }, (_, i) => ({ externalId: `r-${i}`, images, title: `${i}` })))
    const headers = { 'x-api-key': drape.apiKey, 'content-type': NDJSON, 'idempotency-key': 'resumed' }
    const replica = await startProgram('api', drape.env, { separate: true })
    const broken = fetch(`${replica.url}${PATH}`, { method: 'POST', headers, body }).catch(() => null)
    const countStored = () =>
      drape.database.oneFirst(sql.unsafe`
        select count(*)::int from product_batch_items join products using (external_id)
        where account_id = ${drape.accountId} and external_id like 'r-%'`) as Promise<number>
    await until(async () => (await countStored()) > 10)
    await replica.end('SIGKILL')
    await broken
    const stored = await countStored()
    expect(stored).toBeLessThan(500)
    const early = await product('r-0')
    const answer = await until(async () => {
      const again = await send(body, { type: NDJSON, headers: { 'idempotency-key': 'resumed' } })
      return again.status === 200 && again
    })
    // What was stored before is not stored again: it still counts as created.
    expect(answer.body.counts).toMatchObject({ total: 500, created: 500, failed: 0 })
    expect((await product('r-0')).updatedAt).toBe(early.updatedAt)
    const replay = await send(body, { type: NDJSON, headers: { 'idempotency-key': 'resumed' } })
    expect(replay.headers.get('idempotent-replay')).toBe('true')
    expect(replay.body.batchId).toBe(answer.body.batchId)
    const other = await send(`${body}\n`, { type: NDJSON, headers: { 'idempotency-key': 'resumed' } })
    expect(other.body.code).toBe('IDEMPOTENCY_KEY_REUSED')
    const first = await get(answer.body.batchId, '?limit=200')
    expect(first.body.items).toHaveLength(200)
    const third = await get(answer.body.batchId, `?limit=500&cursor=${first.body.nextCursor}`)
    expect(third.body.items.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 300 }, (_, i) => i + 200),
    )
    expect(third.body).toMatchObject({ hasMore: false, nextCursor: null })
  })

  it('fetch images in the background, and report what could not be fetched', async () => {
    const of = (...paths: string[]) => paths.map((path) => ({ source: { url: `${shopUrl}${path}` } }))
    const { apiKey: key } = await drape.createAccount(0)
    const fresh = (products: unknown[]) => send({ products }, { key })
    const untilDone = (id: string) =>
      until(async () => {
        const { body: seen } = await get(id, '', { key })
        return seen.status === 'completed' && seen
      })
    const { body } = await fresh([
      { externalId: 'i-1', images: of('/front.jpg', '/back.jpg') },
      { externalId: 'i-2', images: of('/page.html') },
    ])
    expect(body.images).toMatchObject({ total: 3 })
    const done = await untilDone(body.batchId)
    expect(done.images).toEqual({ total: 3, pending: 0, fetched: 2, failed: 1, replaced: 0 })
    expect(done.items[1].images.failures).toEqual([{ url: `${shopUrl}/page.html`, code: 'PRODUCT_IMAGE_FETCH_FAILED' }])
    const before = requests
    const again = await fresh([{ externalId: 'i-1', images: of('/front.jpg', '/back.jpg') }])
    expect(resultsOf(again)).toEqual(['unchanged'])
    expect(await untilDone(again.body.batchId)).toMatchObject({ images: { fetched: 2, failed: 0 } })
    expect(requests).toBe(before)
  })

  it('fetch no image that exceeds the storage quota of the account', async () => {
    const poor = await drape.createAccount(0, { storageMegabytes: 0 })
    const { body } = await send(
      { products: [{ externalId: 'q', images: [{ source: { url: `${shopUrl}/q.jpg` } }] }] },
      { key: poor.apiKey },
    )
    const done = await until(async () => {
      const { body: seen } = await get(body.batchId, '', { key: poor.apiKey })
      return seen.status === 'completed' && seen
    })
    expect(done.items[0].images.failures[0].code).toBe('QUOTA_EXCEEDED')
  })

  it('are accessible only to their account, and deleted after 7 days', async () => {
    const { body } = await send({ products: [{ externalId: 'old', images }] })
    const other = await drape.createAccount(0)
    expect((await get(body.batchId, '', { key: other.apiKey })).body.code).toBe('FORBIDDEN')
    expect((await get('batch_unknown')).body.code).toBe('BATCH_NOT_FOUND')
    expect((await get(body.batchId, '?cursor=forged')).body.code).toBe('VALIDATION_FAILED')
    await drape.database.query(sql.unsafe`
      update product_batches set created_at = now() - interval '8 days' where id = ${body.batchId}`)
    expect(await createRetention(drape.database).deleteOld('productBatches', 10)).toBe(1)
    expect((await get(body.batchId)).body.code).toBe('BATCH_NOT_FOUND')
    expect(await product('old')).toHaveProperty('externalId', 'old')
  })

  it('are not required for 40 concurrent products', async () => {
    const { apiKey } = await drape.createAccount(0, {})
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        drape.call('POST', '/tryon/v1/products', { key: apiKey, body: { externalId: `s-${i}`, images } }),
      ),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  })
})

interface SendOptions {
  readonly type?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}
