import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { engines } from '../../controller/engine/resource.ts'
import { retentionPolicies } from '../../controller/retention/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { DASHBOARDS } from '../../scripts/grafana/main.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { type FakeNodes, startFakeNodes } from '../cluster/fake-nodes.ts'
import { type ModelWorkers, startModelWorkers } from '../cluster/model-workers.ts'
import { createTestNamespace, type TestNamespace } from '../cluster/namespace.ts'
import { installDefinitions } from '../cluster/samples.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { copyGeneration } from '../support/accepted.ts'
import { blocksOf } from '../support/documented-blocks.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { findPanelFaults } from './panel-faults.ts'
import { findPrometheusProgram } from './programs.ts'
import { type PrometheusServer, startPrometheus } from './prometheus-server.ts'
import { fillIn, findSelectors } from './queries.ts'

const CHART = resolve(import.meta.dirname, '../../charts/drape')
const NAMESPACE = 'shop'
const NODE = 'watched-a'
/** Of one query, on a machine that is busy with much else. */
const SEEN_WITHIN_MS = 100_000

const program = await findPrometheusProgram('prometheus')
const controlPlane = program === null ? null : await findSharedControlPlane()
const ruleTexts = globSync(`${CHART}/rules/*.yaml`).map((path) => readFileSync(path, 'utf8'))
const rules = ruleTexts.flatMap((text) =>
  (readYaml(text)[0] as { groups: { rules: { expr: string; record?: string }[] }[] }).groups.flatMap(
    (group) => group.rules,
  ),
)
/** Of all rules and panels. */
const exprs = [
  ...rules.map(({ expr }) => expr),
  ...DASHBOARDS.flatMap(({ rows }) =>
    rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => fillIn(expr)))),
  ),
]

