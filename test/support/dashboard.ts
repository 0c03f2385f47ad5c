import { argon2Sync, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPages, type DashboardOptions } from '../../api/dashboard/all-pages.ts'
import { createDashboard } from '../../api/dashboard/dashboard.ts'
import { createOperatorSessions } from '../../api/dashboard/sign-in/operator-sessions.store.ts'
import { createOperators } from '../../api/dashboard/sign-in/operators.store.ts'
import { verifyPassword } from '../../api/dashboard/sign-in/password.ts'
import { createErasing } from '../../api/erasure/start.ts'
import { createEngineDirectory } from '../../api/generations/engines/directory.ts'
import { createPublishedEngines } from '../../api/generations/engines/published-engines.store.ts'
import { createDatabase, type Database, sql, withinTransaction } from '../../api/shared/database/database.ts'
import { createEngineCards } from '../../api/shared/engines/engine-cards.ts'
import { createGenerations } from '../../api/shared/generations/generations.store.ts'
import { createRedis } from '../../api/shared/queue/redis.ts'
import { createStorage } from '../../api/shared/storage/storage.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import { createTestDatabase } from './postgres.ts'
import { createTestRedis } from './redis.ts'
import { requestService } from './request-service.ts'
import { TEST_SECRETS } from './secrets.ts'
import { until } from './until.ts'

export const OPERATOR = { email: 'ada@example.com', password: 'correct horse battery' }

/** A hash of a password that costs nothing to verify; that of `hashPassword` costs 0.2 s of processor time each time. */
export function hashQuickly(password: string): string {
  const [nonce, cost] = [randomBytes(16), { memory: 8, passes: 1, parallelism: 1 }]
  const hash = argon2Sync('argon2id', { ...cost, message: Buffer.from(password), nonce, tagLength: 32 })
  const [salt, stored] = [nonce, hash].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${stored}`
}

const NO_QUEUE = { remove: async () => {} }

/** A page without its only allowed script, which copies texts. */
export function withoutOwnScript(text: string): string {
  return text.replace('<script src="/dashboard.js" defer></script>', '')
}

export interface PageAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The browser of an operator: stores cookies, and sends the forms of pages with the typed values. */
export interface OperatorBrowser {
  cookie: string
  get(path: string): Promise<PageAnswer>
  post(path: string, body: URLSearchParams | FormData, headers?: Record<string, string>): Promise<PageAnswer>
  /** Sends the form of this action that the page shows. */
  submit(page: string, action: string, typed?: Readonly<Record<string, string | Blob>>): Promise<PageAnswer>
}

/** The dashboard with its own database, Redis and storage. */
export interface TestDashboard {
  readonly url: string
  readonly database: Database
  readonly databaseUrl: string
  readonly storage: DashboardOptions['storage']
  readonly options: DashboardOptions
  /** Every route behind the sign-in, as `GET /accounts/:id`. */
  readonly routes: readonly string[]
  /** Number of computed password hashes. */
  countHashes(): number
  /** Runs `work` in a transaction that ends when `meanwhile` waits for it or is done. Returns the result of `meanwhile`. */
  overlap<T>(work: (within: Database) => Promise<unknown>, meanwhile: () => Promise<T>): Promise<T>
  openBrowser(): OperatorBrowser
  /** A browser in which this operator is signed in, without a counted attempt. */
  signIn(email?: string): Promise<OperatorBrowser>
  stop(): Promise<void>
}

export async function startDashboard({
  port = 0,
  ...options
}: Partial<DashboardOptions> & { port?: number } = {}): Promise<TestDashboard> {
  const [created, redisUrl, folder] = await Promise.all([
    createTestDatabase(),
    createTestRedis(),
    requestService('folder', null),
  ])
  const log = createLog({ process: 'api', level: 'silent' })
  const database = createDatabase(created.url, { poolSize: 3, secrets: TEST_SECRETS })
  const redis = createRedis(redisUrl, { role: 'producer', log })
  const storage = await createStorage(`file:${folder.path}`, { publicUrl: 'http://localhost', signingSecret: 'secret' })
  const passwordHash = hashQuickly(OPERATOR.password)
  await createOperators(database).insert({ email: OPERATOR.email, name: 'Ada', passwordHash, role: 'admin' })
  const engines = createEngineDirectory({
    redis,
    cards: createEngineCards(redis),
    published: createPublishedEngines(database),
    configured: [],
    now: Date.now,
  })
  let hashes = 0
  const all = {
    log,
    database,
    redis,
    storage,
    engines,
    origin: null,
    proxyHops: 0,
    // A test that opens every route must not wait for the end of events.
    stopping: AbortSignal.abort(),
    erase: createErasing(
      { database, storage },
      { generations: createGenerations(database), tryOnQueues: NO_QUEUE, prepareQueue: NO_QUEUE },
      { onErased: () => {} },
    ).erase,
    endpointRules: { allowCidrs: ['127.0.0.0/8'], allowPorts: [80, 443] },
    verifyPassword: (...given: Parameters<typeof verifyPassword>) => {
      hashes++
      return verifyPassword(...given)
    },
    ...options,
  } satisfies DashboardOptions
  const app = createDashboard(all)
  const { server, url } = await listen(createServer(app.callback()), port)
  const openBrowser = () => createOperatorBrowser(url)
  return {
    url,
    database,
    databaseUrl: created.url,
    storage,
    openBrowser,
    options: all,
    routes: createPages(all).map(({ route }) => route),
    countHashes: () => hashes,
    overlap: async (work, meanwhile) => {
      const [worked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const working = database.transaction(async (transaction) => {
        await work(withinTransaction(database, transaction))
        worked.resolve()
        await answered.promise
      })
      await Promise.race([worked.promise, working])
      const answer = meanwhile().finally(answered.resolve)
      const isLocked = sql.unsafe`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await Promise.race([answered.promise, until(() => database.exists(isLocked))])
      answered.resolve()
      await working
      return answer
    },
    signIn: async (email = OPERATOR.email) => {
      const operator = await createOperators(database).findSecret(email)
      if (operator === null) throw new Error(`There is no operator ${email}`)
      const browser = openBrowser()
      browser.cookie = `drape-operator=${await createOperatorSessions(database).insert(operator.id)}`
      return browser
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await redis.close()
      storage.close()
      await database.end()
      await created.drop()
    },
  }
}

