import { randomUUID } from 'node:crypto'
import { chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExtendedKeyUsage } from '@peculiar/x509'
import pg from 'pg'
import { afterAll } from 'vitest'
import { createDatabase } from '../../api/shared/database/database.ts'
import { migrate } from '../../api/shared/database/migrate.ts'
import { openSession } from '../../api/shared/database/session.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { preparePostgres, waitForPostgres } from '../../scripts/stack/postgres.ts'
import { createAuthority } from './certificates.ts'
import { spawnProcess } from './process.ts'
import { createProcessRoles } from './process-roles.ts'
import { requestService } from './request-service.ts'

export interface TestDatabase {
  readonly url: string
  /** Closes open connections. */
  drop(): Promise<void>
}

/** An empty database with all migrations applied, for one test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { templateUrl } = await requestService('postgres', null)
  return createNamed(templateUrl, 'test', `template ${new URL(templateUrl).pathname.slice(1)} strategy file_copy`)
}

/** A database with all migrations applied, and connections to it, until the tests of the suite have ended. Call it in the suite itself. */
export async function openTestDatabase(options: Parameters<typeof createDatabase>[1]) {
  const { url, drop } = await createTestDatabase()
  const database = createDatabase(url, options)
  afterAll(async () => {
    await database.end()
    await drop()
  })
  return { database, url }
}

/** A database without any table, for one test file. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
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
export async function copyTestDatabase(url: string): Promise<TestDatabase> {
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

/**
 * Writes `ca.pem`, `other.pem` of another authority, and `server` and `client` as `.pem` and `.key` into the folder, owned by the owner of
 * the data in it, if any. The server is 127.0.0.1.
 */
async function writeCertificates(folder: string): Promise<void> {
  const { uid, gid } = await stat(join(folder, 'postgres')).catch(() => stat(folder))
  const [authority, other] = [await createAuthority(), await createAuthority('CN=Another authority, O=Example')]
  const server = await authority.issue({ address: '127.0.0.1', usages: [ExtendedKeyUsage.serverAuth] })
  const client = await authority.issue({ usages: [ExtendedKeyUsage.clientAuth] })
  const files = {
    'ca.pem': authority.certificate,
    'other.pem': other.certificate,
    'server.pem': server.certificates,
    'server.key': server.key,
    'client.pem': client.certificates,
    'client.key': client.key,
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o600 })
    await chown(join(folder, name), uid, gid)
  }
}

/** Lets the server in this folder accept encrypted connections, with new certificates in the folder. */
export async function encryptConnections(url: string, folder: string): Promise<void> {
  await writeCertificates(folder)
  const { client } = await openSession(url)
  const settings = { ssl_cert_file: 'server.pem', ssl_key_file: 'server.key', ssl_ca_file: 'ca.pem' }
  for (const [name, file] of Object.entries(settings))
    await client.query(`alter system set ${name} = '${join(folder, file)}'`)
  await client.query('alter system set ssl = on')
  await client.query('select pg_reload_conf()')
  await client.end()
}