describe.skipIf(!controlPlane?.hasControllers)('real Prometheus metrics of real processes', () => {
  let drape: Drape
  let place: TestNamespace
  let nodes: FakeNodes
  let models: ModelWorkers
  let controller: TestProgram
  let prometheus: PrometheusServer
  let garmentUrl: string
  let closeImages: (() => void) | undefined
  let receiver: OtlpReceiver
  let gpus: Awaited<ReturnType<typeof serveGpus>>

  beforeAll(async () => {
    if (controlPlane === null || program === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    const images = await serveImage(await readSample('garments/tshirt-mustard.jpg'))
    garmentUrl = images.url
    closeImages = images.close
    receiver = await startOtlpReceiver()
    gpus = await serveGpus()
    const env = { ...receiver.env, FETCH_ALLOW_PORTS: images.port }
    drape = await startDrape({ credits: 1000, defaultEngines: true, env })
    nodes = await startFakeNodes(place, [NODE])
    models = startModelWorkers({ redisUrl: drape.env.REDIS_URL, nodes })
    controller = await startProgram('controller', {
      ...drape.env,
      KUBECONFIG: controlPlane.kubeconfig,
      WATCH_NAMESPACE: place.namespace,
      LEASE_NAMESPACE: place.namespace,
      SWEEP_SECONDS: '2',
    })
    prometheus = await startPrometheus(program, {
      // Samples that are taken once a minute are taken once a second here.
      rules: ruleTexts.map((text) => text.replaceAll(/interval: [15]m/g, 'interval: 1s')),
      namespace: NAMESPACE,
    })
    await prometheus.watch({ api: drape.api, controller, ...gpus.targets })
    // From the first sample on: an increase before it is not visible.
    await seen('drape_leader')
    await applyObjects()
    await makeTraffic()
  })
  afterAll(async () => {
    await prometheus?.end()
    closeImages?.()
    gpus?.close()
    receiver?.stop()
    await controller?.end('SIGKILL')
    await models?.close()
    await nodes?.close()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('return data for every query of every panel', async () => {
    const empty: string[] = []
    for (const { title, rows } of DASHBOARDS) {
      for (const panel of rows.flatMap((row) => row.panels)) {
        for (const { expr } of panel.queries) {
          const name = `${title}: ${panel.title}`
          if (!(await hasData(fillIn(expr)))) empty.push(`${name}\n  ${fillIn(expr)}`)
        }
      }
    }
    expect(empty).toEqual([])
  })

  it('have names, units and colors in every panel', async () => {
    const faults: string[] = []
    for (const { title, rows } of DASHBOARDS) {
      for (const panel of rows.flatMap((row) => row.panels)) {
        const results = await Promise.all(panel.queries.map(({ expr }) => prometheus.query(fillIn(expr))))
        faults.push(...findPanelFaults(panel, results).map((fault) => `${title}: ${panel.title} ${fault}`))
      }
    }
    expect(faults).toEqual([])
  })

  it('include trace exemplars of requests and generations', async () => {
    for (const metric of ['drape_http_request_seconds', 'drape_generation_seconds', 'drape_generation_start_seconds']) {
      const stored = await until(async () => {
        const found = await prometheus.findExemplars(`${metric}_bucket`)
        return found.length > 0 && found
      })
      const known = await until(() => {
        const ids = new Set(receiver.spans().map(({ traceId }) => traceId))
        return stored.every((id) => ids.has(id)) && ids
      })
      expect(known.size, metric).toBeGreaterThan(0)
    }
  })

  it('return values for every dashboard variable', async () => {
    for (const { name, metric } of DASHBOARDS.map(({ variable }) => variable))
      expect(await hasData(`count by (${name}) (${metric}{${name}!=""})`)).toBe(true)
  })

  it('contain every metric, label and value used in rules and panels', async () => {
    const wanted = new Map(exprs.flatMap(findSelectors).map((selector) => [JSON.stringify(selector), selector]))
    const missing: string[] = []
    for (const { metric, matchers } of wanted.values()) {
      const query = `${metric}{${matchers.join(', ')}}`
      if (!(await hasData(query))) missing.push(query)
    }
    expect(wanted.size).toBeGreaterThan(80)
    expect(missing).toEqual([])
  })

  it('evaluate every rule, without alerts in a healthy installation', async () => {
    const states = await until(async () => {
      const seen = await prometheus.rules()
      return seen.every(({ health }) => health !== 'unknown') && seen
    })
    expect(states.filter(({ health }) => health !== 'ok')).toEqual([])
    expect(states.length).toBe(rules.length)
    for (const { record } of rules) if (record !== undefined) expect(await hasData(record), record).toBe(true)
    const firing = await prometheus.query('ALERTS{alertstate="firing"}')
    expect(firing.map(({ metric }) => metric.alertname)).toEqual([])
  })

  it('return data for every query of a runbook', async () => {
    const pages = globSync('charts/drape/runbooks/*.md', { cwd: ROOT })
    const blocks = pages.flatMap(blocksOf).filter(({ language }) => language === 'promql')
    const queries = blocks.flatMap(({ text }) => text.trim().split('\n'))
    expect(queries.length).toBeGreaterThan(20)
    for (const query of queries) {
      await prometheus.query(query)
      for (const { metric } of findSelectors(query)) expect(await hasData(metric), query).toBe(true)
    }
  })

  /** Resolves when the query has shown something. An error names the query that never did. */
  async function seen(expr: string): Promise<void> {
    const givesUp = AbortSignal.timeout(SEEN_WITHIN_MS)
    await until(async () => {
      if (await hasData(expr)) return true
      if (givesUp.aborted) throw new Error(`Prometheus showed nothing for ${expr}`)
      return false
    })
  }

  async function hasData(expr: string): Promise<boolean> {
    const series = await prometheus.query(expr)
    return series.some(({ values }) => values.some(([, value]) => Number.isFinite(Number(value))))
  }

  async function applyObjects(): Promise<void> {
    const { namespace } = place
    const apply = (type: Parameters<TestNamespace['client']['apply']>[0], name: string, spec: object) =>
      place.client.apply<KubernetesObject>(type, { metadata: { namespace, name }, spec })
    const license = { name: 'Apache-2.0', commercialUse: true }
    await apply(engines.type, 'mock', { license, source: { bundled: {} } })
    const bounds = { min: 0, max: 1 }
    const scaling = {
      policy: {
        bounds,
        target: { backlogPerSlot: 1 },
        sampling: { intervalSeconds: 2 },
        cost: { hourlyCap: 1, mode: 'Hard' },
      },
    }
    const capacity = { hourlyCost: 0.5 }
    const pool = { engines: ['mock'], capacity, template: { image: 'drape/worker:test', requests: { cpu: '1' } } }
    await apply(workerPools.type, 'small', { ...pool, scaling })
    const kept = { selector: { kinds: ['product'] }, intervalSeconds: 10 }
    await apply(retentionPolicies.type, 'old-products', { ...kept, ttlSeconds: 86_400, dryRun: false })
    await apply(retentionPolicies.type, 'would-delete', { ...kept, ttlSeconds: 172_800 })
  }

  /** Produces every kind of event of generations and images. */
  async function makeTraffic(): Promise<void> {
    const [person, garment] = await Promise.all(
      ['persons/down-half-teal.jpg', 'garments/tshirt-mustard.jpg'].map(readSample),
    )
    const tryOn = (engine: string, files: { me: Buffer; shirt?: Buffer } = { me: person, shirt: garment }) => {
      const source = files.shirt === undefined ? { url: garmentUrl } : { fileKey: 'shirt' }
      const asked = { products: [{ images: [{ source }] }], person: { image: { source: { fileKey: 'me' } } } }
      return drape.tryOn({ ...asked, output: { engine } }, files)
    }
    // The controller has published that a pool can start the engine.
    await until(async () => {
      const { engines } = (await drape.call('GET', '/tryon/v1/engines')).body
      return engines.some(({ name, state }: Record<string, string>) => name === 'mock' && state !== 'unavailable')
    })
    const finishAll = (ids: readonly string[]) => Promise.all(ids.map(drape.finish))
    const waiting = await Promise.all(Array.from({ length: 6 }, () => tryOn('mock')))
    await seen('drape_generations_unfinished{state="waiting"}')
    await seen('drape_pool_limited{by="bounds.max"}')
    await seen('drape_worker_start_seconds_count > 0')
    const worker = await drape.startWorker()
    await prometheus.watch({ api: drape.api, controller, worker, ...gpus.targets })
    await finishAll(waiting)
    let isQueueSeen = false
    const states = ['waiting|queued', 'running']
    const watching = Promise.all(
      states.map((state) => seen(`drape_generations_unfinished{state=~"${state}", engine="warp"}`)),
    ).finally(() => {
      isQueueSeen = true
    })
    const warped: string[] = []
    // The queue is sampled every few seconds: a fast machine would finish any fixed number of jobs between two samples.
    while (!isQueueSeen) {
      const ordered = await Promise.all(Array.from({ length: 8 }, () => tryOn('warp')))
      await finishAll(ordered)
      warped.push(...ordered)
    }
    await watching
    await finishAll([await tryOn('warp', { me: person }), await tryOn('warp', { me: garment, shirt: garment })])
    await copyGeneration(drape.database, warped[0], { status: 'PENDING', finished_at: null, deadline_at: new Date() })
    await drape.call('DELETE', '/tryon/v1/customers/nobody')
    await drape.database.query(sql.unsafe`
      insert into objects (key, account_id, kind, expires_at, created_at)
      values ('products/late.jpg', ${drape.accountId}, 'product', now() - interval '1 hour', now()),
        ('products/old.jpg', ${drape.accountId}, 'product', null, now() - interval '36 hours')`)
    await seen('drape_generations_finished_total{engine="warp", code="GENERATION_TIMEOUT"}')
    await seen('drape_swept_total{kind="objects"} > 0')
    await seen('drape_retention_objects_total{dry_run="false"} > 0')
    for (const slo of ['start', 'success', 'time-to-result']) await seen(`drape:slo_budget_left:30d{slo="${slo}"}`)
  }
})

/**
 * NVIDIA's exporter in its format, once with labels of a pod that Prometheus renames and once without, where the target
 * itself is the pod. Its GPUs are not real.
 */
async function serveGpus() {
  const labels = 'gpu="0",UUID="GPU-0",device="nvidia0",modelName="NVIDIA T4",Hostname="node-a"'
  const textOf = (pod: string) =>
    `DCGM_FI_DEV_GPU_UTIL{${labels}${pod}} 37\nDCGM_FI_DEV_FB_USED{${labels}${pod}} 5120\n`
  const server = createServer((request, response) => {
    const isKept = request.headers.host?.startsWith('localhost')
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
    response.end(textOf(isKept ? '' : `,namespace="${NAMESPACE}",pod="warp-worker-0"`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const targets = {
    dcgm: { probeUrl: `http://127.0.0.1:${port}` },
    'gpu-pod': { probeUrl: `http://localhost:${port}` },
  }
  return { targets, close: () => server.close() }
}

async function serveImage(image: Buffer): Promise<{ url: string; port: string; close: () => void }> {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(image))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/shirt.jpg`, port: String(port), close: () => server.close() }
}
