import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/stores/accounts.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { type Drape, startDrape } from '../../support/drape.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { requestService } from '../../support/request-service.ts'

describe('drape check', () => {
  let drape: Drape
  let said: ReturnType<typeof createCommandLine>

  beforeAll(async () => {
    drape = await startDrape({ pictures: true })
    await drape.startWorker()
    said = createCommandLine(drape.env.DATABASE_URL, { ...drape.env, PUBLIC_URL: drape.api.url })
  })
  afterAll(() => drape?.stop())

  it('detects pending migrations', async () => {
    expect(await said.answered('check', 'migrations')).toEqual({ pending: 0 })
    const { url, drop } = await createTestDatabase()
    const other = createCommandLine(url)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query("delete from migrations where name like '0015-%'")
    const behind = await other.drape('check', 'migrations')
    expect(behind).toMatchObject({ code: 1, said: 'The database lacks 0015-retention.sql: run drape migrate.\n' })
    await client.query('drop table migrations')
    await client.end()
    expect((await other.drape('check', 'migrations')).said).toContain('The database lacks 0001-core.sql, ')
    await drop()
  })

  it('waits for the database, and reports the connection error on timeout', async () => {
    const nowhere = createCommandLine('postgres://nobody@127.0.0.1:1/nothing')
    const refused = await nowhere.drape('check', 'migrations', '--wait-seconds', '1')
    expect(refused).toMatchObject({ code: 1, output: '' })
    expect(refused.said).toMatch(/^connect ECONNREFUSED 127\.0\.0\.1:1\.\n$/)
    expect((await nowhere.drape('migrate')).said).toContain('ECONNREFUSED')
  })

  it('checks the API', async () => {
    const { url, probeUrl } = drape.api
    expect(await said.answered('check', 'api', '--url', url, '--probe-urls', probeUrl)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
    const refused = await said.drape('check', 'api', '--url', probeUrl, '--probe-urls', probeUrl)
    expect(refused.code).toBe(1)
    expect(refused.said).toContain('/tryon/v1/openapi.json answers 404, not 200')
  })

  it('writes an object to storage and reads it back', async () => {
    expect(await said.answered('check', 'storage')).toEqual({ bytes: expect.any(Number) })
    const full = createCommandLine(drape.env.DATABASE_URL, { STORAGE_URL: 'file:/dev/null/objects' })
    expect(await full.drape('check', 'storage')).toMatchObject({ code: 1 })
  })

  it('counts the workers', async () => {
    const { slots } = await said.answered('check', 'workers', '--wait-seconds', '30')
    expect(slots).toEqual({ prepare: 1, 'try-on': 1 })
  })

  it('runs a mock job and a real job, and leaves no access or credits behind', async () => {
    const queue = await said.answered('check', 'queue', '--url', drape.api.url)
    expect(queue).toMatchObject({ engine: 'mock', resultBytes: expect.any(Number) })
    const tryOn = await said.answered('check', 'try-on', '--url', drape.api.url)
    expect(tryOn).toMatchObject({ engine: 'warp' })
    const accounts = (await createAccounts(drape.database).list()).filter(({ name }) => name === 'Installation checks')
    expect(accounts).toHaveLength(1)
    expect(accounts[0].balance).toBe(0)
    const left = await drape.call('GET', `/tryon/v1/generations/${tryOn.generationId}`)
    expect(left.status).toBe(403)
  })

  it('reads the metrics of each process', async () => {
    const { probeUrl } = drape.api
    const { series } = await said.answered('check', 'metrics', '--probe-urls', probeUrl)
    expect(series[probeUrl]).toBeGreaterThan(50)
    expect(await said.drape('check', 'metrics', '--probe-urls', drape.api.url)).toMatchObject({ code: 1 })
  })

  it('rejects a dashboard folder without queries', async () => {
    const { path } = await requestService('folder', null)
    expect((await said.drape('check', 'dashboards', '--folder', path)).said).toContain('contains no dashboard')
    await mkdir(join(path, 'service'))
    const file = join(path, 'service/service.json')
    await writeFile(file, JSON.stringify({ panels: [{ panels: [{ targets: [{ expr: 'up' }] }] }] }))
    expect(await said.answered('check', 'dashboards', '--folder', path)).toEqual({
      queries: { 'service/service.json': 1 },
    })
    await writeFile(file, JSON.stringify({ panels: [{}] }))
    expect((await said.drape('check', 'dashboards', '--folder', path)).said).toContain('contains no query')
  })

  it('rejects an unknown check and points to the help', async () => {
    const refused = await said.drape('check', 'nothing')
    expect(refused.code).toBe(2)
    expect(refused.said).toBe("unknown command 'nothing'. Help: drape check --help\n")
  })
})
