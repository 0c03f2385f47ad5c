import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import type { AccountSettings } from '../../api/accounts/account-settings.ts'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createDatabase, type Database } from '../../api/shared/database/database.ts'
import { type Contract, createContract } from './contract.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { linesOf, startProgram, type TestProgram } from './process.ts'
import { useQuickEngine } from './quick-engine.ts'
import { createTestRedis } from './redis.ts'
import { requestService } from './request-service.ts'
import { TEST_SECRETS, TEST_SECRETS_KEY } from './secrets.ts'
import { until } from './until.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the service says, whatever its shape is
  readonly body: any
}

/** An API with its own database, Redis and storage, and an account. The test starts workers. */
export interface Drape {
  readonly api: TestProgram
  readonly database: Database
  readonly env: Readonly<Record<string, string>>
  readonly accountId: string
  readonly apiKey: string
  /** `separate`: in a process of its own, which the test can kill. */
  startWorker(env?: Readonly<Record<string, string>>, options?: { separate?: boolean }): Promise<TestProgram>
  createAccount(credits: number, settings?: AccountSettings): Promise<{ id: string; apiKey: string }>
  /**
   * A request with the account's key. A plain object is sent as JSON, FormData as multipart. Throws when the OpenAPI document
   * does not list the response.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Uploads a photo with these fields of the form, and returns the body of the response. */
  upload(file: Uint8Array, fields?: Readonly<Record<string, string | undefined>>, key?: string): Promise<Answer['body']>
  /** Posts a try-on with files, and returns its ID. If refused, throws with the last log lines of the API. */
  tryOn(body: unknown, files?: Readonly<Record<string, Uint8Array>>): Promise<string>
  /** Polls until the generation has ended. */
  finish(generationId: string): Promise<Answer['body']>
  balance(): Promise<number>
  stop(): Promise<void>
}

