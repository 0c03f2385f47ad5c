import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ports, ReservedPort } from './ports.ts'
import { preparePostgres, waitForPostgres } from './postgres.ts'
import { findRedis, prepareRedis, waitForRedis } from './redis.ts'
import type { Supervisor } from './supervisor.ts'

export interface ServiceOptions {
  readonly supervisor: Supervisor
  readonly ports: Ports
  readonly dataFolder: string
  /** Allocated if undefined. */
  readonly port?: number
  /** False trades crash safety for speed: for tests only. */
  readonly durable?: boolean
  readonly say: (text: string) => void
  /** Aborts the wait. */
  readonly signal: AbortSignal
}

/** Starts a local database server and returns the URL of its database `drape` when it responds. */
export async function startPostgres(options: ServiceOptions): Promise<string> {
  const { supervisor, ports, dataFolder, port, durable, say, signal } = options
  say('Starting PostgreSQL …')
  const reserved = await reservePort('postgres', { ports, dataFolder, port })
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

/** Starts a local Redis server and returns its URL when it responds. */
export async function startRedis(options: ServiceOptions): Promise<string> {
  const { supervisor, ports, dataFolder, port, durable, say, signal } = options
  const program = await findRedis(say)
  say('Starting Redis …')
  const reserved = await reservePort('redis', { ports, dataFolder, port })
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

/** Without a given port, prefers the port of the last start, so that URLs stay the same. */
async function reservePort(
  name: string,
  { ports, dataFolder, port }: Pick<ServiceOptions, 'ports' | 'dataFolder' | 'port'>,
): Promise<ReservedPort> {
  if (port !== undefined) return ports.take(port)
  const path = join(dataFolder, 'run', `${name}.port`)
  const last = Number(await readFile(path, 'utf8').catch(() => ''))
  const reserved = await ports.takeFree(last > 0 && last < 65_536 ? last : undefined)
  await mkdir(join(dataFolder, 'run'), { recursive: true })
  await writeFile(path, String(reserved.port))
  return reserved
}
