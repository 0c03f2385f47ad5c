import { afterAll, describe, expect, it } from 'vitest'
import {
  createDrapeClient,
  createEventSender,
  DrapeApiError,
  DrapeConnectionError,
  DrapeTimeoutError,
} from '../../api/client/index.ts'
import { ERROR_CODES, ERRORS } from '../../api/shared/contract/error-codes.ts'
import { sql } from '../../api/shared/database/database.ts'
import { APP_CONTEXT } from '../support/analytics-events.ts'
import { readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { type Fault, startFaultyProxy } from '../support/faulty-proxy.ts'

describe('the client on an unreliable connection', async () => {
  const person = await readSmallPerson()
  const shirt = await readSample('garments/tshirt-mustard.jpg')
  const drape = await startDrape({ credits: 20 })
  afterAll(() => drape?.stop())

  const errorResponse = (status: number, code: string, retryAfter?: string) => ({
    answer: status,
    body: { code, message: 'Not now.', status },
    headers: { 'x-request-id': 'r-1', ...(retryAfter !== undefined && { 'retry-after': retryAfter }) },
  })

  async function start(options: Partial<Parameters<typeof createDrapeClient>[0]> = {}) {
    const proxy = await startFaultyProxy(drape.api.url)
    return { proxy, client: createDrapeClient({ url: proxy.url, apiKey: drape.apiKey, ...options }) }
  }

  it('retries after Retry-After with the same Idempotency-Key', async () => {
    const { proxy, client } = await start()
    await using _ = proxy
    const before = await drape.balance()
    proxy.fail('/try-on', errorResponse(429, 'RATE_LIMITED', '1'), errorResponse(503, 'SERVICE_UNAVAILABLE', '2'))
    const { generationId } = await client.tryOn({ person, product: { images: [shirt] } })
    expect(generationId).toMatch(/^gen_/)
    const posts = proxy.seen('POST')
    expect(posts).toHaveLength(3)
    expect(new Set(posts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(posts[0].idempotencyKey).toMatch(/^\w{32}$/)
    expect(posts[1].at - posts[0].at).toBeGreaterThanOrEqual(1000)
    expect(posts[2].at - posts[1].at).toBeGreaterThanOrEqual(2000)
    expect(await drape.balance()).toBe(before - 1)
  })

  it('is charged once when the connection breaks during an upload or before the response', async () => {
    const { proxy, client } = await start()
    await using _ = proxy
    const before = await drape.balance()
    proxy.fail('/try-on', 'cut-request', 'cut-answer', 'cut-answer')
    const { generationId } = await client.tryOn({ person, product: { images: [shirt] } })
    expect(proxy.seen('POST')).toHaveLength(4)
    expect(await drape.balance()).toBe(before - 1)
    expect(await client.generations.cancel(generationId)).toMatchObject({ generationId, status: 'FAILED' })
    proxy.fail('/images/upload', 'cut-request', 'cut-answer')
    const { imageId } = await client.images.upload(person, { crop: false, externalUserId: 'once' })
    const stored = sql.unsafe`select id from images where external_user_id = 'once'`
    expect(await drape.database.any(stored)).toEqual([{ id: imageId }])
  })

  it('sends a new Idempotency-Key with each call', async () => {
    const { proxy, client } = await start()
    await using _ = proxy
    const product = { images: [shirt] }
    const [one, two] = [await client.tryOn({ person, product }), await client.tryOn({ person, product })]
    expect(one.generationId).not.toBe(two.generationId)
    await client.products.upsert({ externalId: 'shirt', images: [shirt] })
    expect(new Set(proxy.seen('POST').map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
  })

  it('waits while the first attempt is still in use, beyond its retries', async () => {
    const { proxy, client } = await start({ retries: 1 })
    await using _ = proxy
    const inUse = errorResponse(409, 'IDEMPOTENCY_KEY_IN_USE', '0')
    proxy.fail('/images/upload', inUse, inUse, inUse)
    expect((await client.images.upload(person, { crop: false })).imageId).toMatch(/^img_/)
  })

  it('rejects after its last retry, and at once if Retry-After is too long or the error is permanent', async () => {
    const { proxy, client } = await start({ retries: 2 })
    await using _ = proxy
    const unavailable = errorResponse(503, 'SERVICE_UNAVAILABLE', '0')
    proxy.fail('/credits', unavailable, unavailable, unavailable)
    await expect(client.account.credits()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', requestId: 'r-1' })
    expect(proxy.seen('GET')).toHaveLength(3)
    proxy.fail('/credits', errorResponse(429, 'RATE_LIMITED', '3600'))
    await expect(client.account.credits()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfter: 3600 })
    proxy.fail('/credits', errorResponse(402, 'QUOTA_EXCEEDED'))
    await expect(client.account.credits()).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfter: null })
    proxy.fail('/credits', errorResponse(503, 'SERVICE_UNAVAILABLE', new Date(Date.now() + 3_600_000).toUTCString()))
    const failure = await client.account.credits().catch((error) => error)
    expect(failure.retryAfter).toBeGreaterThan(3000)
    expect(proxy.seen('GET')).toHaveLength(6)
  })

  it('reports an exceeded budget of events with the message of the service', async () => {
    const { proxy } = await start()
    await using _ = proxy
    const body = { success: false, message: 'Too many events.' }
    proxy.fail('/events', { answer: 429, headers: { 'retry-after': '3600' }, body })
    const send = createEventSender({ url: proxy.url, publishableKey: 'pk_1' })
    expect(await send([{ event: 'widget:button_click' }], APP_CONTEXT)).toEqual(body)
  })

  it('rejects on a timeout, and on abort during a request or the wait before a retry', async () => {
    const { proxy, client } = await start({ retries: 0, timeout: 500 })
    await using _ = proxy
    proxy.fail('/credits', 'silence', 'silence')
    await expect(client.account.credits()).rejects.toThrow(DrapeTimeoutError)
    await expect(client.account.credits({ signal: AbortSignal.timeout(50) })).rejects.toHaveProperty(
      'name',
      'TimeoutError',
    )
    proxy.fail('/credits', 'cut-answer')
    await expect(client.account.credits()).rejects.toThrow(DrapeConnectionError)
    const retrying = createDrapeClient({ url: proxy.url, apiKey: drape.apiKey })
    const abort = new AbortController()
    proxy.fail('/try-on', errorResponse(429, 'RATE_LIMITED', '50'))
    const call = retrying.tryOn({ person, product: { images: [shirt] } }, { signal: abort.signal })
    setTimeout(() => abort.abort(), 300)
    await expect(call).rejects.toHaveProperty('name', 'AbortError')
    expect(proxy.seen('POST').length).toBeLessThan(2)
  })

  it('polls a generation if the event stream breaks, fails or stays silent', async () => {
    const { proxy, client } = await start()
    await using _ = proxy
    await drape.startWorker()
    const input = { person, product: { images: [shirt] }, output: { engine: 'mock' } } as const
    for (const fault of ['cut-stream', { answer: 502, body: '<html>no such thing</html>' }, 'silence'] as const) {
      proxy.fail('/events', fault)
      expect((await client.tryOn(input).wait({ pollInterval: 100 })).status).toBe('COMPLETED')
    }
  })

  it('throws an error with every code of the service, or UNEXPECTED_ANSWER for a foreign response', async () => {
    const { proxy, client } = await start({ retries: 0 })
    await using _ = proxy
    for (const code of ERROR_CODES) {
      proxy.fail('/account', errorResponse(ERRORS[code].status, code))
      const failure = await client.account.get().catch((error) => error)
      expect(failure).toBeInstanceOf(DrapeApiError)
      expect(failure).toMatchObject({ code, status: ERRORS[code].status, message: 'Not now.', requestId: 'r-1' })
    }
    for (const body of ['<html>bad gateway</html>', '', 'null', '{"code":5}']) {
      proxy.fail('/account', { answer: 502, body })
      await expect(client.account.get()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 502 })
    }
  })

  it('retries a response that is cut off, falsely marked as gzip or not a JSON object, then throws its status', async () => {
    const marked = { answer: 200, headers: { 'content-encoding': 'gzip' }, body: { id: 'x' } }
    const faults = ['cut-stream', marked, { answer: 200, body: '<html>sign in</html>' }, { answer: 200, body: null }]
    for (const fault of faults as Fault[]) {
      const { proxy, client } = await start({ retries: 1 })
      await using _ = proxy
      proxy.fail('/account', fault)
      expect(await client.account.get()).toMatchObject({ id: drape.accountId })
      proxy.fail('/account', fault, fault)
      const failure = await client.account.get().catch((error) => error)
      expect(failure).toBeInstanceOf(DrapeApiError)
      expect(failure).toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 })
      proxy.fail('/account', { ...marked, answer: 403 })
      await expect(client.account.get()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 403 })
      expect(proxy.seen('GET')).toHaveLength(5)
    }
  })
})
