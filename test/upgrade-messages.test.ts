import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowType, sql } from '../api/shared/database/database.ts'
import {
  GenerationChangeSchema,
  generationChannel,
  PrepareJobSchema,
  QueuedTryOnSchema,
  TryOnJobSchema,
} from '../api/shared/generation.ts'
import { WorkerReportSchema } from '../api/shared/pool-registry.ts'
import { compileCheck, type TSchema, Type } from '../api/shared/schema.ts'
import { ROOT } from '../scripts/stack/session.ts'
import { type Drape, formOf, readSample, startDrape } from './support/drape.ts'
import type { TestProgram } from './support/process.ts'
import { until } from './support/until.ts'

/** Messages between processes, which can be of different releases during an upgrade and after a rollback. */
const SCHEMAS = {
  'try-on job': TryOnJobSchema,
  'queued try-on': QueuedTryOnSchema,
  'prepare job': PrepareJobSchema,
  'worker report': WorkerReportSchema,
  'generation change': GenerationChangeSchema,
} as const satisfies Readonly<Record<string, TSchema>>
type Kind = keyof typeof SCHEMAS

/** What the processes of a release sent, and what they understood. */
interface Recorded {
  readonly version: string
  readonly messages: Readonly<Record<Kind, { readonly schema: TSchema; readonly sent: readonly unknown[] }>>
}

const FOLDER = join(ROOT, 'test/fixtures/messages')
const POD = 'drape-cpu-workers-x7k2p'
const Payload = rowType(Type.Object({ payload: Type.Unknown() }))
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))

