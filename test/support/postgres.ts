import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../api/shared/database/migrate.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { preparePostgres, waitForPostgres } from '../../scripts/stack/postgres.ts'
import { spawnProcess } from './process.ts'
import { createProcessRoles } from './process-roles.ts'
import { requestService } from './request-service.ts'

/** An empty database with all migrations applied, for one test file. `drop` closes open connections. */
export async function createTestDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const { templateUrl } = await requestService('postgres', null)
  return createNamed(templateUrl, 'test', `template ${new URL(templateUrl).pathname.slice(1)}`)
}

/** A database without any table, for one test file. */
export async function createEmptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  return createNamed((await requestService('postgres', null)).templateUrl, 'empty')
}

async function createNamed(templateUrl: string, prefix: string, options = '') {
  const name = `${prefix}_${randomUUID().replaceAll('-', '')}`
  await maintain(templateUrl, `create database ${name} ${options}`)
  return {
    url: withDatabase(templateUrl, name),
    drop: () => maintain(templateUrl, `drop database if exists ${name} with (force)`),
  }
}

/** A copy of a database in use, as a separate database. Closes its connections during the copy. */
export async function copyTestDatabase(url: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = new URL(url).pathname.slice(1)
  const copy = `copy_${randomUUID().replaceAll('-', '')}`
  await maintain(url, `alter database ${name} allow_connections false`)
  try {
    await maintain(url, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
    await maintain(url, `create database ${copy} template ${name}`)
  } finally {
    await maintain(url, `alter database ${name} allow_connections true`)
  }
  await maintain(url, `alter database ${copy} allow_connections true`)
  return { url: withDatabase(url, copy), drop: () => maintain(url, `drop database if exists ${copy} with (force)`) }
}

async function maintain(templateUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(templateUrl, 'postgres') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** A database server of one test file, for tests that stop it. Keeps committed data. */
export interface OwnPostgres {
  /** URL of a database with all migrations applied. */
  readonly url: string
  /** Kills the server without a checkpoint and without waiting for clients, as a crash does. */
  crash(): Promise<void>
  /** Starts it again on the same port, and resolves when it responds. */
  start(): Promise<void>
}

/** Starts a server with its data in `folder`, by default a folder that is deleted after all tests, and with these settings. */
export async function startOwnPostgres({
  folder,
  settings = [],
}: {
  folder?: string
  settings?: readonly string[]
} = {}): Promise<OwnPostgres> {
  const dataFolder = join(folder ?? (await requestService('folder', null)).path, 'postgres')
  const { port, release } = await reserveFreePort()
  const { part, url } = await preparePostgres({ dataFolder, port })
  await release()
  const start = async () => {
    await part.prepare?.()
    const started = await spawnProcess({ ...part, args: [...part.args, ...settings.flatMap((one) => ['-c', one])] })
    await waitForPostgres(url, AbortSignal.timeout(60_000))
    return started
  }
  let server = await start()
  await migrate(url)
  await createProcessRoles(url)
  return {
    url,
    crash: async () => {
      await server.end('SIGQUIT')
    },
    start: async () => {
      server = await start()
    },
  }
}