export interface CallOptions {
  readonly body?: unknown
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** A test sends in seconds what a caller sends in minutes. */
const PLENTY = { writesPerMinute: 1_000_000, readsPerMinute: 1_000_000 }
const PLENTY_OF_EVENTS = { EVENTS_PER_MINUTE: '10000000' }

/**
 * Workers run try-ons for the warp engine with the mock engine, which returns the photo and needs 10 s less processor time to
 * start. A test of results, or of refusals by the warp engine, sets `defaultEngines`.
 */
export async function startDrape({
  credits = 20,
  env = {},
  defaultEngines = false,
  separate = false,
  database: given,
}: {
  credits?: number
  env?: Record<string, string>
  defaultEngines?: boolean
  /** The API in a process of its own, which the test can kill. */
  separate?: boolean
  /** With all migrations applied; default: a new one. The processes connect to DATABASE_URL of `env`, if that is set. */
  database?: TestDatabase
} = {}): Promise<Drape> {
  const [testDatabase, redisUrl, folder] = await Promise.all([
    given ?? createTestDatabase(),
    createTestRedis(),
    requestService('folder', null),
  ])
  const variables = {
    DATABASE_URL: testDatabase.url,
    REDIS_URL: redisUrl,
    STORAGE_URL: `file:${folder.path}`,
    FETCH_ALLOW_CIDRS: '127.0.0.0/8',
    SECRETS_KEY: TEST_SECRETS_KEY,
    ...PLENTY_OF_EVENTS,
    ...env,
  }
  const database = createDatabase(testDatabase.url, { poolSize: 2, secrets: TEST_SECRETS })
  if (!defaultEngines) await useQuickEngine(database)
  const { id: accountId, apiKey } = await createAccounts(database).insert({
    name: 'Test',
    email: null,
    credits,
    settings: PLENTY,
  })
  const api = await startProgram('api', variables, { separate })
  const contract = await readContract(api.url, env.PUBLIC_URL ?? api.url)
  const workers: TestProgram[] = []

  const drape: Drape = {
    api,
    database,
    env: variables,
    accountId,
    apiKey,
    startWorker: async (more = {}, options) => {
      const engines = defaultEngines ? {} : { ENGINES: 'mock' }
      const worker = await startProgram('worker', { ...variables, ...engines, PUBLIC_URL: api.url, ...more }, options)
      workers.push(worker)
      return worker
    },
    createAccount: (amount, settings = PLENTY) =>
      createAccounts(database).insert({ name: 'Other', email: null, credits: amount, settings }),
    call: async (method, path, { body, key = apiKey, headers = {} } = {}) => {
      const isForm = body instanceof FormData
      const response = await fetch(`${api.url}${path}`, {
        method,
        headers: {
          ...(key !== null && { 'x-api-key': key }),
          ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: isForm || typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body),
      })
      const text = await response.text()
      const { status, headers: received } = response
      const contentType = received.get('content-type')
      const isText = /^text\/(html|csv)/.test(contentType ?? '')
      const answer = { status, headers: received, body: text === '' ? null : isText ? text : JSON.parse(text) }
      contract.hold({ method, path, contentType, ...answer })
      return answer
    },
    upload: async (file, fields = {}, key = apiKey) => {
      const body = formOf(undefined, { file })
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value)
      return (await drape.call('POST', '/tryon/v1/images/upload', { key, body })).body
    },
    tryOn: async (body, files = {}) => {
      const answer = await drape.call('POST', '/tryon/v1/try-on', { body: formOf(body, files) })
      if (answer.status === 201) return answer.body.generationId
      const reasons = linesOf(api.output()).flatMap(({ level, msg, err }) =>
        level === 'error' || level === 'warn' ? `${msg}: ${err?.stack ?? 'no error'}` : [],
      )
      throw new Error([`${answer.status}: ${JSON.stringify(answer.body)}`, ...reasons.slice(-5)].join(' | '))
    },
    finish: (generationId) =>
      until(async () => {
        const { body } = await drape.call('GET', `/tryon/v1/generations/${generationId}`)
        return (body.status === 'COMPLETED' || body.status === 'FAILED') && body
      }),
    balance: async () => (await drape.call('GET', '/tryon/v1/account/credits')).body.creditBalance,
    stop: async () => {
      await Promise.all([api, ...workers].map((program) => program.end()))
      await database.end()
      await testDatabase.drop()
    },
  }
  return drape
}

/** By document. Files of a worker share the compiled schemas. */
const contracts = new Map<string, Contract>()

/** The contract of the service at `url`, whose document differs from others by `publicUrl` only. */
async function readContract(url: string, publicUrl: string): Promise<Contract> {
  const document = await (await fetch(`${url}/tryon/v1/openapi.json`)).text()
  const shared = document.replaceAll(publicUrl, 'https://try.example')
  const contract = contracts.get(shared) ?? createContract(JSON.parse(shared))
  contracts.set(shared, contract)
  return contract
}

/** A multipart body: `data` as JSON, and named files. */
export function formOf(data: unknown, files: Readonly<Record<string, Uint8Array>>): FormData {
  const form = new FormData()
  if (data !== undefined) form.set('data', JSON.stringify(data))
  for (const [name, bytes] of Object.entries(files)) form.set(name, new Blob([new Uint8Array(bytes)]), `${name}.jpg`)
  return form
}

/** An image of `scripts/samples`, for example `persons/astronaut.jpg`. */
export function readSample(path: string): Promise<Buffer> {
  return readFile(new URL(`../../scripts/samples/${path}`, import.meta.url))
}

/** An image of the clone with at most 640 rows, of which a try-on by `warp` takes a third of the processor time. */
export async function shrink(path: string): Promise<Buffer> {
  // The API allows no files as sources of images.
  return sharp(await readFile(path))
    .resize({ height: 640, withoutEnlargement: true })
    .jpeg({ quality: 95 })
    .toBuffer()
}

/** The person of the workers' self-test, 200 px wide, for tests of anything but results: a worker analyses it in half the time. */
export function readSmallPerson(): Promise<Buffer> {
  return readFile(new URL('../../worker/inference/self-test/person.jpg', import.meta.url))
}
