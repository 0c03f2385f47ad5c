import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, pingDatabase } from '../../api/shared/database/database.ts'
import { translateDatabaseError } from '../../api/shared/database/errors.ts'
import { until } from '../support/until.ts'
import { type BundledPostgres, canRunBundledPostgres, startBundledPostgres } from './support/bundled-postgres.ts'

/** Process IDs and shared memory of its own, like a pod, in which every server has the process ID 1. */
const POD = 'unshare --user --map-current-user --pid --ipc --fork --kill-child'

describe.skipIf(!canRunBundledPostgres)('the bundled Postgres with an archive', () => {
  let postgres: BundledPostgres

  beforeAll(async () => {
    postgres = await startBundledPostgres('bundled')
  })
  afterAll(() => postgres?.kill())

  const timeline = async () =>
    (await postgres.query('select left(pg_walfile_name(pg_current_wal_lsn()), 8) as name'))[0]
  const state = async () =>
    (
      await postgres.query(
        `select case when last_failed_time > coalesce(last_archived_time, '-infinity') then 'fails' else 'works' end as name from pg_stat_archiver`,
      )
    )[0]

  const archive = (path: string, name: string, into = 'archive') =>
    postgres.follow(`mkdir -p ${postgres.folder}/${into}; ${postgres.folder}/scripts/archive-wal ${path} ${name}`, {
      ARCHIVE: join(postgres.folder, into),
    })
  /** Two copies of a WAL file that differ in one byte. */
  const copyLog = async () => {
    const copies = ['first', 'second'].map((name) => join(postgres.folder, name))
    await postgres.follow(`for copy in ${copies.join(' ')}; do cp "$(ls "$PGDATA"/pg_wal/*[0-9A-F] | head -n 1)" $copy; done
printf x | dd of=${copies[1]} bs=1 seek=1000000 conv=notrunc status=none`)
    return copies
  }

  it('makes a base backup only when the last is too old', async () => {
    await postgres.add('a')
    expect(await postgres.script('base-backup')).toMatch(/^base-backup: made \S+ of timeline 1\.\n$/)
    expect(await postgres.script('base-backup')).toBe('')
    await postgres.add('b')
    await postgres.add('c')
    // Postgres refuses a time after the last commit.
    await postgres.add('mistake')
  })

  it('is restored after SIGKILL to a time, with changes that were not archived', async () => {
    await postgres.kill()
    expect(await postgres.restoreTo(postgres.times.b)).toContain(`restore: to ${postgres.times.b} on timeline 1`)
    expect(await postgres.names()).toEqual(['a', 'b'])
    expect(await timeline()).toBe('00000002')
    // Another start of the pod restores nothing.
    await postgres.add('d')
    await postgres.kill()
    expect(await postgres.restoreTo(postgres.times.b)).toBe('')
    expect(await postgres.names()).toEqual(['a', 'b', 'd'])
  })

  it('refuses a second server and a restore in another pod while the server runs', async () => {
    const pod = await postgres.follow(`${POD} true`).then(
      () => POD,
      () => '',
    )
    const second = postgres.follow(`timeout 20 ${pod} ${postgres.serverCommand}`)
    await expect(second).rejects.toThrow('another Postgres uses')
    const restore = postgres.follow(`${pod} ${postgres.restoreCommand}`, { RESTORE_TO: 'latest' })
    await expect(restore).rejects.toThrow('another Postgres uses')
    expect(await postgres.names()).toEqual(['a', 'b', 'd'])
  })

  it('makes a base backup after a restore', async () => {
    expect(await postgres.script('base-backup')).toContain('of timeline 2')
    expect(await postgres.baseBackups()).toHaveLength(2)
    await postgres.add('e')
  })

  it('is restored again to a time before the first restore', async () => {
    await postgres.kill()
    expect(await postgres.restoreTo(postgres.times.c)).toContain('on timeline 1')
    expect(await postgres.names()).toEqual(['a', 'b', 'c'])
    expect(await timeline()).toBe('00000003')
    await postgres.add('f')
  })

  it('is restored to a time between two restores, on the timeline of that time', async () => {
    await postgres.kill()
    expect(await postgres.restoreTo(postgres.times.d)).toContain('on timeline 2')
    expect(await postgres.names()).toEqual(['a', 'b', 'd'])
    expect(await timeline()).toBe('00000004')
  })

  it('does not repeat a restore that another restore followed', async () => {
    await postgres.kill()
    await expect(postgres.restore(postgres.times.b)).rejects.toThrow('was done earlier and is not repeated')
    await expect(postgres.restore('2100-01-01T00:00:00Z')).rejects.toThrow('is in the future')
    await expect(postgres.restore('2020-01-01T00:00:00Z')).rejects.toThrow('no base backup')
    await expect(postgres.restore('yesterday')).rejects.toThrow('neither latest nor a time')
    await postgres.start()
    expect(await postgres.names()).toEqual(['a', 'b', 'd'])
  })

  it('keeps WAL while the archive fails, and catches up', async () => {
    await postgres.switchLog()
    await until(async () => (await state()) === 'works')
    // A file in its place: nothing can be written there.
    await rename(postgres.env.ARCHIVE, `${postgres.env.ARCHIVE}-away`)
    await writeFile(postgres.env.ARCHIVE, '')
    await postgres.add('g')
    await postgres.switchLog()
    await until(async () => (await state()) === 'fails')
    await rm(postgres.env.ARCHIVE)
    await rename(`${postgres.env.ARCHIVE}-away`, postgres.env.ARCHIVE)
    await until(async () => (await state()) === 'works')
    const [last] = (await readdir(join(postgres.env.ARCHIVE, 'wal')))
      .filter((name) => /^[0-9A-F]{24}\.gz$/.test(name))
      .sort()
      .reverse()
    const path = join(postgres.env.ARCHIVE, 'wal', last)
    const before = await readFile(path)
    const copy = join(postgres.folder, 'volume/copy')
    await postgres.follow(`gzip -dc ${path} > ${copy}`)
    await archive(copy, last.slice(0, -3))
    await postgres.follow(`echo other > ${copy}`)
    await expect(archive(copy, last.slice(0, -3))).rejects.toThrow('with other contents')
    expect(await readFile(path)).toEqual(before)
  })

  it('archives one of two files of the same name from two servers, and keeps it', async () => {
    const copies = await copyLog()
    for (let i = 0; i < 10; i++) {
      const name = `0000000100000000${String(i).padStart(8, '0')}`
      const outcomes = await Promise.allSettled(copies.map((copy) => archive(copy, name, 'shared')))
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
      expect(reasons).toEqual([expect.stringContaining('with other contents')])
      const archived = copies[outcomes.findIndex(({ status }) => status === 'fulfilled')]
      await postgres.follow(`gzip -dc ${postgres.folder}/shared/wal/${name}.gz | cmp - ${archived}`)
    }
  })

  it('refuses the log of another database', async () => {
    const [copy, other] = await copyLog()
    // The system identifier in the header of the first page.
    await postgres.follow(`printf 12345678 | dd of=${other} bs=1 seek=24 conv=notrunc status=none`)
    await archive(copy, '000000010000000000000001', 'theirs')
    await expect(archive(other, '000000010000000000000002', 'theirs')).rejects.toThrow('belongs to another database')
    expect(await readdir(join(postgres.folder, 'theirs/wal'))).not.toContain('000000010000000000000002.gz')
  })

  it('starts no empty database after the loss of its volume, and restores the latest state from the archive', async () => {
    await postgres.add('h')
    await postgres.switchLog()
    await until(
      async () =>
        (
          await postgres.query("select count(*)::text as name from pg_ls_archive_statusdir() where name like '%.ready'")
        )[0] === '0',
    )
    await postgres.kill()
    await postgres.loseVolume()
    await expect(postgres.restore('')).rejects.toThrow('there is no database')
    await postgres.restoreTo('latest')
    expect(await postgres.names()).toEqual(['a', 'b', 'd', 'g', 'h'])
    await postgres.kill()
    await postgres.restoreTo('')
  })

  it('deletes WAL older than the oldest retained base backup', async () => {
    const segments = async () =>
      (await readdir(join(postgres.env.ARCHIVE, 'wal'))).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name))
    const [oldest] = (await postgres.baseBackups()).sort()
    const before = await segments()
    await postgres.script('base-backup', { EVERY_HOURS: '0' })
    await postgres.add('i')
    await postgres.script('base-backup', { EVERY_HOURS: '0' })
    const kept = (await postgres.baseBackups()).sort()
    expect(kept).not.toContain(oldest)
    const infos = await Promise.all(
      kept.map((name) => readFile(join(postgres.env.ARCHIVE, 'base', name, 'info'), 'utf8')),
    )
    const firsts = infos.map((info) => /^segment=.{8}(.*)$/m.exec(info)?.[1] ?? '').sort()
    expect((await segments()).every((name) => name.slice(8, 24) >= firsts[0])).toBe(true)
    expect((await segments()).length).toBeLessThan(before.length + 3)
    await postgres.add('j')
    await postgres.kill()
    await postgres.restoreTo(postgres.times.i)
    expect(await postgres.names()).toEqual(['a', 'b', 'd', 'g', 'h', 'i'])
  })

  it('is used by no process during recovery, even if reachable', async () => {
    await postgres.stop()
    await postgres.follow(`touch "$PGDATA/standby.signal"; sed -i '/^re/d' "$PGDATA/postgresql.auto.conf"`)
    await postgres.start('-c', 'hot_standby=on')
    expect(await postgres.names()).toContain('a')
    const database = createDatabase(postgres.url, { poolSize: 2 })
    try {
      const refused = await pingDatabase(database).catch((error: unknown) => error)
      expect(String(refused)).toContain('Postgres is in recovery')
      expect(translateDatabaseError(refused)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
      await postgres.query('select pg_promote()::text as name')
      await pingDatabase(database)
    } finally {
      await database.end()
    }
  })
})
