import { chown, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, pingDatabase } from '../../api/shared/database/database.ts'
import { translateDatabaseError } from '../../api/shared/database/errors.ts'
import { migrate } from '../../api/shared/database/migrate.ts'
import { findCommand, run } from '../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { waitForPostgres } from '../../scripts/stack/postgres.ts'
import { chooseIdentity, type Identity } from '../../scripts/stack/unprivileged.ts'
import { findChart } from '../chart/charts.ts'
import { named } from '../chart/objects.ts'
import { failUnlessAllowed } from '../support/missing.ts'
import { spawnProcess, type TestProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const SCRIPTS = '/etc/drape/postgres'
const programs = findCommand(['pg_config']) === undefined ? null : (await run('pg_config', ['--bindir'])).trim()
if (programs === null) failUnlessAllowed('No PostgreSQL with pg_basebackup.')
const chart = programs === null ? null : await findChart('drape')

/** The containers of the chart's pods with the scripts, as processes: with their commands, arguments and variables. */
describe.skipIf(chart === null)('the bundled Postgres with an archive', { timeout: 240_000 }, () => {
  let folder: string
  let identity: Identity
  let url: string
  let port: number
  let args: string[]
  let env: Record<string, string>
  let server: TestProcess | null = null
  const times: Record<string, string> = {}

  beforeAll(async () => {
    folder = join((await requestService('folder', null)).path, 'bundled')
    for (const name of ['', 'archive', 'volume']) await mkdir(join(folder, name))
    identity = await chooseIdentity(join(String(programs), 'postgres'), join(folder, 'volume/drape'))
    await cp(join(chart?.folder ?? '', 'files/postgres'), join(folder, 'scripts'), { recursive: true })
    if (identity.owner !== undefined) {
      const { uid, gid } = identity.owner
      for (const name of ['', 'archive', 'volume']) await chown(join(folder, name), uid, gid)
    }
    const reserved = await reserveFreePort()
    await reserved.release()
    port = reserved.port
    url = `postgres://drape@127.0.0.1:${port}/drape`
    const objects = (await chart?.render({ set: { 'postgres.walArchive.enabled': true } })) ?? []
    const { containers } = named(objects, 'StatefulSet', 'drape-postgres').spec.template.spec
    args = containers[0].args.map((text: string) => text.replaceAll(SCRIPTS, join(folder, 'scripts')))
    const [backup] = named(objects, 'CronJob', 'drape-postgres-backup').spec.jobTemplate.spec.template.spec.containers
    const { value: hours } = backup.env.find(({ name }: { name: string }) => name === 'EVERY_HOURS')
    const { value: keep } = backup.env.find(({ name }: { name: string }) => name === 'KEEP')
    env = {
      ...{ PGDATA: join(folder, 'volume/drape'), ARCHIVE: join(folder, 'archive'), LC_ALL: 'C' },
      ...{ PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'drape', PGDATABASE: 'drape', PGPASSWORD: 'secret' },
      ...{ EVERY_HOURS: hours, KEEP: keep, PATH: `${programs}:${process.env.PATH}` },
    }
    await follow('initdb --pgdata "$PGDATA" --username drape --auth trust --encoding UTF8 --no-locale')
    await start()
    await query("alter role drape password 'secret'")
    await migrate(url)
  })
  afterAll(() => kill())

  /** Runs commands as the owner of the data. */
  const follow = (commands: string, more: Record<string, string> = {}) => {
    const { command, args, ...ids } = identity.wrap('sh', ['-c', `set -eu\n${commands}`])
    return run(command, args, { ...ids, cwd: '/', env: { ...process.env, ...env, ...more } })
  }
  const script = (name: string, more: Record<string, string> = {}) => follow(join(folder, 'scripts', name), more)
  const start = async (...more: string[]) => {
    const given = [...more, '-c', `port=${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
    server = await spawnProcess({
      ...identity.wrap(join(String(programs), 'postgres'), ['-D', env.PGDATA, ...args, ...given]),
      cwd: '/',
      env: { ...process.env, ...env },
    })
    await Promise.race([waitForPostgres(url, AbortSignal.timeout(60_000)), failAtEnd(server)])
  }
  /** SIGKILL to all processes of Postgres: nothing is written. */
  const kill = async () => {
    await server?.end('SIGKILL')
    server = null
  }
  const failAtEnd = async (started: TestProcess) => {
    await started.ended
    throw new Error(started.output())
  }
  const query = async (statement: string): Promise<readonly string[]> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(statement)).rows.map(({ name }) => name)
    } finally {
      await client.end()
    }
  }
  /** Adds an account, and notes a time between it and the next one. */
  const add = async (name: string) => {
    await query(`insert into accounts (id, name) values ('${name}', '${name}') returning id as name`)
    const [at] = await query(
      `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as name from pg_sleep(1.1)`,
    )
    times[name] = at
    await query('select pg_sleep(1.1)::text as name')
  }
  const names = () => query('select name from accounts order by name')
  const timeline = async () => (await query('select left(pg_walfile_name(pg_current_wal_lsn()), 8) as name'))[0]
  const restoreTo = async (time: string) => {
    const output = await script('restore', { RESTORE_TO: time })
    await start()
    return output
  }
  const state = async () =>
    (
      await query(
        `select case when last_failed_time > coalesce(last_archived_time, '-infinity') then 'fails' else 'works' end as name from pg_stat_archiver`,
      )
    )[0]
  const switchLog = () => query('select pg_switch_wal()::text as name')
  const baseBackups = async () => (await readdir(join(env.ARCHIVE, 'base'))).filter((name) => !name.startsWith('.'))

  it('makes a base backup only when the last is too old', async () => {
    await add('a')
    expect(await script('base-backup')).toMatch(/^base-backup: made \S+ of timeline 1\.\n$/)
    expect(await script('base-backup')).toBe('')
    await add('b')
    await add('c')
    // Postgres refuses a time after the last commit.
    await add('mistake')
  })

  it('is restored after SIGKILL to a time, with changes that were not archived', async () => {
    await kill()
    expect(await restoreTo(times.b)).toContain(`restore: to ${times.b} on timeline 1`)
    expect(await names()).toEqual(['a', 'b'])
    expect(await timeline()).toBe('00000002')
    // Another start of the pod restores nothing.
    await add('d')
    await kill()
    expect(await restoreTo(times.b)).toBe('')
    expect(await names()).toEqual(['a', 'b', 'd'])
  })

  it('makes a base backup after a restore', async () => {
    expect(await script('base-backup')).toContain('of timeline 2')
    expect(await baseBackups()).toHaveLength(2)
    await add('e')
  })

  it('is restored again to a time before the first restore', async () => {
    await kill()
    expect(await restoreTo(times.c)).toContain('on timeline 1')
    expect(await names()).toEqual(['a', 'b', 'c'])
    expect(await timeline()).toBe('00000003')
    await add('f')
  })

  it('is restored to a time between two restores, on the timeline of that time', async () => {
    await kill()
    expect(await restoreTo(times.d)).toContain('on timeline 2')
    expect(await names()).toEqual(['a', 'b', 'd'])
    expect(await timeline()).toBe('00000004')
  })

  it('does not repeat a restore that another restore followed', async () => {
    await kill()
    await expect(script('restore', { RESTORE_TO: times.b })).rejects.toThrow('was done earlier and is not repeated')
    await expect(script('restore', { RESTORE_TO: '2100-01-01T00:00:00Z' })).rejects.toThrow('is in the future')
    await expect(script('restore', { RESTORE_TO: '2020-01-01T00:00:00Z' })).rejects.toThrow('no base backup')
    await expect(script('restore', { RESTORE_TO: 'yesterday' })).rejects.toThrow('neither latest nor a time')
    await start()
    expect(await names()).toEqual(['a', 'b', 'd'])
  })

  it('keeps WAL while the archive fails, and catches up', async () => {
    await switchLog()
    await until(async () => (await state()) === 'works')
    // A file in its place: nothing can be written there.
    await rename(env.ARCHIVE, `${env.ARCHIVE}-away`)
    await writeFile(env.ARCHIVE, '')
    await add('g')
    await switchLog()
    await until(async () => (await state()) === 'fails')
    await rm(env.ARCHIVE)
    await rename(`${env.ARCHIVE}-away`, env.ARCHIVE)
    await until(async () => (await state()) === 'works')
    const [last] = (await readdir(join(env.ARCHIVE, 'wal')))
      .filter((name) => /^[0-9A-F]{24}\.gz$/.test(name))
      .sort()
      .reverse()
    const path = join(env.ARCHIVE, 'wal', last)
    const before = await readFile(path)
    await follow(
      `gzip -dc ${path} > ${folder}/volume/copy; ${folder}/scripts/archive-wal ${folder}/volume/copy ${last.slice(0, -3)}`,
    )
    await expect(
      follow(
        `echo other > ${folder}/volume/copy; ${folder}/scripts/archive-wal ${folder}/volume/copy ${last.slice(0, -3)}`,
      ),
    ).rejects.toThrow('with other contents')
    expect(await readFile(path)).toEqual(before)
  })

  it('starts no empty database after the loss of its volume, and restores the latest state from the archive', async () => {
    await add('h')
    await switchLog()
    await until(
      async () =>
        (await query("select count(*)::text as name from pg_ls_archive_statusdir() where name like '%.ready'"))[0] ===
        '0',
    )
    await kill()
    await rm(join(folder, 'volume'), { recursive: true })
    await mkdir(join(folder, 'volume'))
    if (identity.owner !== undefined) await chown(join(folder, 'volume'), identity.owner.uid, identity.owner.gid)
    await expect(script('restore', { RESTORE_TO: '' })).rejects.toThrow('there is no database')
    await restoreTo('latest')
    expect(await names()).toEqual(['a', 'b', 'd', 'g', 'h'])
    await script('restore', { RESTORE_TO: '' })
  })

  it('deletes WAL older than the oldest retained base backup', async () => {
    const segments = async () =>
      (await readdir(join(env.ARCHIVE, 'wal'))).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name))
    const [oldest] = (await baseBackups()).sort()
    const before = await segments()
    await script('base-backup', { EVERY_HOURS: '0' })
    await add('i')
    await script('base-backup', { EVERY_HOURS: '0' })
    const kept = (await baseBackups()).sort()
    expect(kept).not.toContain(oldest)
    const infos = await Promise.all(kept.map((name) => readFile(join(env.ARCHIVE, 'base', name, 'info'), 'utf8')))
    const firsts = infos.map((info) => /^segment=.{8}(.*)$/m.exec(info)?.[1] ?? '').sort()
    expect((await segments()).every((name) => name.slice(8, 24) >= firsts[0])).toBe(true)
    expect((await segments()).length).toBeLessThan(before.length + 3)
    await add('j')
    await kill()
    await restoreTo(times.i)
    expect(await names()).toEqual(['a', 'b', 'd', 'g', 'h', 'i'])
  })

  it('is used by no process during recovery, even if reachable', async () => {
    await server?.end('SIGINT')
    await follow(`touch "$PGDATA/standby.signal"; sed -i '/^re/d' "$PGDATA/postgresql.auto.conf"`)
    await start('-c', 'hot_standby=on')
    expect(await names()).toContain('a')
    const database = createDatabase(url, { poolSize: 2 })
    try {
      const refused = await pingDatabase(database).catch((error: unknown) => error)
      expect(String(refused)).toContain('Postgres is in recovery')
      expect(translateDatabaseError(refused)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
      await query('select pg_promote()::text as name')
      await pingDatabase(database)
    } finally {
      await database.end()
    }
  })
})
