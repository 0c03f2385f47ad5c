import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { createFileStorage } from '../../api/shared/storage/file.ts'
import { createObjectKeys } from '../../api/shared/storage/object-keys.store.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import { createReconciling, startStorageReconciling } from '../../api/shared/storage/reconcile-daily.ts'
import { reconcileStorage } from '../../api/shared/storage/reconcile-storage.ts'
import { createLog } from '../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../api/shared/telemetry/metrics.ts'
import { createCommandLine } from '../support/command-line.ts'
import { openTestDatabase } from '../support/postgres.ts'
import { requestService } from '../support/request-service.ts'
import { listAll } from '../support/storage-behaviour.ts'
import { until } from '../support/until.ts'

const JPEG = { contentType: 'image/jpeg' }
const Row = rowType(Type.Object({ key: Type.String() }))

describe('reconciling the storage with the database', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 2 })

  const root = (await requestService('folder', null)).path
  const storage = createFileStorage({ root, publicUrl: '', signingSecret: '' })
  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 1 })).id

  const age = (key: string, hours: number) => {
    const then = new Date(Date.now() - hours * 3_600_000)
    return utimes(join(root, key), then, then)
  }
  const put = async (key: string, hours: number) => {
    await storage.put(key, Buffer.from('bytes'), JPEG)
    await age(key, hours)
  }
  const insert = async (key: string, hours: number) => {
    await createObjects(database).insert({
      key,
      accountId,
      externalUserId: null,
      kind: 'person',
      bytes: 5,
      expiresAt: new Date(Date.now() + 86_400_000),
    })
    await database.query(sql.unsafe`
      update objects set created_at = now() - make_interval(hours => ${hours}) where key = ${key}`)
  }
  const keysOf = () => database.anyFirst(sql.type(Row)`select key from objects order by key collate "C"`)
  const reconcile = (apply: boolean) => reconcileStorage({ keys: createObjectKeys(database), storage, apply })

  it('finds nothing where both agree', async () => {
    await put(`persons/${accountId}/kept.jpg`, 48)
    await insert(`persons/${accountId}/kept.jpg`, 48)
    expect(await reconcile(true)).toMatchObject({ objects: 1, rows: 1, orphans: 0, missing: 0, refusal: null })
  })

  it('changes nothing in a dry run, and leaves alone what may be under way', async () => {
    await put(`persons/${accountId}/old.jpg`, 48)
    await put(`persons/${accountId}/young.jpg`, 1)
    await put('persons/acc_unknown/foreign.jpg', 48)
    await put('erasures/2026-01-01/entry.jpg', 48)
    await insert(`results/${accountId}/old-row.jpg`, 48)
    await insert(`results/${accountId}/young-row.jpg`, 1)
    for (const [name, hours] of [
      ['old', 48],
      ['young', 1],
    ] as const) {
      await mkdir(join(root, '.incomplete'), { recursive: true })
      await writeFile(join(root, '.incomplete', name), 'half')
      await age(`.incomplete/${name}`, hours)
    }
    const rows = await keysOf()
    const { answered } = createCommandLine(url, { STORAGE_URL: `file:${root}` })
    const found = { orphans: 2, orphanBytes: 10, foreign: 1, missing: 1, incomplete: 1, applied: false, refusal: null }
    expect(await answered('storage', 'reconcile')).toMatchObject(found)
    expect(await keysOf()).toEqual(rows)
    expect(await listAll(storage)).toHaveLength(5)
    expect(await readdir(join(root, '.incomplete'))).toHaveLength(2)
  })

  it('deletes what has no counterpart through the sweep, but nothing of unknown accounts', async () => {
    const { answered } = createCommandLine(url, { STORAGE_URL: `file:${root}` })
    expect(await answered('storage', 'reconcile', '--apply')).toMatchObject({
      orphans: 2,
      foreign: 1,
      missing: 1,
      incomplete: 1,
      applied: true,
      deleted: 2,
    })
    expect((await listAll(storage)).map(({ key }) => key)).toEqual([
      'erasures/2026-01-01/entry.jpg',
      `persons/${accountId}/kept.jpg`,
      `persons/${accountId}/young.jpg`,
      'persons/acc_unknown/foreign.jpg',
    ])
    expect(await keysOf()).toEqual([`persons/${accountId}/kept.jpg`, `results/${accountId}/young-row.jpg`])
    expect(await readdir(join(root, '.incomplete'))).toEqual(['young'])
  })

  it('compares thousands of objects and rows in parts', async () => {
    const names = Array.from({ length: 2300 }, (_, i) => `results/${accountId}/many-${String(i).padStart(4, '0')}.jpg`)
    await mkdir(join(root, 'results', accountId), { recursive: true })
    for (const [i, name] of names.entries()) if (i % 23 !== 5) await writeFile(join(root, name), 'x')
    await database.query(sql.unsafe`
      insert into objects (key, account_id, kind, bytes, created_at)
      select key, ${accountId}, 'result', 1, now() - interval '2 days' from unnest(${sql.array(
        names.filter((_, i) => i % 23 !== 7),
        'text',
      )}) as key`)
    for (const [i, name] of names.entries()) if (i % 23 === 7) await age(name, 48)
    expect(await reconcile(false)).toMatchObject({ orphans: 101, missing: 100, refusal: null })
  })

  it('refuses a storage that does not belong to the database', async () => {
    const empty = createFileStorage({
      root: (await requestService('folder', null)).path,
      publicUrl: '',
      signingSecret: '',
    })
    const rows = await keysOf()
    const found = await reconcileStorage({ keys: createObjectKeys(database), storage: empty, apply: true })
    expect(found).toMatchObject({ applied: false, refusal: expect.stringContaining('The storage is empty') })
    expect(await keysOf()).toEqual(rows)
  })

  it('runs in the API processes, in one of them per interval', async () => {
    await put(`results/${accountId}/unnoticed.jpg`, 48)
    const log = createLog({ process: 'api', level: 'silent' })
    const replicas = Array.from({ length: 3 }, () => {
      const metrics = createMetrics('api')
      const reconcile = createReconciling({ database, storage, metrics, log })
      return { metrics, ...startStorageReconciling(reconcile, { log, checkMs: 10 }) }
    })
    const countShown = async (line: RegExp) => {
      const pages = await Promise.all(replicas.map(({ metrics }) => metrics.scrape()))
      return pages.filter(({ text }) => line.test(text)).length
    }
    const done = /^drape_storage_reconciliations_total\{.*outcome="done".*\} 1$/m
    await until(async () => (await countShown(done)) > 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await Promise.all(replicas.map(({ stop }) => stop()))
    expect(await countShown(done)).toBe(1)
    expect(await countShown(/^drape_storage_unmatched\{.*kind="orphans".*\} [1-9]/m)).toBe(1)
    expect(await keysOf()).toContain(`results/${accountId}/unnoticed.jpg`)
  })
})