async function listen(server: Server, port: number): Promise<{ server: Server; url: string }> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function createOperatorBrowser(url: string): OperatorBrowser {
  const ask = async (path: string, init: RequestInit = {}): Promise<PageAnswer> => {
    const headers = { cookie: browser.cookie, ...(init.headers as Record<string, string>) }
    const answer = await fetch(`${url}${path}`, { redirect: 'manual', ...init, headers })
    browser.cookie = withCookies(browser.cookie, answer.headers.getSetCookie())
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const browser: OperatorBrowser = {
    cookie: '',
    get: (path) => ask(path),
    post: (path, body, headers = {}) => ask(path, { method: 'POST', body, headers: { origin: url, ...headers } }),
    submit: async (page, action, typed = {}) => {
      const { text } = await browser.get(page)
      const fields = { ...readFormFields(text, action), ...typed }
      const isUpload = Object.values(fields).some((value) => value instanceof Blob)
      const body = isUpload ? new FormData() : new URLSearchParams()
      for (const [name, value] of Object.entries(fields)) body.set(name, value as string)
      return browser.post(action, body)
    },
  }
  return browser
}

function withCookies(held: string, set: readonly string[]): string {
  const pairs = [...held.split('; '), ...set.map((cookie) => cookie.split(';')[0])].filter(Boolean)
  return [...new Map(pairs.map((pair) => [pair.split('=')[0], pair])).values()].join('; ')
}

/** The values of a form before any input. Throws if the page has no form with this action. */
export function readFormFields(page: string, action: string): Record<string, string> {
  const form = page.split('<form').find((part) => part.includes(`method="post" action="${action}"`))
  if (form === undefined) throw new Error(`There is no form of ${action}:\n${page}`)
  const own = form.slice(0, form.indexOf('</form>'))
  const inputs = [...own.matchAll(/<input[^>]*>/g)].flatMap(([input]) => {
    const [name, value, type] = ['name', 'value', 'type'].map((key) => input.match(` ${key}="([^"]*)"`)?.[1] ?? '')
    return type === 'file' || (type === 'checkbox' && !input.includes(' checked')) ? [] : [[name, unescapeText(value)]]
  })
  const selects = [...own.matchAll(/<select[^>]* name="([^"]*)".*?<\/select>/gs)].map(([select, name]) => [
    name,
    (select.match(/value="([^"]*)" selected/) ?? select.match(/value="([^"]*)"/))?.[1] ?? '',
  ])
  const texts = [...own.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n(.*?)<\/textarea>/gs)].map(([, name, text]) => [
    name,
    unescapeText(text),
  ])
  return Object.fromEntries([...inputs, ...selects, ...texts])
}

function unescapeText(text: string): string {
  return text.replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
}
