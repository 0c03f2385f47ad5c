import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveWorkerCalls } from '../../../api/generations/worker-calls.ts'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { WORKER_CALLS, WORKER_OPERATIONS, type WorkerOperations } from '../../../api/shared/generations/worker-calls.ts'
import { createPublish, type Publish } from '../../../api/shared/queue/pub-sub.ts'
import { createRedis, type Redis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createWorkerCalls } from '../../../worker/job/calls.ts'
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts'
import { until } from '../../support/until.ts'

const LOG = createLog({ process: 'test', level: 'silent' })
const RENEWAL = { id: 'gen_1', attempt: 1, progress: 0.5 }

describe('a call of a worker', () => {
  let server: OwnRedis
  let executed: unknown[][]
  let worker: Redis
  let calls: WorkerOperations
  let publisher: Redis
  const undo: (() => unknown)[] = []

  beforeEach(async () => {
    executed = []
    server = await startOwnRedis()
    worker = createRedis(server.url, { role: 'consumer', log: LOG })
    publisher = createRedis(server.url, { role: 'producer', log: LOG })
    undo.push(server.kill, publisher.close, worker.close)
    calls = createWorkerCalls(worker, LOG)
    await until(async () => worker.isReady() && publisher.isReady())
  })
  afterEach(async () => {
    for (const end of undo.splice(0).reverse()) await end()
  })

  /** Every operation notes its call; those of `own` answer. */
  const serve = (own: Partial<WorkerOperations> = {}, change: (publish: Publish) => Publish = (publish) => publish) => {
    const noted = Object.keys(WORKER_OPERATIONS).map((name) => [
      name,
      async (...all: [never, never]) => {
        executed.push([name, ...all])
        return own[name as keyof WorkerOperations]?.(...all)
      },
    ])
    const serving = serveWorkerCalls({
      redis: createRedis(server.url, { role: 'consumer', log: LOG }),
      operations: Object.fromEntries(noted),
      concurrency: 2,
      publish: change(createPublish(publisher, LOG)),
      log: LOG,
    })
    undo.push(serving.stop)
    return serving
  }

  it('is executed once, by one of the APIs, with its arguments', async () => {
    serve({ renew: async () => true })
    serve({ renew: async () => true })
    expect(await calls.renew(RENEWAL)).toBe(true)
    expect(executed).toEqual([['renew', RENEWAL, { isRepeat: false }]])
  })

  it('passes errors with code and whether they can pass, and no text of others', async () => {
    serve({
      renew: () => Promise.reject(new DrapeError('GENERATION_CANCELLED', 'Over.')),
      start: () => Promise.reject(new Error('a secret')),
    })
    const refused = { code: 'GENERATION_CANCELLED', message: 'Over.', retryable: false }
    await expect(calls.renew(RENEWAL)).rejects.toMatchObject(refused)
    const failure = await calls.start({ id: 'gen_1', attempt: 1, worker: 'w' }).catch((error) => error)
    expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
    expect(failure.message).not.toContain('secret')
  })

  it('is not executed with other arguments than the operation has, nor by another name', async () => {
    serve()
    await expect(calls.renew({ ...RENEWAL, progress: 7 })).rejects.toMatchObject({ retryable: true })
    const call = { args: {}, id: '1', replyTo: 'x', until: Number.MAX_SAFE_INTEGER, isRepeat: false }
    for (const message of ['no JSON', JSON.stringify({ ...call, operation: 'constructor' })])
      await worker.client.rPush(WORKER_CALLS, message)
    await calls.findPhoto({ imageId: 'img_1' })
    expect(executed.map(([name]) => name)).toEqual(['findPhoto'])
  })

  it('is repeated, and says so, when its reply was lost', async () => {
    let replies = 0
    const loseFirst: (publish: Publish) => Publish = (publish) => (channel, message) => {
      if (++replies > 1) publish(channel, message)
    }
    serve({ complete: async () => true }, loseFirst)
    const outcome = {
      warnings: [],
      timings: {},
      category: null,
      engineInfo: { name: '', version: '', license: '', kind: '' },
    }
    const attempt = { id: 'gen_1', attempt: 1, accountId: 'acc_1', format: 'jpeg' } as const
    expect(await calls.complete({ ...attempt, outcome })).toBe(true)
    expect(executed.map((call) => call[2])).toEqual([{ isRepeat: false }, { isRepeat: true }])
  })

  it('waits for an API, and is dropped when its worker no longer waits', async () => {
    const abandoned = calls.renew(RENEWAL)
    await expect(abandoned).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
    const waiting = calls.findPhoto({ imageId: 'img_1' })
    serve({ findPhoto: async () => ({ objectKey: 'persons/1.jpg' }) })
    expect(await waiting).toEqual({ objectKey: 'persons/1.jpg' })
    expect(executed.map(([name]) => name)).toEqual(['findPhoto'])
  })

  it('survives a Redis that loses its data', async () => {
    serve({ findPhoto: async () => null })
    await calls.findPhoto({ imageId: 'img_1' })
    await server.kill()
    await until(async () => !worker.isReady())
    const waiting = calls.findPhoto({ imageId: 'img_2' })
    await server.restart()
    expect(await waiting).toBeNull()
  })
})
