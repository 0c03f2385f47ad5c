import { join } from 'node:path'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { findRedis, prepareRedis, waitForRedis } from '../../scripts/stack/redis.ts'
import { spawnProcess } from './process.ts'
import { requestService } from './request-service.ts'

/** The URL of an empty database in the Redis that all test files share. Pub/sub channels are shared. */
export async function createTestRedis(): Promise<string> {
  return (await requestService('redis', null)).url
}

/** A Redis server of one test file, for tests that kill, freeze or wipe it. */
export interface OwnRedis {
  readonly url: string
  readonly pid: number
  /** Kills the server, which loses its data. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
}

/** Starts a server that stores nothing on disk, with these arguments. */
export async function startOwnRedis({ args = [] }: { args?: readonly string[] } = {}): Promise<OwnRedis> {
  const { path } = await requestService('folder', null)
  const { port, release } = await reserveFreePort()
  const program = await findRedis(() => {})
  const { part, url } = await prepareRedis({ program, dataFolder: join(path, 'redis'), port, durable: false })
  await release()
  const start = async () => {
    const started = await spawnProcess({ ...part, args: [...part.args, ...args] })
    await waitForRedis(url, AbortSignal.timeout(10_000))
    return started
  }
  let server = await start()
  return {
    url,
    get pid() {
      return server.pid
    },
    kill: async () => {
      await server.end('SIGKILL')
    },
    restart: async () => {
      await server.end('SIGKILL')
      server = await start()
    },
  }
}
