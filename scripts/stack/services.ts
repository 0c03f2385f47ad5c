import { join } from 'node:path'
import type { Ports } from './ports.ts'
import { preparePostgres, waitForPostgres } from './postgres.ts'
import { findRedis, prepareRedis, waitForRedis } from './redis.ts'
import type { Supervisor } from './supervisor.ts'

export interface ServiceOptions {
  readonly supervisor: Supervisor
  readonly ports: Ports
  readonly dataFolder: string
  /** Chosen when undefined. */
  readonly port?: number
  /** False gives up safety against a crash of the machine for speed: for tests only. */
  readonly durable?: boolean
  readonly say: (text: string) => void
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/** Starts a database server of our own and returns the URL of its database `drape`, once that answers. */
export async function startPostgres(options: ServiceOptions): Promise<string> {
  const { supervisor, ports, dataFolder, port, durable, say, signal } = options
  say('Starting PostgreSQL …')
  const reserved = await (port === undefined ? ports.takeFree() : ports.take(port))
  const { part, url } = await preparePostgres({
    dataFolder: join(dataFolder, 'postgres'),
    port: reserved.port,
    durable,
  })
  await reserved.release()
  await supervisor.start(part)
  await waitForPostgres(url, signal)
  return url
}

/** Starts a Redis server of our own and returns its URL, once it answers. */
export async function startRedis(options: ServiceOptions): Promise<string> {
  const { supervisor, ports, dataFolder, port, durable, say, signal } = options
  const program = await findRedis(say)
  say('Starting Redis …')
  const reserved = await (port === undefined ? ports.takeFree() : ports.take(port))
  const { part, url } = await prepareRedis({
    program,
    dataFolder: join(dataFolder, 'redis'),
    port: reserved.port,
    durable,
  })
  await reserved.release()
  await supervisor.start(part)
  await waitForRedis(url, signal)
  return url
}
