import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { generationRoutes } from '../../../api/generations/generations.routes.ts'
import { createOpenResponses } from '../../../api/http/limits/open-responses.ts'
import { generationChannel } from '../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { createPublish } from '../../../api/shared/queue/pub-sub.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createObjects } from '../../../api/shared/storage/objects.store.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'
import { type ReceivedEvent, readEvents } from '../../support/events.ts'
import { startProgram } from '../../support/process.ts'
import { startOwnRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'

const OUTCOME = {
  resultKey: 'results/a.jpg',
  warnings: [],
  timings: {},
  engineInfo: { name: 'warp', version: '1', license: 'Apache-2.0', kind: 'preview' },
  category: null,
  quality: 0.83,
}

describe('the event streams of an account', () => {
  it('are open up to 500 at a time', async () => {
    const follow = generationRoutes.find(({ id }) => id === 'followGeneration')
    const parts = {
      generations: { find: async (id: string) => ({ id, accountId: 'acc_1' }) },
      watch: { follow: async function* () {} },
      openResponse: createOpenResponses(),
    }
    const open = async () => {
      const res = new EventEmitter()
      const state = { account: { id: 'acc_1' }, log: { warn: () => {} } }
      await follow?.answer({ params: { id: 'gen_1' }, query: {}, state, res, set: () => {} } as never, parts as never)
      return res
    }
    const streams = await Promise.all(Array.from({ length: 500 }, open))
    await expect(open()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 10 })
    streams[0].emit('close')
    await open()
    await expect(open()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })
})

describe('generations', async () => {
  const redis = await startOwnRedis()
  const drape = await startDrape({ credits: 1000, env: { REDIS_URL: redis.url } })
  const log = createLog({ process: 'test', level: 'silent' })
  const messenger = createRedis(redis.url, { role: 'producer', log })
  const publish = createPublish(messenger, log)
  const generations = createGenerations(drape.database, (change) => publish(generationChannel(change.id), change))
  await until(async () => messenger.isReady())
  const person = await readSample('persons/down-half-teal.jpg')
  const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file: person }) })
  const imageId = upload.body.imageId
  afterAll(async () => {
    await messenger.close()
    await drape.stop()
    await redis.kill()
  })

  const path = (id: string, action = '') => `/tryon/v1/generations/${id}${action}`
  const URL_OF_NOTHING = { source: { url: 'https://shop.invalid/shirt.jpg' } }
  const accept = async (
    output: object = {},
    product: object = URL_OF_NOTHING,
    { key = drape.apiKey, image = imageId } = {},
  ): Promise<string> => {
    const answer = await drape.call('POST', '/tryon/v1/try-on', {
      key,
      body: {
        products: [{ externalId: 'shirt', images: [product] }],
        person: { image: { source: { id: image } } },
        output,
      },
    })
    expect(answer.status).toBe(201)
    return answer.body.generationId
  }
  const follow = (id: string, { api = drape.api.url, signal }: { api?: string; signal?: AbortSignal } = {}) =>
    fetch(`${api}${path(id, '/events')}`, { headers: { 'x-api-key': drape.apiKey }, signal })
  const collect = async (response: Response) => {
    const events: ReceivedEvent[] = []
    for await (const event of readEvents(response)) events.push(event)
    return events
  }

  describe('cancelled', () => {
    it('while waiting: it fails, and the credit is refunded once', async () => {
      const before = await drape.balance()
      const id = await accept()
      expect(await drape.balance()).toBe(before - 1)
      const answers = await Promise.all([1, 2, 3].map(() => drape.call('POST', path(id, '/cancel'))))
      for (const { status, body } of answers) {
        expect(status).toBe(200)
        expect(body).toMatchObject({ generationId: id, status: 'FAILED', errorCode: 'GENERATION_CANCELLED' })
      }
      expect(await drape.balance()).toBe(before)
      expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])
    })

    it('while running: the worker loses its lease, and its result is discarded', async () => {
      const before = await drape.balance()
      const id = await accept()
      await generations.start({ id, attempt: 1, worker: 'w' })
      expect((await drape.call('POST', path(id, '/cancel'))).body.status).toBe('FAILED')
      expect(await generations.renew({ id, attempt: 1, progress: 0.5 })).toBe(false)
      expect(await generations.complete({ id, attempt: 1, outcome: OUTCOME })).toBe(false)
      expect(await drape.balance()).toBe(before)
    })

    it('while a worker fetches its product image: the worker takes the next job', async () => {
      let isFetching = true
      const shop = createServer((request) => {
        request.once('close', () => {
          isFetching = false
        })
      })
      await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
      const { port } = shop.address() as AddressInfo
      const worker = await drape.startWorker({ FETCH_ALLOW_PORTS: `80,443,${port}` })
      const id = await accept({}, { source: { url: `http://127.0.0.1:${port}/never.jpg` } })
      const next = await accept({ engine: 'mock' })
      await until(async () => (await drape.call('GET', path(id))).body.status === 'PROCESSING')
      await drape.call('POST', path(id, '/cancel'))
      expect(await drape.finish(next)).toMatchObject({ status: 'FAILED', errorCode: 'PRODUCT_IMAGE_FETCH_FAILED' })
      expect(isFetching).toBe(true)
      expect((await drape.call('GET', path(id))).body.errorCode).toBe('GENERATION_CANCELLED')
      await worker.end()
      shop.closeAllConnections()
      shop.close()
    })

    it('after the end: nothing changes', async () => {
      const id = await accept()
      await generations.start({ id, attempt: 1, worker: 'w' })
      await generations.complete({ id, attempt: 1, outcome: OUTCOME })
      const before = await drape.balance()
      const answer = await drape.call('POST', path(id, '/cancel'))
      expect(answer).toMatchObject({ status: 200, body: { status: 'COMPLETED' } })
      expect(await drape.balance()).toBe(before)
    })

    it('by another account: refused', async () => {
      const id = await accept()
      const other = await drape.createAccount(0)
      for (const [method, action] of [
        ['POST', '/cancel'],
        ['GET', '/events'],
      ]) {
        const foreign = await drape.call(method, path(id, action), { key: other.apiKey })
        expect(foreign).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
        for (const unknown of ['gen_unknown', 'x'.repeat(500)]) {
          const answer = await drape.call(method, path(unknown, action))
          expect(answer).toMatchObject({ status: 404, body: { code: 'GENERATION_NOT_FOUND' } })
        }
      }
      expect((await drape.call('GET', path(id))).body.status).toBe('PENDING')
      await drape.call('POST', path(id, '/cancel'))
    })
  })

  describe('waiting', () => {
    it('have a position in a queue that alternates between accounts, and an estimate', async () => {
      const busy = await drape.createAccount(20)
      const quiet = await drape.createAccount(20)
      const upload = async (key: string) =>
        (await drape.call('POST', '/tryon/v1/images/upload', { key, body: formOf(undefined, { file: person }) })).body
          .imageId
      const [busyImage, quietImage] = [await upload(busy.apiKey), await upload(quiet.apiKey)]
      const places: { id: string; key: string }[] = []
      for (let i = 0; i < 8; i++)
        places.push({ id: await accept({}, URL_OF_NOTHING, { key: busy.apiKey, image: busyImage }), key: busy.apiKey })
      const late = { id: await accept({}, URL_OF_NOTHING, { key: quiet.apiKey, image: quietImage }), key: quiet.apiKey }
      const look = async ({ id, key }: { id: string; key: string }) => (await drape.call('GET', path(id), { key })).body

      // The relay dispatches the first of them in the meantime: two equal reads are consistent.
      const seen = await until(async () => {
        const [once, again] = [await Promise.all(places.map(look)), await Promise.all(places.map(look))]
        return isDeepStrictEqual(once, again) && once
      })
      expect(seen[0]).toMatchObject({ status: 'PENDING', queuePosition: expect.any(Number) })
      const positions = seen.map(({ queuePosition }) => queuePosition)
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
      const estimates = seen.map(({ estimatedSeconds }) => estimatedSeconds)
      expect(estimates).toEqual(estimates.toSorted((a, b) => a - b))
      expect(estimates[0]).toBeGreaterThan(0)
      // The other account's first stands before most of the eight that came earlier.
      const lateSeen = await look(late)
      expect(lateSeen.queuePosition).toBeLessThan(positions[4])
      for (const { id, key } of [...places, late]) await drape.call('POST', path(id, '/cancel'), { key })
      expect(await look(late)).not.toHaveProperty('queuePosition')
    })
  })

  describe('followed', () => {
    it('send an event for every change of status and progress, then close', async () => {
      const id = await accept()
      const response = await follow(id)
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const events = readEvents(response)
      expect((await events.next()).value).toMatchObject({ data: { generationId: id, status: 'PENDING' } })
      await generations.start({ id, attempt: 1, worker: 'w' })
      expect((await events.next()).value).toMatchObject({ data: { status: 'PROCESSING', progress: 0 } })
      await generations.renew({ id, attempt: 1, progress: 0.5 })
      expect((await events.next()).value).toMatchObject({ data: { status: 'PROCESSING', progress: 0.5 } })
      await generations.renew({ id, attempt: 1, progress: 0.5 })
      await createObjects(drape.database).insertResult({ key: OUTCOME.resultKey, bytes: 1, id, attempt: 1 })
      await generations.complete({ id, attempt: 1, outcome: OUTCOME })
      const last = await events.next()
      expect(last.value).toMatchObject({
        data: { status: 'COMPLETED', resultImageUrl: expect.stringContaining('results'), quality: 0.83 },
      })
      expect((await events.next()).done).toBe(true)
    })

    it('receive every step, however fast', async () => {
      const id = await accept()
      const following = follow(id)
      const events = readEvents(await following)
      await events.next()
      await generations.start({ id, attempt: 1, worker: 'w' })
      for (const progress of [0.25, 0.5, 0.75]) await generations.renew({ id, attempt: 1, progress })
      await generations.complete({ id, attempt: 1, outcome: OUTCOME })
      const progress = []
      for await (const { data } of events) progress.push(data.progress ?? data.status)
      expect(progress).toEqual([0, 0.25, 0.5, 0.75, 'COMPLETED'])
    })

    it('receive the changes of a worker', async () => {
      const id = await accept({ engine: 'mock' })
      const following = follow(id).then(collect)
      await drape.startWorker().then((worker) => following.finally(() => worker.end()))
      const events = await following
      const statuses = events.map(({ data }) => data.status)
      expect(statuses[0]).toBe('PENDING')
      expect(['COMPLETED', 'FAILED']).toContain(statuses.at(-1))
      const ids = events.map((event) => Number(event.id))
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
    })

    it('close immediately for an ended generation', async () => {
      const id = await accept()
      await drape.call('POST', path(id, '/cancel'))
      const events = await collect(await follow(id))
      expect(events).toMatchObject([{ data: { status: 'FAILED', errorCode: 'GENERATION_CANCELLED' } }])
    })

    it('lose nothing while Redis is unavailable', async () => {
      const id = await accept()
      const events = readEvents(await follow(id))
      await events.next()
      await redis.kill()
      await drape.call('POST', path(id, '/cancel'))
      expect((await events.next()).value).toMatchObject({ data: { status: 'FAILED' } })
      expect((await events.next()).done).toBe(true)
      await redis.restart()
    })

    it('share one connection to Redis, and leave nothing behind after a disconnect', async () => {
      const id = await accept()
      const channel = generationChannel(id)
      const subscriptions = async () => (await askRedis(redis.url, `PUBSUB NUMSUB ${channel}`)).match(/:(\d+)/)?.[1]
      const hangUp = new AbortController()
      const responses = await Promise.all(Array.from({ length: 50 }, () => follow(id, { signal: hangUp.signal })))
      await Promise.all(responses.map((response) => readEvents(response).next()))
      await until(async () => (await subscriptions()) === '1')
      hangUp.abort()
      await until(async () => (await subscriptions()) === '0')
      await drape.call('POST', path(id, '/cancel'))
    })

    it('do not delay the stop of the API', async () => {
      const replica = await startProgram('api', drape.env)
      const id = await accept()
      const events = readEvents(await follow(id, { api: replica.url }))
      await events.next()
      const ending = replica.end('SIGTERM')
      expect((await events.next()).done).toBe(true)
      expect(await ending).toBe(0)
      await drape.call('POST', path(id, '/cancel'))
    })
  })
})

/** One inline command; the answer as it comes. */
async function askRedis(url: string, command: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) })
    socket.on('connect', () => socket.write(`${command}\r\n`))
    socket.on('data', (data) => {
      resolve(data.toString())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}