describe('messages of other releases', () => {
  let drape: Drape
  let worker: TestProgram
  let redis: ReturnType<typeof createClient>
  const sent: Record<Kind, unknown[]> = {
    ...{ 'try-on job': [], 'queued try-on': [], 'prepare job': [], 'worker report': [], 'generation change': [] },
  }

  beforeAll(async () => {
    drape = await startDrape()
    redis = createClient({ url: drape.env.REDIS_URL })
    await redis.connect()
    const listener = redis.duplicate()
    await listener.connect()
    await listener.pSubscribe(generationChannel('*'), (text) => sent['generation change'].push(JSON.parse(text)))
    // Accepted before a worker runs: the jobs wait in outbox and queue.
    const ids = [await order(), await order()]
    sent['try-on job'] = await readPayloads(ids)
    worker = await drape.startWorker({ POOL: 'cpu', POD_NAME: POD })
    for (const id of ids) expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED' })
    sent['worker report'] = [JSON.parse(await until(() => redis.get(`drape:pool-worker:${POD}`)))]
    sent['prepare job'] = [await capturePreparation()]
    sent['queued try-on'] = [await captureQueued()]
    await listener.close()
    if (process.env.RECORD_MESSAGES === '1') await record()
  })
  afterAll(async () => {
    await redis?.close()
    await drape?.stop()
  })

  const order = async () => {
    const [me, shirt] = await Promise.all(['persons/down-half-teal.jpg', 'garments/tshirt-navy.jpg'].map(readSample))
    return drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }], title: 'Shirt', type: 'top' }],
        person: { image: { source: { fileKey: 'me' } }, externalId: 'user-1042' },
      },
      { me, shirt },
    )
  }
  const readPayloads = async (ids: readonly string[]) =>
    (
      await drape.database.any(
        sql.type(Payload)`select payload from outbox where generation_id = any(${sql.array([...ids], 'text')})`,
      )
    ).map(({ payload }) => payload)
  /** The job of an upload, which the frozen worker does not take. */
  const capturePreparation = async () => {
    process.kill(worker.pid, 'SIGSTOP')
    try {
      const form = formOf(undefined, { file: await readSample('persons/down-half-teal.jpg') })
      const uploading = drape.call('POST', '/tryon/v1/images/upload', { body: form })
      const key = await until(async () => (await redis.keys('*:prepare:prepare-*'))[0])
      const data = JSON.parse((await redis.hGet(key, 'data')) ?? 'null')
      process.kill(worker.pid, 'SIGCONT')
      expect((await uploading).status).toBe(201)
      return data
    } finally {
      process.kill(worker.pid, 'SIGCONT')
    }
  }
  /** What the queue holds of a try-on, which the frozen worker does not take. */
  const captureQueued = async () => {
    process.kill(worker.pid, 'SIGSTOP')
    const id = await order()
    const key = await until(async () => (await redis.keys(`*:${id}-1`))[0])
    const data = JSON.parse((await redis.hGet(key, 'data')) ?? 'null')
    process.kill(worker.pid, 'SIGCONT')
    expect(await drape.finish(id)).toMatchObject({ status: 'COMPLETED' })
    return data
  }
  const record = async () => {
    const messages = Object.fromEntries(
      Object.entries(SCHEMAS).map(([kind, schema]) => [kind, { schema, sent: sent[kind as Kind] }]),
    )
    await mkdir(FOLDER, { recursive: true })
    await writeFile(join(FOLDER, `${version}.json`), `${JSON.stringify({ version, messages }, null, 1)}\n`)
  }
  const readRecords = async (): Promise<Recorded[]> =>
    Promise.all((await readdir(FOLDER)).map(async (name) => JSON.parse(await readFile(join(FOLDER, name), 'utf8'))))
  const problemsOf = (schema: TSchema, messages: readonly unknown[]) =>
    messages.flatMap((message) => {
      const result = compileCheck(schema)(structuredClone(message))
      return result.ok ? [] : result.problems.map(({ path, message }) => `${path} ${message}`)
    })

  it('are recorded for the version of the package', async () => {
    const records = await readRecords()
    expect(records.map((recorded) => recorded.version)).toContain(version)
    for (const { messages } of records)
      for (const kind of Object.keys(SCHEMAS)) expect(messages[kind as Kind].sent, kind).not.toEqual([])
  })

  it('are understood, of every recorded release', async () => {
    for (const recorded of await readRecords()) {
      for (const [kind, schema] of Object.entries(SCHEMAS)) {
        const { sent } = recorded.messages[kind as Kind]
        expect(problemsOf(schema, sent), `${kind} of ${recorded.version}`).toEqual([])
      }
    }
  })

  it('of this version are understood by every recorded release', async () => {
    for (const recorded of await readRecords()) {
      for (const kind of Object.keys(SCHEMAS) as Kind[]) {
        expect(sent[kind], kind).not.toEqual([])
        expect(problemsOf(recorded.messages[kind].schema, sent[kind]), `${kind} by ${recorded.version}`).toEqual([])
      }
    }
  })

  it('are processed: a job with the members of every recorded release', async () => {
    for (const recorded of await readRecords()) {
      process.kill(worker.pid, 'SIGSTOP')
      const id = await order()
      const key = await until(async () => (await redis.keys(`*:${id}-1`))[0])
      const job = JSON.parse((await redis.hGet(key, 'data')) ?? 'null')
      const [earlier] = recorded.messages['queued try-on'].sent
      await redis.hSet(key, 'data', JSON.stringify(inShapeOf(earlier, job)))
      process.kill(worker.pid, 'SIGCONT')
      expect(await drape.finish(id), recorded.version).toMatchObject({ status: 'COMPLETED' })
    }
  })

  it('with a member that earlier releases do not send are found', () => {
    const schema = Type.Object({ ...PrepareJobSchema.properties, edition: Type.Integer() })
    expect(problemsOf(schema, sent['prepare job'])).not.toEqual([])
  })
})

/** The members of `earlier` with the values of `now`: other IDs and times cannot be processed. */
function inShapeOf(earlier: unknown, now: unknown): unknown {
  if (Array.isArray(earlier) && Array.isArray(now))
    return now.map((value, index) => inShapeOf(earlier[index] ?? value, value))
  if (!isObject(earlier) || !isObject(now)) return now
  return Object.fromEntries(
    Object.entries(earlier).map(([name, value]) => [name, name in now ? inShapeOf(value, now[name]) : value]),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
