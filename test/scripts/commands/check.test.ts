import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { startDrape } from '../../support/drape.ts'
import { createTestDatabase } from '../../support/postgres.ts'

describe('drape check', async () => {
  const drape = await startDrape({ defaultEngines: true })
  await drape.startWorker()
  const line = createCommandLine(drape.env.DATABASE_URL, { ...drape.env, PUBLIC_URL: drape.api.url })
  afterAll(() => drape?.stop())

  it('detects pending migrations', async () => {
    expect(await line.answered('check', 'migrations')).toEqual({ pending: 0 })
    const { url, drop } = await createTestDatabase()
    const other = createCommandLine(url)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query("delete from migrations where name = '0001-schema.sql'")
    const behind = await other.drape('check', 'migrations')
    expect(behind).toMatchObject({ code: 1, stderr: 'The database lacks 0001-schema.sql: run drape migrate.\n' })
    await client.query('drop table migrations')
    await client.end()
    expect((await other.drape('check', 'migrations')).stderr).toContain('The database lacks 0001-schema.sql')
    await drop()
  })

  it('waits for the database, and reports the connection error on timeout', async () => {
    const nowhere = createCommandLine('postgres://nobody@127.0.0.1:1/nothing')
    const refused = await nowhere.drape('check', 'migrations', '--wait-seconds', '1')
    expect(refused).toMatchObject({ code: 1, output: '' })
    expect(refused.stderr).toMatch(/^connect ECONNREFUSED 127\.0\.0\.1:1\.\n$/)
    expect((await nowhere.drape('migrate')).stderr).toContain('ECONNREFUSED')
  })

  it('checks the API', async () => {
    const { url, probeUrl } = drape.api
    expect(await line.answered('check', 'api', '--url', url, '--probe-urls', probeUrl)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    })
    const refused = await line.drape('check', 'api', '--url', probeUrl, '--probe-urls', probeUrl)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('/tryon/v1/openapi.json answers 404, not 200')
  })

  it('writes an object to storage and reads it back', async () => {
    expect(await line.answered('check', 'storage')).toEqual({ bytes: expect.any(Number) })
    const full = createCommandLine(drape.env.DATABASE_URL, { STORAGE_URL: 'file:/dev/null/objects' })
    expect(await full.drape('check', 'storage')).toMatchObject({ code: 1 })
  })

  it('counts the workers', async () => {
    const { slots } = await line.answered('check', 'workers', '--wait-seconds', '30')
    expect(slots).toEqual({ prepare: 1, 'try-on': 1 })
  })

  it('runs a mock job and a real job, and leaves no access or credits behind', async () => {
    const queue = await line.answered('check', 'queue', '--url', drape.api.url)
    expect(queue).toMatchObject({ engine: 'mock', resultBytes: expect.any(Number) })
    const tryOn = await line.answered('check', 'try-on', '--url', drape.api.url)
    expect(tryOn).toMatchObject({ engine: 'warp' })
    const accounts = (await createAccounts(drape.database).list()).filter(({ name }) => name === 'Installation checks')
    expect(accounts).toHaveLength(1)
    expect(accounts[0].balance).toBe(0)
    const left = await drape.call('GET', `/tryon/v1/generations/${tryOn.generationId}`)
    expect(left.status).toBe(403)
  })

  it('reads the metrics of each process', async () => {
    const { probeUrl } = drape.api
    const { series } = await line.answered('check', 'metrics', '--probe-urls', probeUrl)
    expect(series[probeUrl]).toBeGreaterThan(50)
    expect(await line.drape('check', 'metrics', '--probe-urls', drape.api.url)).toMatchObject({ code: 1 })
  })

  it('rejects an unknown check and points to the help', async () => {
    const refused = await line.drape('check', 'nothing')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/^command-argument value 'nothing' is invalid .* Help: drape check --help\n$/)
  })
})
