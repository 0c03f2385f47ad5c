import { chown, cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../../api/shared/database/migrate.ts'
import { findCommand, run } from '../../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { waitForPostgres } from '../../../scripts/stack/postgres.ts'
import { chooseIdentity } from '../../../scripts/stack/unprivileged.ts'
import { findChart } from '../../chart/charts.ts'
import { named } from '../../chart/objects.ts'
import { failUnlessAllowed } from '../../support/missing.ts'
import { spawnProcess, type TestProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'

const SCRIPTS = '/etc/drape/postgres'
const programs = findCommand(['pg_config']) === undefined ? null : (await run('pg_config', ['--bindir'])).trim()
if (programs === null) failUnlessAllowed('No PostgreSQL with pg_basebackup.')
const chart = programs === null ? null : await findChart('drape')

export const canRunBundledPostgres = chart !== null

export type BundledPostgres = Awaited<ReturnType<typeof startBundledPostgres>>

/**
 * Starts the bundled Postgres with an archive: the containers of the chart's pods with the scripts, as processes with their commands, arguments
 * and variables. `clock`: variables of the server for a wrong clock.
 */
export async function startBundledPostgres(name: string, clock: Record<string, string> = {}) {
  const folder = join((await requestService('folder', null)).path, name)
  for (const part of ['', 'archive', 'volume']) await mkdir(join(folder, part))
  const identity = await chooseIdentity(join(String(programs), 'postgres'), join(folder, 'volume/drape'))
  const own = async (...parts: string[]) => {
    const { owner } = identity
    if (owner !== undefined) for (const part of parts) await chown(join(folder, part), owner.uid, owner.gid)
  }
  await own('', 'archive', 'volume')
  await cp(join(chart?.folder ?? '', 'files/postgres'), join(folder, 'scripts'), { recursive: true })
  const { port, release } = await reserveFreePort()
  await release()
  const url = `postgres://drape@127.0.0.1:${port}/drape`

  const objects = (await chart?.render({ set: { 'postgres.walArchive.enabled': true } })) ?? []
  const localize = (text: string) => text.replaceAll(SCRIPTS, join(folder, 'scripts'))
  const { containers, initContainers } = named(objects, 'StatefulSet', 'drape-postgres').spec.template.spec
  const [lock] = containers[0].command.map(localize)
  const args = containers[0].args.map(localize)
  const restoring = initContainers[0].command.map(localize).join(' ')
  const [backup] = named(objects, 'CronJob', 'drape-postgres-backup').spec.jobTemplate.spec.template.spec.containers
  const readEnv = (variable: string) => backup.env.find((one: { name: string }) => one.name === variable).value
  const env: Record<string, string> = {
    ...{ PGDATA: join(folder, 'volume/drape'), ARCHIVE: join(folder, 'archive'), LC_ALL: 'C' },
    ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'drape', PGDATABASE: 'drape', PGPASSWORD: 'secret' },
    ...{ EVERY_HOURS: readEnv('EVERY_HOURS'), KEEP: readEnv('KEEP'), PATH: `${programs}:${process.env.PATH}` },
  }

  let server: TestProcess | null = null
  /** Times between the added accounts. */
  const times: Record<string, string> = {}
  const postgres = {
    ...{ folder, env, url, times },
    /** Commands of a second server of this data directory, without a port, and of a restore. */
    serverCommand: `${lock} ${programs}/postgres -D ${env.PGDATA} -c listen_addresses= -c unix_socket_directories=${folder}`,
    restoreCommand: restoring,
    /** Runs commands as the owner of the data. */
    follow: (commands: string, more: Record<string, string> = {}) => {
      const { command, args, ...ids } = identity.wrap('sh', ['-c', `set -eu\n${commands}`])
      return run(command, args, { ...ids, cwd: '/', env: { ...process.env, ...env, ...more } })
    },
    script: (script: string, more: Record<string, string> = {}) =>
      postgres.follow(join(folder, 'scripts', script), more),
    restore: (time: string, more: Record<string, string> = {}) =>
      postgres.follow(restoring, { RESTORE_TO: time, ...more }),
    start: async (...more: string[]) => {
      const local = ['-c', `port=${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
      const started = await spawnProcess({
        ...identity.wrap(lock, [join(String(programs), 'postgres'), '-D', env.PGDATA, ...args, ...more, ...local]),
        cwd: '/',
        env: { ...process.env, ...env, ...clock },
      })
      server = started
      const failAtEnd = async () => {
        await started.ended
        throw new Error(started.output())
      }
      await Promise.race([waitForPostgres(url, AbortSignal.timeout(60_000)), failAtEnd()])
    },
    restoreTo: async (time: string, more: Record<string, string> = {}) => {
      const output = await postgres.restore(time, more)
      await postgres.start()
      return output
    },
    setClock: (wrong: Record<string, string>) => {
      clock = wrong
    },
    stop: async () => void (await server?.end('SIGINT')),
    /** SIGKILL to Postgres: nothing is written. Resolves when its last process has released the lock. */
    kill: async () => {
      await server?.end('SIGKILL')
      await postgres.follow('flock "$PGDATA.lock" true')
    },
    loseVolume: async () => {
      await rm(join(folder, 'volume'), { recursive: true })
      await mkdir(join(folder, 'volume'))
      await own('volume')
    },
    query: async (statement: string): Promise<readonly string[]> => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        return (await client.query(statement)).rows.map(({ name }) => name)
      } finally {
        await client.end()
      }
    },
    /** Adds an account, and notes a time between it and the next one. */
    add: async (account: string) => {
      await postgres.query(`insert into accounts (id, name) values ('${account}', '${account}') returning id as name`)
      const [at] = await postgres.query(
        `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as name from pg_sleep(1.1)`,
      )
      times[account] = at
      await postgres.query('select pg_sleep(1.1)::text as name')
    },
    names: () => postgres.query('select name from accounts order by name'),
    switchLog: () => postgres.query('select pg_switch_wal()::text as name'),
    baseBackups: async () => (await readdir(join(env.ARCHIVE, 'base'))).filter((file) => !file.startsWith('.')),
  }
  await postgres.follow('initdb --pgdata "$PGDATA" --username drape --auth trust --encoding UTF8 --no-locale')
  await postgres.start()
  await postgres.query("alter role drape password 'secret'")
  await migrate(url)
  return postgres
}
