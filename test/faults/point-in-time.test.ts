import { readFileSync } from 'node:fs'
import { chown, mkdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, rowType, sql } from '../../api/shared/database/database.ts'
import { migrate } from '../../api/shared/database/migrate.ts'
import { Type } from '../../api/shared/schema.ts'
import { findCommand, run } from '../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { waitForPostgres } from '../../scripts/stack/postgres.ts'
import { chooseIdentity, type Identity } from '../../scripts/stack/unprivileged.ts'
import { failUnlessAllowed } from '../support/missing.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const PAGE = readFileSync(resolve(import.meta.dirname, '../../charts/drape/docs/backup.md'), 'utf8')
const [enable, backUp, restore] = [
  ...PAGE.slice(PAGE.indexOf('## Point-in-time recovery')).matchAll(/^```sh\n(.*?)^```$/gms),
].map(([, block]) => block)

const programs = findCommand(['pg_config']) === undefined ? null : (await run('pg_config', ['--bindir'])).trim()
if (programs === null) failUnlessAllowed('No PostgreSQL with pg_basebackup.')

const Name = rowType(Type.Object({ name: Type.String() }))
const Now = rowType(Type.Object({ now: Type.String() }))

describe.skipIf(programs === null)('point-in-time recovery, word for word', () => {
  let folder: string
  let identity: Identity
  let env: Record<string, string>
  let url: string
  let restoredUrl: string

  beforeAll(async () => {
    folder = join((await requestService('folder', null)).path, 'recovery')
    await mkdir(folder)
    identity = await chooseIdentity(join(String(programs), 'postgres'), join(folder, 'data'))
    if (identity.owner !== undefined) await chown(folder, identity.owner.uid, identity.owner.gid)
    const [first, second] = [await reserveFreePort(), await reserveFreePort()]
    await Promise.all([first.release(), second.release()])
    url = `postgres://drape@127.0.0.1:${first.port}/drape`
    restoredUrl = `postgres://drape@127.0.0.1:${second.port}/drape`
    const paths = { PGDATA: 'data', ARCHIVE: 'archive', BACKUPS: 'backups', RESTORED: 'restored' }
    env = {
      ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, join(folder, path)])),
      ...{ DATABASE_URL: url, RESTORED_URL: restoredUrl, PORT: String(second.port), LC_ALL: 'C' },
      PATH: `${programs}:${process.env.PATH}`,
    }
    await follow('initdb --pgdata "$PGDATA" --username drape --auth trust --encoding UTF8 --no-locale')
    const settings = `port = ${first.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n`
    await follow(`cat >> "$PGDATA/postgresql.conf" <<'END'\n${settings}END`)
    await follow('pg_ctl --pgdata "$PGDATA" --log "$PGDATA/server.log" --silent start')
    await waitForPostgres(url, AbortSignal.timeout(30_000))
    await migrate(url)
  })
  afterAll(async () => {
    for (const name of ['PGDATA', 'RESTORED'])
      await follow(`pg_ctl --pgdata "$${name}" --mode immediate stop`).catch(() => {})
  })

  /** Runs commands as the owner of the data. */
  const follow = (commands: string, more: Record<string, string> = {}) => {
    const { command, args, ...ids } = identity.wrap('bash', ['-c', `set -eu\n${commands}`])
    return run(command, args, { ...ids, cwd: '/', env: { ...process.env, ...env, ...more } })
  }
  const inside = async <T>(at: string, work: (database: ReturnType<typeof createDatabase>) => Promise<T>) => {
    const database = createDatabase(at, { poolSize: 1 })
    try {
      return await work(database)
    } finally {
      await database.end()
    }
  }
  const add = (name: string) =>
    inside(url, (database) => database.query(sql.unsafe`insert into accounts (id, name) values (${name}, ${name})`))
  const names = (at: string) =>
    inside(at, (database) => database.anyFirst(sql.type(Name)`select name from accounts order by name`))
  const isArchiving = async () => (await follow(backUp.slice(backUp.indexOf('psql')))).trim()

  it('archives, keeps WAL while the archive is full, and catches up', async () => {
    await follow(enable)
    expect(await follow(backUp)).toBe('archiving works\n')
    await add('a')
    await inside(url, (database) => database.query(sql.unsafe`select pg_switch_wal()`))
    await until(async () => (await isArchiving()) === 'archiving works')
    // A file in its place: nothing can be written there.
    await rename(env.ARCHIVE, `${env.ARCHIVE}-away`)
    await writeFile(env.ARCHIVE, '')
    await add('b')
    await inside(url, (database) => database.query(sql.unsafe`select pg_switch_wal()`))
    await until(async () => (await isArchiving()) === 'archiving fails')
    await rename(env.ARCHIVE, `${env.ARCHIVE}-full`)
    await rename(`${env.ARCHIVE}-away`, env.ARCHIVE)
    await until(async () => (await isArchiving()) === 'archiving works')
    expect(await names(url)).toEqual(['a', 'b'])
  })

  it('restores the state before a mistake on another machine, and reports the duration', async () => {
    const target = await inside(url, (database) =>
      database.oneFirst(sql.type(Now)`select clock_timestamp()::text as now`),
    )
    await inside(url, (database) => database.query(sql.unsafe`delete from accounts`))
    await add('c')
    // The short archive_timeout bounds what a loss of the machine costs.
    await follow(`psql "$DATABASE_URL" -qc "alter system set archive_timeout = '1s'" -c 'select pg_reload_conf()'`)
    const committed = performance.now()
    const { name: file } = await inside(url, (database) =>
      database.one(sql.type(Name)`select pg_walfile_name(pg_current_wal_lsn()) as name`),
    )
    const switched = () =>
      inside(url, (database) =>
        database.oneFirst(sql.type(Name)`select (last_archived_wal >= ${file})::text as name from pg_stat_archiver`),
      )
    await until(async () => (await switched()) === 'true')
    const lossSeconds = (performance.now() - committed) / 1000
    const [base] = (await follow('ls -d "$BACKUPS"/*')).trim().split('\n')
    const started = performance.now()
    await follow(restore, { BASE: base, TARGET: target })
    const seconds = (performance.now() - started) / 1000
    console.log(`restored in ${seconds.toFixed(1)} s; archived ${lossSeconds.toFixed(1)} s after the commit`)
    expect(await names(restoredUrl)).toEqual(['a', 'b'])
    expect(await names(url)).toEqual(['c'])
    expect(seconds).toBeLessThan(60)
  })

  it('does not restore over an existing database', async () => {
    const [base] = (await follow('ls -d "$BACKUPS"/*')).trim().split('\n')
    for (const name of ['RESTORED', 'PGDATA'])
      await expect(follow(restore, { BASE: base, TARGET: 'now', RESTORED: env[name] })).rejects.toThrow('File exists')
    expect(await names(restoredUrl)).toEqual(['a', 'b'])
    expect(await names(url)).toEqual(['c'])
  })
})
