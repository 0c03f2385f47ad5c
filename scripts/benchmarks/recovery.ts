import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createDatabase, type Database, rowType, sql } from '../../api/shared/database/database.ts'
import { migrate } from '../../api/shared/database/migrate.ts'
import { Type } from '../../api/shared/schema.ts'
import { createAccounts } from '../../api/stores/accounts.ts'
import { run } from '../stack/commands.ts'
import { reserveFreePort } from '../stack/ports.ts'
import { waitForPostgres } from '../stack/postgres.ts'
import { ROOT } from '../stack/session.ts'
import { chooseIdentity } from '../stack/unprivileged.ts'
import { insertEvents, insertGenerations } from './old-rows.ts'
import { insertSample } from './sample-data.ts'

// Measures how long backups and restores of a database take on this machine, and prints one line of JSON with sizes in MB and seconds:
// node scripts/benchmarks/recovery.ts [--megabytes 1000]
// Follows docs/backup.md of the chart: pg_dump and pg_restore, then a base backup and a restore to a point in time with the scripts of the chart.
// Requires an installed Postgres with pg_config.

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '1000' } } })
const wanted = Number(values.megabytes) * 1_000_000
/** Rows of each step while the database fills, in the ratio of the benchmark P17. */
const STEP = { generations: 25_000, events: 250_000 }
const CHANGED_SHARE = 0.1

const Size = rowType(Type.Object({ bytes: Type.Integer() }))
const Text = rowType(Type.Object({ text: Type.String() }))

const programs = (await run('pg_config', ['--bindir'])).trim()
const folder = await mkdtemp(join(tmpdir(), 'drape-recovery-'))
await chmod(folder, 0o755)
for (const name of ['archive', 'volume']) await mkdir(join(folder, name))
const identity = await chooseIdentity(join(programs, 'postgres'), join(folder, 'volume/drape'))
const { port, release } = await reserveFreePort()
await release()
const url = `postgres://drape@127.0.0.1:${port}/drape`
const scripts = join(folder, 'scripts')
const env = {
  ...{ PATH: `${programs}:${process.env.PATH}`, LC_ALL: 'C', KEEP: '2', EVERY_HOURS: '24' },
  ...{
    PGDATA: join(folder, 'volume/drape'),
    ARCHIVE: join(folder, 'archive'),
    DUMP: join(folder, 'archive/drape.dump'),
  },
  ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'drape', PGDATABASE: 'drape', PGPASSWORD: 'secret' },
}
let server: ChildProcess | null = null

try {
  await prepare()
  const database = createDatabase(url, { poolSize: 2, statementSeconds: 600 })
  const filled = await seconds(() => fill(database))
  const bytes = await sizeOf(database)
  const dump = await seconds(() => follow('pg_dump --format custom --file "$DUMP"'))
  const { size: dumpBytes } = await stat(env.DUMP)
  const base = await seconds(() => follow(`${scripts}/base-backup`))
  const baseBytes = await bytesBelow(join(env.ARCHIVE, 'base'))
  const logBefore = await bytesBelow(join(env.ARCHIVE, 'wal'))
  await change(database)
  const archived = await seconds(() => untilArchived(database))
  const logBytes = (await bytesBelow(join(env.ARCHIVE, 'wal'))) - logBefore
  const time = await readText(
    database,
    sql.type(Text)`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text`,
  )
  await sleep(1100)
  await database.query(sql.unsafe`delete from generations where id in (select id from generations limit 1000)`)
  const before = await readText(database, sql.type(Text)`select count(*)::text as text from generations`)
  await database.end()
  await end('SIGKILL')
  const pointInTime = await seconds(async () => {
    await follow(`${scripts}/with-lock ${scripts}/restore`, { RESTORE_TO: time })
    await start()
  })
  const restored = createDatabase(url, { poolSize: 1 })
  const after = await readText(restored, sql.type(Text)`select count(*)::text as text from generations`)
  await restored.end()
  const dumpRestore = await seconds(() =>
    follow(
      'dropdb --force drape; createdb drape; pg_restore --dbname drape --exit-on-error --single-transaction "$DUMP"',
    ),
  )
  const megabytes = (count: number) => Math.round(count / 1e6)
  console.log(
    JSON.stringify({
      processors: availableParallelism(),
      postgres: (await follow('postgres --version')).trim(),
      database: { megabytes: megabytes(bytes), fillSeconds: filled },
      dump: { seconds: dump, megabytes: megabytes(dumpBytes), restoreSeconds: dumpRestore },
      pointInTime: {
        baseSeconds: base,
        baseMegabytes: megabytes(baseBytes),
        logMegabytes: megabytes(logBytes),
        secondsUntilArchived: archived,
        restoreSeconds: pointInTime,
        restoredRows: Number(after) - Number(before),
      },
    }),
  )
} finally {
  await end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}

