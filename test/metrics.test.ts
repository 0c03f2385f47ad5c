import { readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { sql } from '../api/shared/database/database.ts'
import { copyGeneration } from './support/accepted.ts'
import { shrink, startDrape } from './support/drape.ts'
import type { TestProgram } from './support/process.ts'
import { until } from './support/until.ts'

describe('metrics', async () => {
  let worker: TestProgram
  const call = {
    products: [{ images: [{ source: { fileKey: 'me' } }] }],
    person: { image: { source: { fileKey: 'me' } } },
    output: { engine: 'mock', deadlineSeconds: 600 },
  }

  const person = await shrink('scripts/samples/persons/down-half-teal.jpg')
  const drape = await startDrape({ defaultEngines: true })
  afterAll(() => drape.stop())

  const tryOn = () => drape.tryOn(call, { me: person })

  it('report waiting generations by engine and state, and the age of the oldest', async () => {
    for (let i = 0; i < 5; i++) await tryOn()
    const count = (metrics: Metrics, state: string) =>
      metrics.get(`drape_generations_unfinished{engine="mock",state="${state}"}`) ?? 0
    // The relay dispatches nothing without a worker that runs the engine.
    const metrics = await until(async () => {
      const seen = await scrape(drape.api)
      return count(seen, 'waiting') === 5 && seen
    })
    expect(count(metrics, 'queued') + count(metrics, 'running')).toBe(0)
    expect(metrics.get('drape_generations_oldest_seconds{engine="mock",state="waiting"}')).toBeGreaterThan(0)
    // 0 instead of absent, so that increase() includes the first generation that expires.
    expect(metrics.get('drape_generation_start_seconds_count{engine="mock",class="standard",outcome="expired"}')).toBe(
      0,
    )
    expect(metrics.get('drape_worker_slots')).toBe(0)
    expect(metrics.get('drape_engine_slots{engine="mock"}')).toBe(0)
    expect(metrics.get('drape_generations_accepted_total')).toBe(5)
    expect(metrics.get('drape_sweep_lag_seconds')).toBe(0)
  })

  it('report the jobs of a worker', async () => {
    worker = await drape.startWorker()
    for (let i = 0; i < 2; i++) await drape.finish(await tryOn())
    await until(async () => (await scrape(worker)).get('drape_jobs_total{queue="try-on",outcome="completed"}') === 7)
    const metrics = await scrape(worker)
    expect(metrics.get('drape_stage_seconds_count{engine="mock",stage="engine"}')).toBe(7)
    const started = 'engine="mock",class="standard",outcome="started"'
    expect(metrics.get(`drape_generation_start_seconds_count{${started}}`)).toBe(7)
    expect(metrics.get('drape_inference_runs_total{work="try-on",engine="mock",outcome="done"}')).toBe(7)
    const atApi = await scrape(drape.api)
    expect(
      atApi.get('drape_generations_finished_total{engine="mock",status="COMPLETED",code="",class="standard"}'),
    ).toBe(7)
    expect(atApi.get('drape_generation_seconds_count{engine="mock",status="COMPLETED",class="standard"}')).toBe(7)
    // The first jobs waited for a worker; the time from acceptance to the end includes that wait.
    expect(
      Number(atApi.get('drape_generation_seconds_sum{engine="mock",status="COMPLETED",class="standard"}')),
    ).toBeGreaterThan(Number(metrics.get(`drape_generation_start_seconds_sum{${started}}`)))
    expect(metrics.get('drape_storage_seconds_count{operation="put",outcome="ok"}')).toBe(7)
    expect(metrics.get('drape_inference_ready{provider="cpu"}')).toBe(1)
    expect(metrics.get('drape_inference_start_seconds_count')).toBe(1)
    await until(async () => {
      const seen = await scrape(drape.api)
      const isDone = ![...seen.keys()].some((name) => name.startsWith('drape_generations_unfinished'))
      return isDone && seen.get('drape_worker_slots') === 1 && seen.get('drape_engine_slots{engine="mock"}') === 1
    })
  })

  it('report why a generation failed', async () => {
    const id = await drape.tryOn(
      { ...call, output: {} },
      { me: await shrink('scripts/samples/garments/tshirt-mustard.jpg') },
    )
    expect(await drape.finish(id)).toMatchObject({ status: 'FAILED', errorCode: 'NO_PERSON_DETECTED' })
    const ended =
      'drape_generations_finished_total{engine="warp",status="FAILED",code="NO_PERSON_DETECTED",class="standard"}'
    expect((await scrape(drape.api)).get(ended)).toBe(1)
    expect(
      (await scrape(worker)).get('drape_inference_runs_total{work="try-on",engine="warp",outcome="refused"}'),
    ).toBe(1)
  })

  it('report generations that expire without a worker', async () => {
    const id = await drape.tryOn({ ...call, output: { engine: 'mock' } }, { me: person })
    await drape.finish(id)
    const now = Date.now()
    await copyGeneration(drape.database, id, {
      status: 'PENDING',
      finished_at: null,
      deadline_at: new Date(now),
      created_at: new Date(now - 60_000),
    })
    const metrics = await until(async () => {
      const seen = await scrape(drape.api)
      const code = 'GENERATION_TIMEOUT'
      return (
        seen.get(`drape_generations_finished_total{engine="mock",status="FAILED",code="${code}",class="standard"}`) ===
          1 && seen
      )
    })
    const [ended, starts] = ['drape_generation_seconds_sum', 'drape_generation_start_seconds_sum']
    expect(metrics.get(`${ended}{engine="mock",status="FAILED",class="standard"}`)).toBeGreaterThan(59)
    // An attempt had started.
    expect(metrics.get(`${starts}{engine="mock",class="standard",outcome="expired"}`)).toBe(0)
  })

  it('report the time to the first start, and generations that expire before, by service class', async () => {
    const name = 'drape_generation_start_seconds_count'
    const of = (serviceClass: string, outcome: string) =>
      `${name}{engine="mock",class="${serviceClass}",outcome="${outcome}"}`
    const accounts = createAccounts(drape.database)
    const before = await scrape(worker)
    await drape.finish(await drape.tryOn({ ...call, priority: 'batch' }, { me: person }))
    await accounts.update(drape.accountId, { settings: { serviceClass: 'premium' } })
    const id = await tryOn()
    await drape.finish(id)
    const after = await until(async () => {
      const seen = await scrape(worker)
      return seen.get(of('premium', 'started')) === 1 && seen
    })
    expect(after.get(of('batch', 'started'))).toBe(1)
    expect(after.get(of('standard', 'started'))).toBe(before.get(of('standard', 'started')))
    const ended = 'drape_generation_seconds_count{engine="mock",status="COMPLETED",class="premium"}'
    expect((await scrape(drape.api)).get(ended)).toBe(1)
    const unstarted = { status: 'PENDING', started_at: null, finished_at: null, deadline_at: new Date() }
    await copyGeneration(drape.database, id, unstarted)
    await until(async () => (await scrape(drape.api)).get(of('premium', 'expired')) === 1)
    await accounts.update(drape.accountId, { settings: { serviceClass: null } })
  })

  it('of a new worker are 0 instead of absent, so that rate() includes its first generation', async () => {
    const fresh = await scrape(await drape.startWorker({ ENGINES: 'mock' }))
    const atApi = await scrape(drape.api)
    for (const serviceClass of ['standard', 'premium', 'batch']) {
      const labels = `engine="mock",class="${serviceClass}"`
      expect(fresh.get(`drape_generation_start_seconds_count{${labels},outcome="started"}`)).toBe(0)
      const failed = `engine="mock",status="FAILED",code="GENERATION_FAILED",class="${serviceClass}"`
      expect(atApi.get(`drape_generations_finished_total{${failed}}`)).toBe(0)
    }
  })

  it('have a histogram bucket for every objective that the chart allows', async () => {
    const { properties } = JSON.parse(await readFile('charts/drape/values.schema.json', 'utf8')).properties.metrics
    const { start, timeToResult } = properties.objectives.properties
    const metrics = [...(await scrape(worker)), ...(await scrape(drape.api))]
    const counted = (metric: string, seconds: number) =>
      metrics.some(([name]) => name.startsWith(`${metric}_bucket`) && name.includes(`le="${seconds}"`))
    for (const seconds of start.properties.seconds.enum)
      expect(counted('drape_generation_start_seconds', seconds), seconds).toBe(true)
    for (const seconds of timeToResult.properties.secondsByEngine.additionalProperties.enum)
      expect(counted('drape_generation_seconds', seconds), seconds).toBe(true)
  })

  it('report requests by route, method and status', async () => {
    expect((await drape.call('GET', '/tryon/v1/generations/gen_none')).status).toBe(404)
    const metrics = await scrape(drape.api)
    const route = 'route="/tryon/v1/generations/:id",method="GET"'
    expect(metrics.get(`drape_http_requests_total{${route},status="404"}`)).toBe(1)
    expect(metrics.get(`drape_http_request_seconds_count{${route}}`)).toBeGreaterThan(1)
  })

  it('count unknown methods under one label', async () => {
    for (const method of ['PURGE', 'PROPFIND', 'LOCK']) await drape.call(method, '/nowhere')
    const metrics = await scrape(drape.api)
    expect(metrics.get('drape_http_request_seconds_count{route="unknown",method="other"}')).toBe(3)
    expect([...metrics.keys()].filter((name) => /PURGE|PROPFIND|LOCK"/.test(name))).toEqual([])
  })

  it('report the lag of the sweep', async () => {
    await drape.database.query(sql.unsafe`
      insert into objects (key, account_id, kind, expires_at)
      values ('products/late.jpg', ${drape.accountId}, 'product', now() - interval '1 hour')`)
    const lag = await until(async () => (await scrape(drape.api)).get('drape_sweep_lag_seconds'))
    expect(lag).toBeGreaterThanOrEqual(3600)
  })

  it('report process, version and Node.js, and contain no IDs or keys', async () => {
    for (const [name, program] of Object.entries({ api: drape.api, worker })) {
      const text = await (await fetch(`${program.probeUrl}/metrics`)).text()
      const info = `^drape_build_info\\{process="${name}",version="\\d+\\.\\d+\\.\\d+",node="24\\.[\\d.]+"\\} 1$`
      expect(text).toMatch(new RegExp(info, 'm'))
      expect(text).not.toMatch(/(acc|gen|img)_[0-9a-f]{8}-|sk_|pk_/)
      expect(text).toContain('nodejs_eventloop_lag_seconds')
      // Prometheus scrapes all series every few seconds.
      expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length).toBeLessThan(2000)
    }
  })
})

/** Values by metric name and labels, as in the exposition text. */
type Metrics = ReadonlyMap<string, number>

async function scrape({ probeUrl }: TestProgram): Promise<Metrics> {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}
