import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createDatabase, type Database } from '../../api/shared/database/database.ts'
import { migrate } from '../../api/shared/database/migrate.ts'
import { readImageVariables } from '../stack/image-variables.ts'
import type { Part } from '../stack/part.ts'
import { createPorts } from '../stack/ports.ts'
import { startReaper } from '../stack/reaper.ts'
import { startPostgres, startRedis } from '../stack/services.ts'
import { createSupervisor } from '../stack/supervisor.ts'
import { type Program, startProgram } from './program.ts'

/** An account in a database. */
export interface Tenant {
  readonly database: Database
  readonly databaseUrl: string
  readonly accountId: string
  readonly apiKey: string
}

/** Resources of one benchmark: the shared database and account, and what it starts. */
export interface Bench extends Tenant {
  /** Directory of the logs. */
  readonly logFolder: string
  /** URLs of an API and of the baseline programs, shared by all benchmarks; both pinned to the same CPU and measured alternately. */
  servers(): Promise<{ api: string; anchor: string }>
  /** Starts an API with an empty database and an empty Redis. */
  startStack(options?: { env?: Readonly<Record<string, string>> }): Promise<Stack>
  /** Keeps a part running until all benchmarks end. */
  startPart(part: Part): Promise<void>
  /** Starts a baseline program with the benchmarks' Redis; `pinned` (the default): on the CPU of the APIs. */
  startBare(main: string, options?: { pinned?: boolean; env?: Readonly<Record<string, string>> }): Promise<Program>
  /** Runs when the benchmark has ended, also by an error, before its programs stop. */
  defer(undo: () => unknown): void
  /** Stops what the benchmark started. */
  stop(): Promise<void>
}

/** What all benchmarks share: a separate database, Redis and account. */
export interface Shared {
  /** Resources for one benchmark. */
  open(): Bench
  stop(): Promise<void>
}

export interface Stack extends Tenant {
  readonly redisUrl: string
  readonly api: Program
  /** Runs on the CPUs that the APIs do not use. */
  startWorker(env?: Readonly<Record<string, string>>): Promise<Program>
}

export const LIMITS = { writesPerMinute: 100_000_000, readsPerMinute: 100_000_000 }
/** Number of Redis databases; `servers` uses the first. */
const REDIS_DATABASES = 16
/** The limits of events, which are no subject of a benchmark. */
const EVENT_LIMITS = { EVENTS_PER_MINUTE: '100000000' }

export async function startBench({ root, say }: { root: string; say: (text: string) => void }): Promise<Shared> {
  const undo = new AsyncDisposableStack()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'drape-bench-'))
    // As root, the database runs as another user, who needs access.
    await chmod(folder, 0o755)
    const reaper = await startReaper({})
    reaper.remove(folder)
    undo.defer(() => reaper.close())
    const supervisor = createSupervisor({ reaper, logFolder: folder, say })
    undo.defer(() => supervisor.stop())
    const ports = createPorts()
    undo.defer(() => ports.giveBack())
    // Not durable: benchmarks measure Drape, not the disk.
    const services = {
      supervisor,
      ports,
      dataFolder: folder,
      durable: false,
      say,
      signal: new AbortController().signal,
    }
    const [databaseUrl, redisUrl] = await Promise.all([startPostgres(services), startRedis(services)])
    let started = 0
    const start = async (
      main: string,
      {
        pinned = true,
        env = {},
        scope = undo,
      }: { pinned?: boolean; env?: NodeJS.ProcessEnv; scope?: AsyncDisposableStack },
    ) => {
      const program = await startProgram({
        main,
        pinned,
        reaper,
        ports,
        cwd: root,
        logPath: join(folder, `${main.replaceAll('/', '-')}-${started++}.log`),
        env: {
          NODE_ENV: 'production',
          STORAGE_URL: `file:${join(folder, 'objects')}`,
          SIGNING_SECRET: 'a secret of the benchmarks',
          SECRETS_KEY: randomBytes(32).toString('hex'),
          ...readImageVariables('api'),
          REDIS_URL: redisUrl,
          ...env,
        },
      })
      scope.defer(() => program.stop())
      return program
    }

    let stacks = 0
    const startStack = async (scope: AsyncDisposableStack, env: Readonly<Record<string, string>>): Promise<Stack> => {
      const name = `stack_${stacks++}`
      const ownRedis = `${redisUrl}/${1 + (stacks % (REDIS_DATABASES - 1))}`
      await run(databaseUrl, `create database ${name}`)
      scope.defer(() => run(databaseUrl, `drop database ${name} with (force)`))
      const tenant = await openTenant(databaseUrl.replace(/[^/]+$/, name))
      scope.defer(() => tenant.database.end())
      const own = { ...env, DATABASE_URL: tenant.databaseUrl, REDIS_URL: ownRedis }
      const api = await start('api/main.ts', { env: own, scope })
      const startWorker: Stack['startWorker'] = (more = {}) =>
        start('worker/main.ts', { pinned: false, env: { ...own, PUBLIC_URL: api.url, ...more }, scope })
      return { ...tenant, redisUrl: ownRedis, api, startWorker }
    }

    const tenant = await openTenant(databaseUrl)
    undo.defer(() => tenant.database.end())
    const env = { ...EVENT_LIMITS, PROXY_HOPS: '1', DATABASE_URL: databaseUrl }
    const startServers = async () => ({
      api: (await start('api/main.ts', { env })).url,
      anchor: (await start('scripts/benchmarks/anchor-server.ts', { env })).url,
    })
    let servers: Promise<{ api: string; anchor: string }> | undefined
    const open = (): Bench => {
      const scope = new AsyncDisposableStack()
      return {
        ...tenant,
        logFolder: folder,
        startStack: ({ env: own = {} } = {}) => startStack(scope, own),
        startPart: (part) => supervisor.start(part),
        startBare: (main, options = {}) => start(main, { ...options, scope }),
        servers: () => {
          servers ??= startServers()
          return servers
        },
        defer: (work) => scope.defer(async () => void (await work())),
        stop: () => scope.disposeAsync(),
      }
    }
    return { open, stop: () => undo.disposeAsync() }
  } catch (error) {
    await undo.disposeAsync()
    throw error
  }
}

async function openTenant(databaseUrl: string): Promise<Tenant> {
  await migrate(databaseUrl)
  const database = createDatabase(databaseUrl, { poolSize: 2, statementSeconds: 600 })
  const { id: accountId, apiKey } = await createAccounts(database).insert({
    name: 'Bench',
    email: null,
    credits: 1_000_000_000,
    settings: LIMITS,
  })
  return { database, databaseUrl, accountId, apiKey }
}

/** Runs a statement outside a transaction. */
async function run(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