async function prepare(): Promise<void> {
  const { owner } = identity
  for (const name of ['archive', 'volume']) {
    if (owner !== undefined) await chown(join(folder, name), owner.uid, owner.gid)
  }
  await cp(join(ROOT, 'charts/drape/files/postgres'), scripts, { recursive: true })
  await follow('initdb --pgdata "$PGDATA" --username drape --auth trust --encoding UTF8 --no-locale')
  await start()
  await follow(`psql --quiet --command "alter role drape password 'secret'" postgres`)
  await migrate(url)
}

/** Runs commands as the owner of the data. */
function follow(commands: string, more: Record<string, string> = {}): Promise<string> {
  const { command, args, ...ids } = identity.wrap('sh', ['-c', `set -eu\n${commands}`])
  return run(command, args, { ...ids, cwd: '/', env: { ...process.env, ...env, ...more } })
}

/** Starts the server with the settings of the chart, and resolves when it accepts connections: after a restore. */
async function start(): Promise<void> {
  const settings = {
    ...{ archive_mode: 'on', archive_command: `${scripts}/archive-wal %p %f`, archive_timeout: '60s' },
    ...{ hba_file: join(scripts, 'pg_hba.conf'), port, listen_addresses: '127.0.0.1', unix_socket_directories: '' },
  }
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { command, args, ...ids } = identity.wrap(`${scripts}/with-lock`, ['postgres', '-D', env.PGDATA, ...given])
  server = spawn(command, args, { ...ids, cwd: '/', env: { ...process.env, ...env }, stdio: 'ignore' })
  await waitForPostgres(url, AbortSignal.timeout(600_000))
}

async function end(signal: NodeJS.Signals): Promise<void> {
  if (server === null || server.exitCode !== null) return
  server.kill(signal)
  await once(server, 'exit')
  server = null
  await follow('flock "$PGDATA.lock" true')
}

async function fill(database: Database): Promise<void> {
  const { id: accountId } = await createAccounts(database).insert({ name: 'Shop', email: null, credits: 100 })
  const sample = await insertSample({ database, accountId })
  while ((await sizeOf(database)) < wanted) {
    await insertGenerations({ database, accountId }, sample, STEP.generations)
    await insertEvents({ database, accountId }, STEP.events)
  }
}

/** Changes since the base backup, which a restore replays. */
async function change(database: Database): Promise<void> {
  await database.query(sql.unsafe`
    update generations set warnings = warnings, updated_at = now() where random() < ${CHANGED_SHARE}`)
  await database.query(sql.unsafe`update events set properties = properties where random() < ${CHANGED_SHARE}`)
}

/** The time until the last commit is in the archive bounds what is lost with the volume. */
async function untilArchived(database: Database): Promise<void> {
  const file = await readText(database, sql.type(Text)`select pg_walfile_name(pg_current_wal_lsn()) as text`)
  const isDone = () =>
    readText(database, sql.type(Text)`select (last_archived_wal >= ${file})::text as text from pg_stat_archiver`)
  while ((await isDone()) !== 'true') await sleep(200)
}

async function sizeOf(database: Database): Promise<number> {
  return (await database.one(sql.type(Size)`select pg_database_size(current_database()) as bytes`)).bytes
}

async function readText(database: Database, query: Parameters<Database['oneFirst']>[0]): Promise<string> {
  return String(await database.oneFirst(query))
}

async function bytesBelow(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return Math.round((performance.now() - started) / 100) / 10
}
