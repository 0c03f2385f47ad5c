import { chmod, mkdir, mkdtemp, statfs } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../api/shared/database/migrate.ts'
import { createPorts } from '../../scripts/stack/ports.ts'
import type { Stoppable } from '../../scripts/stack/processes.ts'
import { type Reaper, startReaper } from '../../scripts/stack/reaper.ts'
import { startPostgres, startRedis } from '../../scripts/stack/services.ts'
import { createSupervisor } from '../../scripts/stack/supervisor.ts'
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts'
import { findPrograms } from '../cluster/programs.ts'
import { createProcessRoles, createRedisUsers } from './process-roles.ts'

/**
 * Services for test files, which run in other processes. A service starts on its first request, so tests
 * of pure functions do not wait.
 */
export interface ServiceRequests {
  /** The URL of a migrated database that serves as template: no connection to it is allowed. */
  postgres: { body: null; answer: { templateUrl: string } }
  /** The URL of an empty Redis database for one test. Pub/sub channels are shared. */
  redis: { body: null; answer: { url: string } }
  /** Ends the process if it still runs after all tests. */
  guard: { body: Stoppable; answer: null }
  /** A Kubernetes control plane that all test files share, or why there is none; `pending`: ask again. */
  controlPlane: { body: null; answer: ControlPlane | { unavailable: string } | { pending: true } }
  /** A folder that is deleted after all tests. */
  folder: { body: null; answer: { path: string } }
}

/** A file system in memory: a database of a test, 800 files, is made there in a tenth of the processor time. */
const MEMORY = '/dev/shm'
const ROOM = 4 * 2 ** 30

type Handlers = {
  [K in keyof ServiceRequests]: (body: ServiceRequests[K]['body']) => Promise<ServiceRequests[K]['answer']>
}

/** Offers the services over HTTP on the loopback interface. */
export async function offerServices(): Promise<{ url: string; stop: () => Promise<void> }> {
  const undo = new AsyncDisposableStack()
  const handlers = createHandlers(undo)
  const server = createServer(async (request, response) => {
    try {
      const handle = handlers[request.url?.slice(1) as keyof Handlers] as (body: unknown) => Promise<unknown>
      response.end(JSON.stringify(await handle(await json(request))))
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  undo.defer(() => void server.close())
  const address = server.address()
  if (address === null || typeof address !== 'object') throw new Error('The services listen on no port')
  return { url: `http://127.0.0.1:${address.port}`, stop: () => undo.disposeAsync() }
}

function createHandlers(undo: AsyncDisposableStack): Handlers {
  const base = once(() => createBase(undo))
  const postgres = once(async () => {
    const parts = await base()
    const dataFolder = await makeFolder(parts, await findMemory())
    const templateUrl = await startPostgres({ ...parts, dataFolder, durable: false })
    await migrate(templateUrl)
    await createProcessRoles(templateUrl)
    return { templateUrl }
  })
  const redis = once(async () => createRedisUsers(await startRedis({ ...(await base()), durable: false })))
  const controlPlane = once(async () => {
    const programs = await findPrograms(process.env, (text) => console.warn(text))
    if ('unavailable' in programs) return programs
    const { supervisor, dataFolder } = await base()
    const started = await startControlPlane({
      folder: join(dataFolder, 'control-plane'),
      programs,
      start: (part) => supervisor.start(part),
    })
    return started.controlPlane
  })
  let redisDatabases = 0
  let folders = 0
  return {
    postgres,
    redis: async () => ({ url: `${await redis()}/${redisDatabases++}` }),
    // A build takes longer than the timeout of an HTTP client.
    controlPlane: () => Promise.race([controlPlane(), sleep(30_000, { pending: true as const }, { ref: false })]),
    guard: async (process) => {
      const { reaper } = await base()
      reaper.add(process)
      return null
    },
    folder: async () => {
      const path = join((await base()).dataFolder, `folder-${folders++}`)
      await mkdir(path)
      return { path }
    },
  }
}

async function createBase(undo: AsyncDisposableStack) {
  const reaper = await startReaper({})
  undo.defer(() => reaper.close())
  const dataFolder = await makeFolder({ reaper }, tmpdir())
  const supervisor = createSupervisor({ reaper, logFolder: dataFolder, say: () => {} })
  undo.defer(() => supervisor.stop())
  const never = new AbortController().signal
  return { reaper, supervisor, ports: createPorts(), dataFolder, say: () => {}, signal: never }
}

/** A folder that is deleted after all tests. */
async function makeFolder({ reaper }: { reaper: Reaper }, parent: string): Promise<string> {
  const folder = await mkdtemp(join(parent, 'drape-test-'))
  // As root, the database runs as another user, who needs access.
  await chmod(folder, 0o755)
  reaper.remove(folder)
  return folder
}

/** Where files are in memory, with room for the databases of all tests that run at the same time; else the usual place. */
async function findMemory(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize > ROOM ? MEMORY : tmpdir()
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
