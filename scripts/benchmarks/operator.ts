import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { engines } from '../../controller/engine/resource.ts'
import { type Client, createClient } from '../../controller/runtime/client.ts'
import { type Connection, openConnection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { REPLICA_SETS } from '../../controller/worker-pool/template/replica-set.ts'
import { askApiServer } from '../../test/cluster/ask-api-server.ts'
import { startControlPlane } from '../../test/cluster/control-plane.ts'
import { findPrograms } from '../../test/cluster/programs.ts'
import { installDefinitions } from '../../test/cluster/samples.ts'
import { readImageVariables } from '../stack/image-variables.ts'
import type { Bench, Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import type { Program } from './program.ts'
import { bySize } from './size.ts'

const NAMESPACE = 'default'
const POOLS = bySize({ smallest: 5, usual: 200, full: 1000 })
/** Numbers of pools between which requests and time per pool should not grow. */
const GROWING = bySize({ smallest: [2, 5], usual: [50, 500], full: [50, 500, 2000] })
const REST_MS = bySize({ smallest: 1000, usual: 15_000 })
const MEGABYTES = bySize({ smallest: 200, usual: 200, full: 320 })
const TEMPLATE = { image: 'drape/worker', requests: { cpu: '100m' } }

const CONTROLLER_SETTINGS = readImageVariables('controller')
/** The controller's CONCURRENCY. */
const AT_ONCE = 8

/** A cluster without nodes, and a stack whose controllers watch it. */
interface Setup {
  readonly client: Client
  readonly connection: Connection
  readonly stack: Stack
  startController(): Promise<Program>
}

/** How fast a newly started controller reconciles every pool, at growing numbers of pools. */
const resync: Benchmark = {
  id: 'O2',
  what: 'operator: first decisions of a new leader',
  unit: '1/s',
  better: 'higher',
  goal: 200,
  measure: async (bench) => {
    const notes: string[] = []
    let ours = 0
    for (const pools of GROWING) {
      const { rate, requests, writesAtRest } = await resyncOnce(bench, pools)
      notes.push(
        `${pools} pools: ${Math.round(rate)}/s, ${requests.toFixed(1)} requests each, then ${writesAtRest} writes`,
      )
      ours = rate
    }
    return { ours, anchor: 1, note: notes.join('; ') }
  },
}

/** Changes many pools concurrently, until every ReplicaSet is current, compared with as many plain calls. */
const converged: Benchmark = {
  id: 'P21',
  what: 'operator: reconciles changed pools, against as many bare PATCH calls',
  unit: 's',
  better: 'lower',
  goal: 1.5,
  measure: async (bench) => {
    const { client, connection, startController } = await prepare(bench)
    const names = await makePools(client, POOLS)
    const first = await startController()
    await untilReplicaSets(client, names, 0)
    await first.stop()
    await inTurns(names, (name) => applyPool(client, name, { replicas: 1, scaling: { mode: 'Fixed' } }))
    const controller = await startController()
    await untilLeads(controller)
    const startedAt = performance.now()
    const before = await countRequests(connection, 'APPLY')
    await untilReplicaSets(client, names, 1)
    const ours = (performance.now() - startedAt) / 1000
    await untilReported(client, 1)
    const writes = (await countRequests(connection, 'APPLY')) - before
    await controller.stop()
    const bareAt = performance.now()
    await inTurns(names, (name, turn) =>
      client.patch(
        REPLICA_SETS,
        { namespace: NAMESPACE, name: `${name}-workers` },
        { metadata: { annotations: { bench: String(turn) } } },
      ),
    )
    const anchor = (performance.now() - bareAt) / 1000
    await inTurns(names, (name) => applyPool(client, name, { replicas: 0, scaling: { mode: 'Fixed' } }))
    return {
      ours,
      anchor,
      note: `${names.length} pools, ${(writes / names.length).toFixed(1)} writes per pool`,
    }
  },
}

const memory: Benchmark = {
  id: 'O3',
  what: 'operator: memory of the leading controller, against its limit',
  unit: 'MB',
  better: 'lower',
  goal: 1,
  measure: async (bench) => {
    const { megabytes } = await resyncOnce(bench, POOLS)
    return { ours: megabytes, anchor: MEGABYTES, note: `${POOLS} pools` }
  },
}

export const operator: readonly Benchmark[] = [resync, converged, memory]

async function resyncOnce(bench: Bench, pools: number) {
  const { client, connection, startController } = await prepare(bench)
  await makePools(client, pools)
  const first = await startController()
  await untilLooked(first, pools)
  await untilSettled(client, pools)
  await first.stop()
  const requestsBefore = await countRequests(connection, ANY)
  const second = await startController()
  await untilLeads(second)
  const startedAt = performance.now()
  const before = await countLooks(second)
  await untilLooked(second, pools)
  const rate = ((await countLooks(second)) - before) / ((performance.now() - startedAt) / 1000)
  const requests = ((await countRequests(connection, ANY)) - requestsBefore) / pools
  const megabytes = (await readMetric(second, /^process_resident_memory_bytes (\d+)/gm)) / 1e6
  const writesBefore = await countRequests(connection, WRITES)
  await sleep(REST_MS)
  const writesAtRest = (await countRequests(connection, WRITES)) - writesBefore
  await second.stop()
  return { rate, requests, megabytes, writesAtRest }
}

/** Creates so many pools, and deletes those beyond. */
async function makePools(client: Client, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `many-${i}`)
  await inTurns(names, (name) => applyPool(client, name, { replicas: 0, scaling: { mode: 'Fixed' } }))
  const found = await client.list(workerPools.type, { namespace: NAMESPACE })
  const surplus = found.map(({ metadata }) => metadata.name).filter((name) => !names.includes(name))
  await inTurns(surplus, (name) => client.delete(workerPools.type, { namespace: NAMESPACE, name }))
  while ((await client.list(REPLICA_SETS, { namespace: NAMESPACE })).length > count) await sleep(250)
  return names
}

/** Concurrently, with the concurrency of the controller. */
async function inTurns(names: readonly string[], act: (name: string, turn: number) => Promise<unknown>): Promise<void> {
  const left = [...names.entries()]
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await act(next[1], next[0])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function untilReplicaSets(client: Client, names: readonly string[], replicas: number): Promise<void> {
  const wanted = new Set(names.map((name) => `${name}-workers`))
  for (;;) {
    const found = await client.list<KubernetesObject & { spec: { replicas: number } }>(REPLICA_SETS, {
      namespace: NAMESPACE,
    })
    const ready = found.filter(({ metadata, spec }) => wanted.has(metadata.name) && spec.replicas === replicas)
    if (ready.length === wanted.size) return
    await sleep(100)
  }
}

/** Waits until the status of every pool shows this number of workers. */
async function untilReported(client: Client, replicas: number): Promise<void> {
  for (;;) {
    const found = await client.list<KubernetesObject & { status?: { replicas?: number } }>(workerPools.type, {
      namespace: NAMESPACE,
    })
    if (found.every(({ status }) => status?.replicas === replicas)) return
    await sleep(250)
  }
}

const ANY = '\\w+'
const WRITES = 'APPLY|PATCH|PUT|POST|DELETE'

/** Requests since the API server started, of the kinds that belong to pools; only the controller and the benchmark change them. */
async function countRequests(connection: Connection, verbs: string): Promise<number> {
  const pattern = new RegExp(
    `^apiserver_request_total\\{.*resource="(workerpools|replicasets|poddisruptionbudgets|pods|events)".*verb="(${verbs})"`,
  )
  const figures = await askApiServer(connection, { path: '/metrics' })
  const lines = figures.split('\n').filter((line) => pattern.test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

let cluster: ReturnType<typeof startCluster> | undefined

/** The cluster of all benchmarks, and an own stack. */
async function prepare(bench: Bench): Promise<Setup> {
  cluster ??= startCluster(bench)
  const { client, connection, kubeconfig } = await cluster
  const stack = await bench.startStack()
  const startController = () => {
    const own = { KUBECONFIG: kubeconfig, DATABASE_URL: stack.databaseUrl, REDIS_URL: stack.redisUrl }
    return bench.startBare('controller/main.ts', { pinned: false, env: { ...CONTROLLER_SETTINGS, ...own } })
  }
  return { client, connection, stack, startController }
}

async function startCluster(bench: Bench): Promise<Omit<Setup, 'stack' | 'startController'> & { kubeconfig: string }> {
  const programs = await findPrograms(process.env, (text) => console.error(text))
  if ('unavailable' in programs) throw new Error(`No Kubernetes control plane: ${programs.unavailable}`)
  const folder = join(bench.logFolder, 'control-plane')
  const { kubeconfig } = (await startControlPlane({ folder, programs, start: bench.startPart })).controlPlane
  const connection = openConnection({ kubeconfig })
  const client = createClient(connection, { fieldManager: 'bench' })
  await installDefinitions(client)
  const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
  await client.apply(engines.type, { metadata: { namespace: NAMESPACE, name: 'mock' }, spec })
  return { client, connection, kubeconfig }
}

async function applyPool(client: Client, name: string, spec: object): Promise<void> {
  const metadata = { namespace: NAMESPACE, name }
  await client.apply(workerPools.type, { metadata, spec: { engines: ['mock'], template: TEMPLATE, ...spec } })
}

async function untilSettled(client: Client, pools: number): Promise<void> {
  while ((await client.list(REPLICA_SETS, { namespace: NAMESPACE })).length < pools) await sleep(250)
  await untilReported(client, 0)
}

async function untilLeads(controller: Program): Promise<void> {
  while ((await readMetric(controller, /^drape_leader (\d)/gm)) !== 1) await sleep(20)
}

async function untilLooked(controller: Program, pools: number): Promise<void> {
  while ((await countLooks(controller)) < pools) await sleep(20)
}

function countLooks(controller: Program): Promise<number> {
  return readMetric(controller, /^drape_reconcile_seconds_count\{kind="WorkerPool".*\} (\d+)/gm)
}

async function readMetric({ probeUrl }: Program, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  return [...text.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0)
}
