import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { createDatabase } from '../api/shared/database/database.ts'
import { reserveFreePort } from '../scripts/stack/ports.ts'
import { type Drape, formOf, readSample, readSmallPerson, startDrape } from './support/drape.ts'
import { startOwnPostgres } from './support/postgres.ts'
import { spawnProcess, startProgram, type TestProcess } from './support/process.ts'
import { type OwnRedis, startOwnRedis } from './support/redis.ts'
import { requestService } from './support/request-service.ts'

const ORDER = {
  products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
  person: { image: { source: { fileKey: 'me' } } },
  output: { engine: 'mock' },
}

describe('starting and stopping', () => {
  const undo: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  async function startDrapeOver(redis: OwnRedis): Promise<Drape> {
    const drape = await startDrape({ env: { REDIS_URL: redis.url } })
    undo.push(() => drape.stop())
    return drape
  }
  const mockTryOn = async (drape: Drape) => {
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    return drape.call('POST', '/tryon/v1/try-on', { body: formOf(ORDER, { me, shirt }) })
  }
  const readiness = async (url: string) => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, body: (await response.json()) as { failed?: Record<string, string> } }
  }
  /** The worker has started: its probes distinguish a download from a start that hangs. */
  const expectWaiting = async (url: string) => {
    const reason = 'the files of fashn-vton are downloaded'
    await until(async () => (await readiness(url)).body.failed?.inference === reason)
    const answers = await Promise.all(
      ['accept=waiting', 'accept=other'].map((query) => fetch(`${url}/readyz?${query}`)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 503])
  }
  async function until<T>(look: () => Promise<T | false>): Promise<T> {
    for (;;) {
      const seen = await look().catch(() => false as const)
      if (seen !== false) return seen
      await sleep(50)
    }
  }

  it.each(['api', 'worker'] as const)(
    'the %s starts without Postgres and Redis, and reports both in its readiness',
    async (name) => {
      const [port, probe, gone] = await Promise.all([reserveFreePort(), reserveFreePort(), reserveFreePort()])
      await Promise.all([port, probe, gone].map(({ release }) => release()))
      const started: TestProcess = await spawnProcess({
        command: process.execPath,
        args: [`${name}/main.ts`],
        cwd: process.cwd(),
        env: {
          ...process.env,
          NODE_ENV: 'development',
          DATABASE_URL: `postgres://drape@127.0.0.1:${gone.port}/drape`,
          REDIS_URL: `redis://127.0.0.1:${gone.port}`,
          STORAGE_URL: `file:${process.env.TMPDIR ?? '/tmp'}/drape-away`,
          ...(name === 'worker' && {
            ENGINES: 'fashn-vton,mock',
            ENGINE_DIR: '/nowhere',
            DOWNLOADED_ENGINES: 'fashn-vton',
          }),
          PORT: String(port.port),
          PROBE_PORT: String(probe.port),
        },
      })
      undo.push(() => started.end())
      const ready = await until(() => readiness(`http://127.0.0.1:${probe.port}`))
      expect(ready.status).toBe(503)
      const checks = name === 'worker' ? ['redis'] : ['postgres', 'redis']
      expect(Object.keys(ready.body.failed ?? {})).toEqual(expect.arrayContaining(checks))
      const metrics = await (await fetch(`http://127.0.0.1:${probe.port}/metrics`)).text()
      for (const check of checks) expect(metrics).toContain(`\ndrape_ready{check="${check}"} 0\n`)
      expect((await fetch(`http://127.0.0.1:${probe.port}/healthz`)).status).toBe(200)
      if (name === 'worker') await expectWaiting(`http://127.0.0.1:${probe.port}`)
      expect(await started.end('SIGTERM')).toBe(0)
    },
  )

  it.each(['api/main.ts', 'controller/main.ts', 'controller/local.ts', 'scripts/drape.ts'])(
    '%s exits with 2 and one line for an address that cannot be parsed',
    async (program) => {
      const env = { DATABASE_URL: 'postgres://u:p@/db?host=/path&sslmod=require', REDIS_URL: 'redis://h' }
      const started = await spawnProcess({
        command: process.execPath,
        args: [program, ...(program === 'scripts/drape.ts' ? ['sweep'] : [])],
        cwd: process.cwd(),
        env: { ...process.env, ...env, NODE_ENV: 'development', RETENTION_FILE: 'none' },
      })
      expect(await started.ended).toBe(2)
      expect(started.output()).toMatch(
        /^The configuration is not valid: DATABASE_URL has the unknown parameter sslmod; [^\n]+\n$/,
      )
    },
  )

  it('API and worker start without Postgres and Redis, and work once both run, without a restart', async () => {
    const [postgres, redis, folder] = [
      await startOwnPostgres(),
      await startOwnRedis(),
      await requestService('folder', null),
    ]
    undo.push(
      () => redis.kill(),
      () => postgres.crash(),
    )
    const database = createDatabase(postgres.url, { poolSize: 1 })
    undo.push(() => database.end())
    const { apiKey } = await createAccounts(database).insert({ name: 'Test', email: null, credits: 1 })
    await Promise.all([postgres.crash(), redis.kill()])
    const env = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      STORAGE_URL: `file:${folder.path}`,
      ENGINES: 'mock',
    }
    const starting = Promise.all([startProgram('api', env), startProgram('worker', env)])
    // Time in which they fail to connect.
    await sleep(3000)
    await Promise.all([postgres.start(), redis.restart()])
    const programs = await starting
    undo.push(() => Promise.all(programs.map((program) => program.end())))
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    const response = await fetch(`${programs[0].url}/tryon/v1/try-on/sync`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: formOf(ORDER, { me, shirt }),
    })
    expect(await response.json()).toMatchObject({ status: 'COMPLETED' })
  })

  it('the API accepts without Redis, and the job runs once Redis is back', async () => {
    const redis = await startOwnRedis()
    undo.push(() => redis.kill())
    const drape = await startDrapeOver(redis)
    await drape.startWorker({ ENGINES: 'mock' })
    await redis.kill()
    const accepted = await mockTryOn(drape)
    expect(accepted.status).toBe(201)
    await until(async () => (await readiness(drape.api.probeUrl)).status === 503)
    // What alerts read: Redis is unavailable, and the slots are unknown instead of 0.
    await until(async () => {
      const text = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
      const isWaiting = text.includes('drape_generations_unfinished{engine="mock",state="waiting"} 1\n')
      return (
        isWaiting && !/^drape_(worker|engine)_slots\b/m.test(text) && /^drape_ready\{check="redis"\} 0$/m.test(text)
      )
    })
    await redis.restart()
    expect(await drape.finish(accepted.body.generationId)).toMatchObject({ status: 'COMPLETED' })
    await until(async () => (await readiness(drape.api.probeUrl)).status === 200)
  })

  it('no job is lost when Redis loses its data', async () => {
    const redis = await startOwnRedis()
    undo.push(() => redis.kill())
    const drape = await startDrapeOver(redis)
    const accepted = await Promise.all([mockTryOn(drape), mockTryOn(drape), mockTryOn(drape)])
    await sleep(700)
    await redis.restart()
    await drape.startWorker({ ENGINES: 'mock' })
    for (const { body } of accepted)
      expect(await drape.finish(body.generationId)).toMatchObject({ status: 'COMPLETED' })
  })

  it('a worker finishes its job on SIGTERM and exits with 0', async () => {
    const redis = await startOwnRedis()
    undo.push(() => redis.kill())
    const drape = await startDrapeOver(redis)
    const worker = await drape.startWorker({ ENGINES: 'mock' })
    const accepted = await Promise.all([mockTryOn(drape), mockTryOn(drape)])
    expect(await worker.end('SIGTERM')).toBe(0)
    const { body } = await drape.call('GET', `/tryon/v1/generations/${accepted[0].body.generationId}`)
    expect(body.status).not.toBe('PROCESSING')
    await drape.startWorker({ ENGINES: 'mock' })
    for (const { body } of accepted)
      expect(await drape.finish(body.generationId)).toMatchObject({ status: 'COMPLETED' })
  })
})
