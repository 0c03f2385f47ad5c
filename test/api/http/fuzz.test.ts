import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { Pool } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { generateKey } from '../../../api/accounts/credentials.ts'
import { createContract } from '../../support/contract.ts'
import { readSample, startDrape } from '../../support/drape.ts'
import { type FuzzedRequest, headerTexts, requestsOf, type World } from '../../support/fuzz/requests.ts'
import { faultsOf, sendAll } from '../../support/fuzz/send-all.ts'
import { openDocument } from '../../support/openapi-document.ts'

const LONG = process.env.LONG_TESTS === '1'
const SEED = 20_261_121
const PARTS = LONG ? 100 : 10

describe('any request', async () => {
  const photo = await readSample('persons/astronaut.jpg')
  const shop = createServer(({ url }, response) => response.writeHead(url === '/photo.jpg' ? 200 : 404).end(photo))
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const drape = await startDrape({ credits: 1_000_000, env: { FETCH_ALLOW_PORTS: String(portOf(shop)) } })
  const pool = new Pool(drape.api.url, { connections: 8 })
  afterAll(async () => {
    await pool.destroy()
    await drape.stop()
    shop.close()
  })

  it('gets a documented response within 5 s', { timeout: 3_600_000 }, async () => {
    const text = await (await fetch(`${drape.api.url}/tryon/v1/openapi.json`)).json()
    const contract = createContract(text as object)
    const requests = await arbitraryRequests(text as object)
    const statuses = await sendAll({ drape, pool, contract, requests, parts: PARTS, seed: SEED })
    // Otherwise most requests would fail at the same check.
    for (const status of [200, 201, 400, 401, 402, 403, 404, 405, 409, 422]) {
      expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(0)
    }
    expect([...statuses.values()].reduce((sum, count) => sum + count)).toBe(500 * PARTS)
  })

  it('leaves the API running and every balance correct', async () => {
    expect((await drape.call('GET', '/tryon/v1/account')).status).toBe(200)
    expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
    expect(faultsOf(drape)).toBe('')
  })

  async function arbitraryRequests(document: object): Promise<fc.Arbitrary<FuzzedRequest>> {
    const { operations, resolve } = openDocument(document)
    const world = await createWorld(resolve)
    return fc.oneof(
      ...operations
        .filter(({ path }) => path.startsWith('/tryon/v1/'))
        .map((operation) => ({
          // A body has more variants.
          weight: operation.bodies.size > 0 ? 4 : 1,
          arbitrary: requestsOf(operation, world),
        })),
    )
  }

  /** Accounts without concurrent generations send the synchronous calls, which then end immediately. */
  async function createWorld(resolve: World['vocabulary']['resolve']): Promise<World> {
    const photo = await readSample('persons/astronaut.jpg')
    const image = await drape.upload(photo)
    const tryOn = {
      products: [{ images: [{ source: { url: 'http://127.0.0.1/a' } }] }],
      person: { image: { source: { id: image.imageId } } },
    }
    const { body: accepted } = await drape.call('POST', '/tryon/v1/try-on', { body: tryOn })
    const plenty = { writesPerMinute: 1_000_000, readsPerMinute: 1_000_000 }
    const [other, idle] = await Promise.all(
      [10, 1000].map((credits) => drape.createAccount(credits, { ...plenty, concurrentGenerations: 0 })),
    )
    const foreign = await drape.upload(photo, {}, other.apiKey)
    const url = `http://127.0.0.1:${portOf(shop)}`
    return {
      vocabulary: {
        resolve,
        texts: {
          engine: ['mock', 'warp', 'fashn-vton'],
          id: [
            ...Array(6).fill(image.imageId),
            accepted.generationId,
            foreign.imageId,
            accepted.generationId,
            'img_0',
            'gen_0',
          ],
          externalId: ['shirt', 'shirt', 'dress', 'a/b c', accepted.productExternalId],
          customerId: ['user-1', 'user-2'],
          externalUserId: ['user-1', 'user-2'],
          fileKey: ['me', 'shirt', 'shirt', 'missing'],
          url: [`${url}/photo.jpg`, `${url}/missing.jpg`, 'http://10.0.0.1/a.jpg', 'https://127.0.0.1:1/a.jpg'],
        },
      },
      files: [photo, photo.subarray(0, 2000), await readSample('garments/tshirt-navy.jpg'), Buffer.from('no image')],
      credentialsOf: ({ id }) => {
        const key = id === 'createTryOnAndWait' ? idle.apiKey : drape.apiKey
        const others = [other.apiKey, generateKey('secret'), generateKey('publishable')]
        return fc
          .oneof(
            { weight: 20, arbitrary: fc.constant(key) },
            { weight: 2, arbitrary: fc.constantFrom(...others) },
            { weight: 1, arbitrary: headerTexts },
          )
          .map((text) => ({ 'x-api-key': text }))
      },
    }
  }
})

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
