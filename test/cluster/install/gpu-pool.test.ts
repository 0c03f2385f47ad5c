import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { START_PHASES } from '../../../controller/worker-pool/pods.ts'
import type { WorkerStart } from '../../../controller/worker-pool/status-schema.ts'
import { buildChart } from '../../../scripts/charts/build.ts'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { readSample } from '../../support/drape.ts'
import { spawnProcess } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import type { RealCluster } from './cluster.ts'
import { startDrapeNode } from './drape-node.ts'
import { findImageBuilder } from './images.ts'
import { findNodePrograms } from './node-programs.ts'
import { NODE_NAME } from './node-settings.ts'

const LONG = process.env.LONG_TESTS === '1'
const builder = LONG ? await findImageBuilder() : null
const programs = LONG ? await findNodePrograms(builder) : null

const NAMESPACE = 'pools'
const MINUTES = 60_000
const JOBS = Number(process.env.JOBS ?? 200)
/** The kubelet asks a worker every 2 s whether it is ready; its first job does not wait for that. */
const CLAIM_SECONDS = 3
/** The engine of each pool. No engine needs a GPU here: the node only says that it has some. */
const ENGINES = { cpu: 'mock', gpu: 'warp' } as const
const SMALL = { requests: { cpu: '300m', memory: '768Mi' }, limits: { memory: '2Gi' }, queues: ['try-on'] }
const SCALE_DOWN = { stabilizationSeconds: 10 }
const VALUES = {
  image: { tag: 'test' },
  postgres: { image: 'docker.io/library/postgres:17-entrypoint' },
  // The only node has the accelerator.
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  pools: {
    cpu: {
      ...SMALL,
      engines: [ENGINES.cpu],
      scaling: { bounds: { min: 1, max: 2 }, target: { backlogPerSlot: 20 }, scaleDown: SCALE_DOWN },
    },
    gpu: {
      ...SMALL,
      accelerator: { resource: 'nvidia.com/gpu', count: 1 },
      queues: ['try-on'],
      engines: [ENGINES.gpu],
      scaling: { bounds: { min: 0, max: 2 }, scaleDown: SCALE_DOWN, zero: { idleSeconds: 10 } },
    },
  },
}

