import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createDrapeClient, createEventSender, MAX_FILE_BYTES } from '../../api/client/index.ts'
import { MAX_FILE_BYTES as LIMIT_OF_SERVICE } from '../../api/http/middleware/body.ts'
import { APP_CONTEXT } from '../support/analytics-events.ts'

const KEY = 'sk_not_to_be_shown'

describe('requests of the client', () => {
  const stops: (() => void)[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
  })

  /** A server that answers every request with this status and these headers, and what it received. */
  async function start(status = 200, headers: Record<string, string> = {}) {
    const received: { target: string; key: string | string[] | undefined }[] = []
    const server = createServer((request, response) => {
      received.push({ target: `${request.method} ${request.url}`, key: request.headers['x-api-key'] })
      request.resume()
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"items":[]}')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    stops.push(() => server.close().closeAllConnections())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
  }

  it('may carry files of the size that the service accepts', () => {
    expect(MAX_FILE_BYTES).toBe(LIMIT_OF_SERVICE)
  })

  it.each([301, 302, 303, 307, 308])('do not follow a redirect with status %i, and name its target', async (status) => {
    const other = await start()
    const { url, received } = await start(status, { location: `${other.url}/there?signature=abc` })
    const client = createDrapeClient({ url, apiKey: KEY })
    const calls = [
      () => client.account.get(),
      () => client.images.upload(new Blob([new Uint8Array(1000)])),
      () => client.products.upsert({ externalId: 'shirt' }),
      () => client.generations.wait('gen_1'),
    ]
    for (const call of calls) {
      const failure = await call().catch((error) => error)
      expect(failure).toMatchObject({ code: 'UNEXPECTED_ANSWER', status })
      expect(failure.message).toContain(`${other.url}/there, which received neither the key nor data`)
    }
    const send = createEventSender({ url, publishableKey: 'pk_1' })
    expect(await send([], APP_CONTEXT)).toMatchObject({ success: false, message: expect.stringContaining(other.url) })
    expect(other.received).toEqual([])
    // The wait asks for events first; none of the requests is retried.
    expect(received).toHaveLength(calls.length + 2)
  })

  it('carry the key without surrounding white space', async () => {
    const { url, received } = await start()
    await createDrapeClient({ url, apiKey: `\ufeff ${KEY}\r\n` }).account.get()
    expect(received).toMatchObject([{ key: KEY }])
  })

  it.each(['sk_not_to\n_be_shown', 'sk_not_to …', 'sk_not to_be_shown', 'sk_not_to_bé', ' ', ''])(
    'are refused at once, without showing it, for the key %j',
    (key) => {
      const url = 'http://127.0.0.1:1'
      for (const create of [
        () => createDrapeClient({ url, apiKey: key }),
        () => createEventSender({ url, publishableKey: key }),
      ]) {
        expect(create).toThrow(/Key (contains a character that no key has|is empty)/)
        expect(create).not.toThrow(/sk_/)
      }
    },
  )

  it('show no key in errors, also of an address with a password and of another header', async () => {
    expect(() => createDrapeClient({ url: `http://user:${KEY}@shop.example` })).not.toThrow(KEY)
    expect(() => createDrapeClient({ url: KEY })).not.toThrow(KEY)
    const client = createDrapeClient({ url: 'http://127.0.0.1:1', apiKey: KEY, retries: 0 })
    const unreachable = await client.account.get().catch((error) => error)
    const invalid = await client.products
      .upsert({ externalId: 'shirt' }, { idempotencyKey: 'order\n1' })
      .catch((error) => error)
    expect(invalid).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: 'idempotency-key' }] })
    expect(inspect([client, unreachable, invalid], { depth: 9 })).not.toContain(KEY)
  })

  it.each(['', '.', '..', '%2e', '.%2E', '%2e%2e', '\ud800', undefined as unknown as string])(
    'are not sent for the ID %j, which a URL cannot carry',
    async (id) => {
      const { url, received } = await start()
      const { generations, products, customers } = createDrapeClient({ url })
      const calls = [
        ...[products.get(id), products.delete(id), products.statistics(id), customers.erase(id)],
        ...[generations.get(id), generations.wait(id), generations.cancel(id), generations.download(id)],
        ...[generations.appeal(id, 'It is a shirt.'), generations.findAppeal(id)],
      ]
      for (const result of await Promise.allSettled(calls))
        expect(result).toMatchObject({ reason: { code: 'VALIDATION_FAILED', details: [{ path: 'id' }] } })
      expect(received).toEqual([])
    },
  )

  it('carry any other ID as it is', async () => {
    const { url, received } = await start()
    const { products } = createDrapeClient({ url })
    for (const id of ['...', '.a', 'a/../b', '%2f', 'Größe 1?#']) await products.get(id)
    const paths = received.map(({ target }) => decodeURIComponent(target.slice('GET /tryon/v1/products/'.length)))
    expect(paths).toEqual(['...', '.a', 'a/../b', '%2f', 'Größe 1?#'])
  })
})
