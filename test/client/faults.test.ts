import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDrapeClient, DrapeApiError, DrapeConnectionError, DrapeTimeoutError } from '../../api/client/index.ts'
import { HTTP_STATUS } from '../../api/middleware/errors.ts'
import { sql } from '../../api/shared/database/database.ts'
import { ERROR_CODES } from '../../api/shared/errors.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'
import { startFaultyLine } from '../support/faulty-line.ts'

describe('the client on a bad line', () => {
  let drape: Drape
  let person: Buffer
  let shirt: Buffer

  beforeAll(async () => {
    person = await readSample('persons/down-half-teal.jpg')
    shirt = await readSample('garments/tshirt-mustard.jpg')
    drape = await startDrape({ credits: 20 })
  })
  afterAll(() => drape?.stop())

  const refusal = (status: number, code: string, retryAfter?: string) => ({
    answer: status,
    body: { code, message: 'Not now.', status },
    headers: { 'x-request-id': 'r-1', ...(retryAfter !== undefined && { 'retry-after': retryAfter }) },
  })

  async function start(options: Partial<Parameters<typeof createDrapeClient>[0]> = {}) {
    const line = await startFaultyLine(drape.api.url)
    return { line, client: createDrapeClient({ url: line.url, apiKey: drape.apiKey, ...options }) }
  }

  it('comes again when the service says, with the key of the first time', async () => {
    const { line, client } = await start()
    await using _ = line
    const before = await drape.balance()
    line.fail('/try-on', refusal(429, 'RATE_LIMITED', '1'), refusal(503, 'SERVICE_UNAVAILABLE', '2'))
    const { generationId } = await client.tryOn({ person, product: { images: [shirt] } })
    expect(generationId).toMatch(/^gen_/)
    const posts = line.seen('POST')
    expect(posts).toHaveLength(3)
    expect(new Set(posts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(posts[0].idempotencyKey).toMatch(/^\w{32}$/)
    expect(posts[1].at - posts[0].at).toBeGreaterThanOrEqual(1000)
    expect(posts[2].at - posts[1].at).toBeGreaterThanOrEqual(2000)
    expect(await drape.balance()).toBe(before - 1)
  })

  it('pays once when the connection breaks in the middle of an upload, or before the answer', async () => {
    const { line, client } = await start()
    await using _ = line
    const before = await drape.balance()
    line.fail('/try-on', 'cut-request', 'cut-answer', 'cut-answer')
    const { generationId } = await client.tryOn({ person, product: { images: [shirt] } })
    expect(line.seen('POST')).toHaveLength(4)
    expect(await drape.balance()).toBe(before - 1)
    expect(await client.generations.cancel(generationId)).toMatchObject({ generationId, status: 'FAILED' })
    line.fail('/images/upload', 'cut-request', 'cut-answer')
    const { imageId } = await client.images.upload(person, { crop: false, externalUserId: 'once' })
    const stored = sql.unsafe`select id from images where external_user_id = 'once'`
    expect(await drape.database.any(stored)).toEqual([{ id: imageId }])
  })

  it('gives each call a key of its own', async () => {
    const { line, client } = await start()
    await using _ = line
    const product = { images: [shirt] }
    const [one, two] = [await client.tryOn({ person, product }), await client.tryOn({ person, product })]
    expect(one.generationId).not.toBe(two.generationId)
    await client.products.upsert({ externalId: 'shirt', images: [shirt] })
    expect(new Set(line.seen('POST').map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
  })

  it('waits for a first attempt that still runs', async () => {
    const { line, client } = await start({ retries: 1 })
    await using _ = line
    const running = refusal(409, 'IDEMPOTENCY_KEY_IN_USE', '0')
    line.fail('/images/upload', running, running, running)
    expect((await client.images.upload(person, { crop: false })).imageId).toMatch(/^img_/)
  })

  it('gives up after its attempts, and at once where the wait would be too long or nothing would change', async () => {
    const { line, client } = await start({ retries: 2 })
    await using _ = line
    const away = refusal(503, 'SERVICE_UNAVAILABLE', '0')
    line.fail('/credits', away, away, away)
    await expect(client.account.credits()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', requestId: 'r-1' })
    expect(line.seen('GET')).toHaveLength(3)
    line.fail('/credits', refusal(429, 'RATE_LIMITED', '3600'))
    await expect(client.account.credits()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 3600 })
    line.fail('/credits', refusal(402, 'QUOTA_EXCEEDED'))
    await expect(client.account.credits()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfter: null })
    line.fail('/credits', refusal(503, 'SERVICE_UNAVAILABLE', new Date(Date.now() + 3_600_000).toUTCString()))
    const failure = await client.account.credits().catch((error) => error)
    expect(failure.retryAfter).toBeGreaterThan(3000)
    expect(line.seen('GET')).toHaveLength(6)
  })

  it('ends a silent attempt, an aborted one and a pause', async () => {
    const { line, client } = await start({ retries: 0, timeout: 500 })
    await using _ = line
    line.fail('/credits', 'silence', 'silence')
    await expect(client.account.credits()).rejects.toThrow(DrapeTimeoutError)
    await expect(client.account.credits({ signal: AbortSignal.timeout(50) })).rejects.toHaveProperty(
      'name',
      'TimeoutError',
    )
    line.fail('/credits', 'cut-answer')
    await expect(client.account.credits()).rejects.toThrow(DrapeConnectionError)
    const patient = createDrapeClient({ url: line.url, apiKey: drape.apiKey })
    const stop = new AbortController()
    line.fail('/try-on', refusal(429, 'RATE_LIMITED', '50'))
    const call = patient.tryOn({ person, product: { images: [shirt] } }, { signal: stop.signal })
    setTimeout(() => stop.abort(), 300)
    await expect(call).rejects.toHaveProperty('name', 'AbortError')
    expect(line.seen('POST').length).toBeLessThan(2)
  })

  it('follows a generation where events break or do not come', async () => {
    const { line, client } = await start()
    await using _ = line
    await drape.startWorker()
    const input = { person, product: { images: [shirt] }, output: { engine: 'mock' } } as const
    for (const fault of ['cut-stream', { answer: 502, body: '<html>no such thing</html>' }, 'silence'] as const) {
      line.fail('/events', fault)
      expect((await client.tryOn(input).wait({ pollInterval: 100 })).status).toBe('COMPLETED')
    }
  })

  it('knows every code of the service, and what is none of its answers', async () => {
    const { line, client } = await start({ retries: 0 })
    await using _ = line
    for (const code of ERROR_CODES) {
      line.fail('/account', refusal(HTTP_STATUS[code], code))
      const failure = await client.account.get().catch((error) => error)
      expect(failure).toBeInstanceOf(DrapeApiError)
      expect(failure).toMatchObject({ code, status: HTTP_STATUS[code], message: 'Not now.', requestId: 'r-1' })
    }
    for (const body of ['<html>bad gateway</html>', '', 'null', '{"code":5}']) {
      line.fail('/account', { answer: 502, body })
      await expect(client.account.get()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 502 })
    }
    line.fail('/account', { answer: 200, body: '<html>sign in</html>' })
    await expect(client.account.get()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 })
  })
})
