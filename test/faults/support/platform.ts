import { glob } from 'node:fs/promises'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createDatabase, type Database } from '../../../api/shared/database/database.ts'
import { encodeImage } from '../../../api/shared/image/image.ts'
import { createFileStorage } from '../../../api/shared/storage/file.ts'
import { type OwnPostgres, startOwnPostgres } from '../../support/postgres.ts'
import { startProgram, type TestProgram } from '../../support/process.ts'
import { useQuickEngine } from '../../support/quick-engine.ts'
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { recordHistory } from './history.ts'
import { type GarmentImages, serveImages } from './images.ts'
import type { World } from './invariants.ts'
import { countUnfinished } from './moments.ts'
import type { Random } from './random.ts'
import { openShop, type Shop } from './shop.ts'
import { createLink, type Link } from './tcp-proxy.ts'

/** Connections between the processes. */
export const LINKS = ['api-postgres', 'api-redis', 'worker-redis'] as const
export type LinkName = (typeof LINKS)[number]

/** A complete installation of real processes. All connections of APIs and workers to other processes pass a link. */
export interface Platform extends World {
  /** Connected directly, without a link. */
  readonly database: Database
  readonly postgres: OwnPostgres
  readonly redis: OwnRedis
  readonly links: Readonly<Record<LinkName, Link>>
  readonly images: GarmentImages
  readonly replicas: Fleet
  /**
   * Workers; a dead one is replaced immediately. Stopped at the end of the scenario. Without `env`, the next scenario without
   * `env` reuses them.
   */
  startWorkers(size: number, env?: Readonly<Record<string, string>>): Promise<Fleet>
  /** An account with credits, a photo and its generations. */
  openShop(options: { credits: number; at?: Fleet }): Promise<Shop>
  /** Another API replica, which is not one of `replicas`. */
  startReplica(env: Readonly<Record<string, string>>): Promise<Fleet>
  /** Resolves when all accepted generations have ended. */
  settle(): Promise<void>
  /** Log lines of crashes and unhandled rejections. Expected: none. */
  unexpectedErrors(): string[]
  stop(): Promise<void>
}

/** URL of the storage. */
export interface Store extends Pick<World, 'storage' | 'listResults'> {
  readonly env: Readonly<Record<string, string>>
}

export interface PlatformOptions {
  readonly random: Random
  /** API replicas. */
  readonly replicas?: number
  /** Default: a folder. */
  readonly store?: Store
  /** Data folder of the database. */
  readonly postgresFolder?: string
}

export async function startPlatform({
  random,
  replicas: size = 2,
  store: given,
  postgresFolder,
}: PlatformOptions): Promise<Platform> {
  const undo = new AsyncDisposableStack()
  const store = given ?? (await createFolderStore())
  const [postgres, redis] = await Promise.all([startOwnPostgres({ folder: postgresFolder }), startOwnRedis()])
  undo.defer(() => postgres.crash())
  undo.defer(() => redis.kill())
  const database = createDatabase(postgres.url, { poolSize: 4, statementSeconds: 60 })
  undo.defer(() => database.end())
  await useQuickEngine(database)
  await recordHistory(database)
  const image = await encodeImage(GREY, { format: 'jpeg' })
  const images = await serveImages(image)
  undo.defer(() => images.close())

  const links = {} as Record<LinkName, Link>
  for (const name of LINKS) {
    links[name] = await createLink(portOf(name.endsWith('redis') ? redis.url : postgres.url), random)
    undo.defer(() => links[name].close())
  }
  const envOf = (program: 'api' | 'worker') => ({
    DATABASE_URL: over(postgres.url, links['api-postgres']),
    REDIS_URL: over(redis.url, links[`${program}-redis`]),
    FETCH_ALLOW_CIDRS: '127.0.0.0/8',
    FETCH_ALLOW_PORTS: `80,443,${images.port}`,
    LOG_LEVEL: 'warn',
    ...store.env,
  })
  const programs: TestProgram[] = []
  const launch =
    (program: 'api' | 'worker', more: Readonly<Record<string, string>> = {}) =>
    async () => {
      const started = await startProgram(program, { ...envOf(program), ...more }, { separate: true })
      programs.push(started)
      return started
    }
  const replicas = await startFleet(launch('api', { LINGER_SECONDS: '2' }), size)
  undo.defer(() => replicas.stop())
  const idle: TestProgram[] = []
  const killIdle = () => Promise.all(idle.splice(0).map((worker) => worker.end('SIGKILL')))
  undo.defer(async () => void (await killIdle()))
  const { storage, listResults } = store

  return {
    database,
    storage,
    listResults,
    postgres,
    redis,
    links,
    images,
    replicas,
    startReplica: (more) => startFleet(launch('api', more), 1),
    startWorkers: async (count, more) => {
      const reused = more ? [] : idle.splice(0, count)
      // They would take jobs of the others.
      await killIdle()
      const fleet = await startFleet(launch('worker', { ENGINES: 'mock', ...more }), count, reused)
      undo.defer(() => fleet.stop())
      if (more) return fleet
      return { ...fleet, stop: async () => void idle.push(...(await fleet.release())) }
    },
    openShop: async ({ credits, at = replicas }) => {
      const account = await createAccounts(database).insert({ name: 'Shop', email: null, credits, settings: PLENTY })
      return openShop({ account, replicas: at, images, image })
    },
    settle: async () => {
      await until(async () => (await countUnfinished(database)) === 0)
    },
    unexpectedErrors: () => programs.flatMap((program) => program.output().match(UNEXPECTED_ERROR) ?? []),
    stop: () => undo.disposeAsync(),
  }
}

const PLENTY = { writesPerMinute: 1_000_000, readsPerMinute: 1_000_000 }
const GREY = { width: 80, height: 100, channels: 3 as const, data: new Uint8Array(80 * 100 * 3).fill(127) }
const UNEXPECTED_ERROR = /^.*(?:uncaught exception|unhandled rejection).*$/gm

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function over(url: string, link: Link): string {
  const changed = new URL(url)
  changed.port = String(link.port)
  return changed.href
}

async function createFolderStore(): Promise<Store> {
  const { path } = await requestService('folder', null)
  return {
    env: { STORAGE_URL: `file:${path}` },
    storage: createFileStorage({ root: path, publicUrl: 'http://127.0.0.1', signingSecret: 'unused' }),
    listResults: async () => {
      const found: string[] = []
      for await (const key of glob('results/*/*', { cwd: path })) found.push(key)
      return found
    },
  }
}
