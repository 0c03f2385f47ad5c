import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { run } from './commands.ts'
import type { Part } from './part.ts'
import { findPostgres, type PostgresBinaries } from './postgres-binaries.ts'
import { inspectProcess } from './processes.ts'
import { chooseIdentity, type Identity } from './unprivileged.ts'

export interface PostgresPart {
  readonly part: Part
  /** URL of the database `drape`. */
  readonly url: string
}

const USER = 'drape'

/**
 * Prepares a database server on 127.0.0.1 with its data in `dataFolder`, created on first use. `durable: false` trades
 * crash safety for speed: for tests only.
 */
export async function preparePostgres(options: {
  dataFolder: string
  port: number
  durable?: boolean
}): Promise<PostgresPart> {
  const { dataFolder, port, durable = true } = options
  const binaries = await findPostgres(dataFolder)
  const identity = await chooseIdentity(binaries.postgres, dataFolder)
  const password = await readPassword(`${dataFolder}-password`, identity)
  await createCluster({ dataFolder, binaries, identity, durable })
  const settings = serverSettings(port, durable).flatMap((setting) => ['-c', setting])
  const part: Part = {
    name: 'postgres',
    ...identity.wrap(binaries.postgres, ['-D', dataFolder, ...settings]),
    // Any directory that its user may enter.
    cwd: '/',
    env: { ...process.env, LC_ALL: 'C' },
    // Fast shutdown: terminates sessions and flushes data.
    signal: 'SIGINT',
    graceSeconds: 20,
    stage: 0,
    prepare: () => removeStalePidFile(dataFolder),
  }
  return { part, url: `postgres://${USER}:${password}@127.0.0.1:${port}/drape` }
}

/** Also enough for a busy machine, on which a server that has just started takes seconds to respond. */
const CONNECT_MS = 60_000

/** Resolves when the server responds and the database of the URL exists. */
export async function waitForPostgres(url: string, signal: AbortSignal): Promise<void> {
  const maintenance = new URL(url)
  const name = maintenance.pathname.slice(1)
  maintenance.pathname = '/postgres'
  for (;;) {
    const client = new pg.Client({ connectionString: maintenance.href, connectionTimeoutMillis: CONNECT_MS })
    try {
      await client.connect()
      const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
      if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`)
      return
    } catch (error) {
      if (!isStarting(error)) throw error
    } finally {
      await client.end().catch(() => {})
    }
    await sleep(50, undefined, { signal })
  }
}

function serverSettings(port: number, durable: boolean): string[] {
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    // The socket path in the clone could exceed the system's limit.
    'unix_socket_directories=',
    'max_connections=300',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ]
}

async function readPassword(path: string, { owner }: Identity): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    const password = randomBytes(24).toString('hex')
    await writeFile(path, password, { mode: 0o600 })
    if (owner !== undefined) await chown(path, owner.uid, owner.gid)
    return password
  }
}

async function createCluster(options: {
  dataFolder: string
  binaries: PostgresBinaries
  identity: Identity
  durable: boolean
}): Promise<void> {
  const { dataFolder, binaries, identity, durable } = options
  if (existsSync(dataFolder)) return
  // Created under another name: an interrupted start leaves no incomplete database.
  const unfinished = `${dataFolder}-unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  if (identity.owner !== undefined) await chown(unfinished, identity.owner.uid, identity.owner.gid)
  const { command, args, ...ids } = identity.wrap(binaries.initdb, [
    ...['-D', unfinished, '-U', USER, `--pwfile=${dataFolder}-password`, '--auth=scram-sha-256'],
    // The same on every machine, independent of its locales.
    ...['--encoding=UTF8', '--no-locale'],
    ...(durable ? [] : ['--no-sync']),
  ])
  await run(command, args, { ...ids, cwd: '/', env: { ...process.env, LC_ALL: 'C' } })
  await rename(unfinished, dataFolder)
}

/**
 * The server refuses to start if the process in its pid file is running. After a kill and a reboot that pid can belong to
 * another process.
 */
async function removeStalePidFile(dataFolder: string): Promise<void> {
  const path = join(dataFolder, 'postmaster.pid')
  const pid = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10)
  if (Number.isNaN(pid)) return
  const holder = inspectProcess(pid)
  if (holder !== undefined && !holder.command.includes(dataFolder)) await rm(path, { force: true })
}

// 57P03 is cannot_connect_now: starting up or recovering.
function isStarting(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === '57P03'
}