describe.skipIf(programs === null)(
  'a GPU pool at zero beside a CPU pool on a real node',
  { timeout: 30 * MINUTES },
  () => {
    const undo = new AsyncDisposableStack()
    let cluster: RealCluster
    let url = ''
    let apiKey = ''

    beforeAll(async () => {
      if (builder === null || programs === null) return
      cluster = await startDrapeNode({ builder, programs, namespaces: [NAMESPACE], volumes: [5, 10, 20] })
      undo.defer(() => cluster.stop())
      await advertiseGpus()
      await install()
      url = `http://${await kubectl('get', 'service', 'drape-api', '--output', 'jsonpath={.spec.clusterIP}')}`
      const plenty = ['--credits', '10000', '--writes-per-minute', '100000', '--reads-per-minute', '100000']
      const create = ['node', 'scripts/drape.ts', 'account', 'create', '--name', 'Shop', ...plenty, '--json']
      apiKey = JSON.parse(await kubectl('exec', 'deploy/drape-api', '--container=api', '--', ...create)).apiKey
    }, 30 * MINUTES)
    afterAll(() => undo.disposeAsync(), 2 * MINUTES)

    it('completes all concurrent jobs, without slowing CPU jobs, and scales to zero', async () => {
      await until(async () => (await stateOf(ENGINES.gpu)) === 'scaling_from_zero')
      await until(async () => (await stateOf(ENGINES.cpu)) === 'ready')
      const order = await prepareOrders()
      const rise = await watchReplicas(programs?.node ?? '')

      const startedAt = performance.now()
      await order(ENGINES.gpu)
      const acceptedAt = performance.now()
      const risenAt = until(async () => rise().find(({ replicas }) => replicas > 0)?.at)
      const others = Array.from({ length: 2 * JOBS - 1 }, (_, i) => (i < JOBS ? ENGINES.cpu : ENGINES.gpu))
      // Ten callers, so that the API answers at once.
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (let engine = others.pop(); engine; engine = others.pop()) await order(engine)
        }),
      )
      const arrival = (performance.now() - startedAt) / 1000
      const rose = ((await risenAt) - acceptedAt) / 1000

      await until(async () => (await query(`select count(*) from generations where finished_at is null`)) === '0')
      const jobs = await readJobs()
      console.log(
        `${2 * JOBS} jobs arrived within ${arrival.toFixed(1)} s; the GPU pool rose ${rose.toFixed(2)} s after its first job`,
      )
      for (const { engine, wait, seconds, total } of jobs)
        console.log(`${engine}: first start after ${wait} s, ${seconds} s for a job, all done after ${total} s`)
      const start = await readStart()
      console.log(`The first GPU worker, in seconds: ${JSON.stringify(start)}`)
      expect(start.claimed).toBeLessThan(CLAIM_SECONDS)
      const [gpu, cpu] = [
        jobs.find(({ engine }) => engine === ENGINES.gpu),
        jobs.find(({ engine }) => engine === ENGINES.cpu),
      ]
      expect(jobs.map(({ completed, attempts }) => ({ completed, attempts }))).toEqual([
        { completed: JOBS, attempts: 1 },
        { completed: JOBS, attempts: 1 },
      ])
      expect(rose).toBeLessThan(1)
      // The CPU jobs have run while the worker with a GPU was still starting.
      expect(cpu?.wait).toBeLessThan(Math.max(2 * (cpu?.seconds ?? 0), 1))
      expect(gpu?.wait).toBeGreaterThan(cpu?.wait ?? 0)

      await until(async () => (await replicasOf('gpu')) === 0 && (await replicasOf('cpu')) === 1)
      expect(await query('select max(attempt) from generations')).toBe('1')
      const metrics = await readControllerMetrics()
      // No engine comes from a URL.
      for (const phase of START_PHASES.filter((name) => name !== 'download'))
        expect(metrics).toMatch(new RegExp(`^drape_worker_start_phase_seconds_count\\{phase="${phase}"\\} [1-9]`, 'm'))
      expect(metrics).toContain('# TYPE drape_wrong_victim_total counter')
      expect(metrics).not.toMatch(/^drape_wrong_victim_total\S* [1-9]/m)
    })

    /** As the device plugin of a vendor would. */
    async function advertiseGpus(): Promise<void> {
      const patch = JSON.stringify({ status: { capacity: { 'nvidia.com/gpu': '4' } } })
      await cluster.kubectl('patch', 'node', NODE_NAME, '--subresource=status', '--patch', patch)
      await until(async () => {
        const allocatable = 'jsonpath={.status.allocatable.nvidia\\.com/gpu}'
        return (await cluster.kubectl('get', 'node', NODE_NAME, '--output', allocatable)) === '4'
      })
    }

    async function install(): Promise<void> {
      const chart = await buildChart('drape', join(cluster.folder, 'charts'))
      const values = join(cluster.folder, 'gpu-pool.json')
      await writeFile(values, JSON.stringify(VALUES))
      const homes = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, cluster.folder]))
      const env = { ...process.env, ...homes, KUBECONFIG: cluster.controlPlane.kubeconfig }
      const small = join(ROOT, 'charts/drape/values-small.yaml')
      const files = ['--values', small, '--values', values]
      const args = ['install', 'drape', chart, '--namespace', NAMESPACE, ...files, '--wait', '--timeout', '5m']
      await run(await findHelm(), args, { env })
    }

    /** The start of the GPU worker that was ready last, from its pod to its first job; `claimed`: from ready to the first job. */
    async function readStart() {
      const pool = JSON.parse(await kubectl('get', 'workerpool', 'drape-gpu', '--output', 'json'))
      const { name, at: _, ...phases }: WorkerStart = pool.status.lastStart
      const pod = await kubectl('get', 'pod', name, '--ignore-not-found', '--output', 'json')
      const { conditions } = JSON.parse(pod || '{"status":{"conditions":[]}}').status
      const ready = conditions.find(({ type }: { type: string }) => type === 'Ready')?.lastTransitionTime
      const first = await query(
        `select extract(epoch from min(started_at)) from generations where engine = '${ENGINES.gpu}' and worker like '${name}-%'`,
      )
      return {
        ...phases,
        total: Object.values(phases).reduce((sum, seconds) => sum + seconds, 0),
        claimed: Math.round(Number(first) * 1000 - Date.parse(ready)) / 1000,
      }
    }

    function kubectl(...args: string[]): Promise<string> {
      return cluster.kubectl(`--namespace=${NAMESPACE}`, ...args)
    }

    async function call(path: string, init: RequestInit = {}) {
      const headers = { 'x-api-key': apiKey, ...init.headers }
      const answer = await fetch(`${url}/tryon/v1/${path}`, { ...init, headers })
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
      return answer.json()
    }

    async function stateOf(engine: string): Promise<string | undefined> {
      const { engines } = (await call('engines')) as { engines: { name: string; state: string }[] }
      return engines.find(({ name }) => name === engine)?.state
    }

    /** Uploads a photo and a product once; each order names them. */
    async function prepareOrders(): Promise<(engine: string) => Promise<void>> {
      const photo = new FormData()
      photo.set('file', new Blob([await readSample('persons/down-half-teal.jpg')]), 'photo.jpg')
      const { imageId } = (await call('images/upload', { method: 'POST', body: photo })) as { imageId: string }
      const product = new FormData()
      const images = [{ source: { fileKey: 'shirt' } }]
      product.set('data', JSON.stringify({ externalId: 'shirt', title: 'T-shirt', images }))
      product.set('shirt', new Blob([await readSample('garments/tshirt-navy.jpg')]), 'shirt.jpg')
      await call('products', { method: 'POST', body: product })
      return async (engine) => {
        const person = { image: { source: { id: imageId } } }
        const output = { engine, mode: 'fast', deadlineSeconds: 3600 }
        const body = JSON.stringify({ products: [{ externalId: 'shirt' }], person, output })
        await call('try-on', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      }
    }

    /** Follows the number of workers that the GPU pool is to have; the times are as `performance.now` has them. */
    async function watchReplicas(node: string): Promise<() => { replicas: number; at: number }[]> {
      const format = 'jsonpath={.spec.replicas}{"\\n"}'
      const args = [
        'kubectl',
        `--namespace=${NAMESPACE}`,
        'get',
        'replicaset',
        'drape-gpu-workers',
        '--watch',
        '--output',
        format,
      ]
      const env = { ...process.env, KUBECONFIG: cluster.controlPlane.kubeconfig }
      const watch = await spawnProcess({ command: node, args, cwd: cluster.folder, env })
      undo.defer(async () => void (await watch.end('SIGKILL')))
      const seen: { replicas: number; at: number }[] = []
      const timer = setInterval(() => {
        const lines = watch.output().split('\n').slice(0, -1)
        for (const line of lines.slice(seen.length)) seen.push({ replicas: Number(line), at: performance.now() })
      }, 20)
      undo.defer(() => clearInterval(timer))
      await until(() => seen.length > 0)
      return () => seen
    }

    /** For each engine; times are in seconds since the first of all jobs was accepted. */
    async function readJobs(): Promise<
      { engine: string; completed: number; attempts: number; wait: number; seconds: number; total: number }[]
    > {
      const text = await query(`
      select json_agg(jobs order by engine desc) from (
        select engine, count(*) filter (where status = 'COMPLETED') as completed, max(attempt) as attempts,
          round(extract(epoch from min(started_at) - min(created_at)), 2) as wait,
          round(avg(extract(epoch from finished_at - started_at)), 2) as seconds,
          round(extract(epoch from max(finished_at) - min(created_at)), 1) as total
        from generations group by engine) as jobs`)
      return JSON.parse(text)
    }

    async function query(statement: string): Promise<string> {
      const psql = ['psql', '--username=drape', '--no-align', '--tuples-only', '--command', statement]
      return (await kubectl('exec', 'drape-postgres-0', '--', ...psql)).trim()
    }

    async function replicasOf(pool: string): Promise<number> {
      return Number(
        await kubectl('get', 'replicaset', `drape-${pool}-workers`, '--output', 'jsonpath={.spec.replicas}'),
      )
    }

    function readControllerMetrics(): Promise<string> {
      const script = "fetch('http://127.0.0.1:9090/metrics').then((answer) => answer.text()).then(console.log)"
      return kubectl('exec', 'deploy/drape-controller', '--', 'node', '--eval', script)
    }
  },
)
