import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../api/shared/image/image.ts'
import { blocksOf, commandsOf } from '../../support/documented-blocks.ts'
import { until } from '../../support/until.ts'
import type { RealCluster } from './cluster.ts'
import { nameImages, startDrapeNode } from './drape-node.ts'
import { findImageBuilder } from './images.ts'
import { type ModelServer, startModelServer } from './model-server.ts'
import { BRIDGE } from './network.ts'
import { findNodePrograms } from './node-programs.ts'
import { createReader, type Reader } from './page.ts'
import { createShop, type Generation, type Shop, startCalling } from './shop.ts'

const LONG = process.env.LONG_TESTS === '1'
const builder = await findImageBuilder()
const programs = await findNodePrograms(builder)

const NAMESPACE = 'drape'
const PORT = 30080
const URL = `http://${BRIDGE.address}:${PORT}`
const MINUTES = 60_000
const QUICKSTART = { page: 'docs/start/platform.md', heading: 'Quickstart: operate Drape on Kubernetes' }
/** The key of the ConfigMap is the default of the chart. */
const AUTHORITIES = { name: 'internal-authorities', key: 'ca.crt' }
const HELM_TEST = /^helm test /

/** For a small machine without a server for the host of the pages. */
const INSTALL_WITH = [
  '--values=charts/drape/values-small.yaml',
  `--set-string=publicUrl=${URL}`,
  '--set-string=api.service.type=NodePort',
  `--set=api.service.nodePort=${PORT}`,
  `--set-string=trustedCertificates.configMap=${AUTHORITIES.name}`,
]

/** Commands that the API server checks with `--dry-run=server`, because they are for another installation, and the namespace for that. */
const CHECKED: readonly (readonly [page: string, heading: string, namespace: string])[] = [
  ['charts/drape/docs/install.md', 'External databases and storage', 'default'],
  ['charts/drape/docs/dashboard.md', 'Sign-in through OpenID Connect', 'default'],
  ['charts/drape/docs/upgrade.md', 'Replace workers', NAMESPACE],
  ['charts/drape/docs/backup.md', 'Restore', NAMESPACE],
]

describe.skipIf(programs === null)('an installation by Helm on a real node', { timeout: 10 * MINUTES }, () => {
  const undo = new AsyncDisposableStack()
  let cluster: RealCluster
  let reader: Reader
  let shop: Shop
  let models: ModelServer
  let testKey = ''
  let image = ''

  beforeAll(async () => {
    if (builder === null || programs === null) return
    cluster = await startDrapeNode({ builder, programs, namespaces: [NAMESPACE], volumes: [5, 10, 20] })
    undo.defer(() => cluster.stop())
    await nameImages(cluster)
    models = await startModelServer(BRIDGE.address)
    undo.defer(() => models.stop())
    const metadata = { name: AUTHORITIES.name, namespace: NAMESPACE }
    await cluster.apply([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [AUTHORITIES.key]: models.authority } },
    ])
    reader = await createReader(cluster, programs, { installWith: INSTALL_WITH })
  }, 30 * MINUTES)
  afterAll(() => undo.disposeAsync(), 2 * MINUTES)

  it('is ready, with every pod under the Pod Security Standard "restricted"', async () => {
    const startedAt = performance.now()
    await install()
    console.log(`ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    const { labels } = JSON.parse(await reader.run(`kubectl get namespace ${NAMESPACE} -o json`)).metadata
    expect(labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })

  it.skipIf(!LONG)('passes its own tests', async () => {
    const output = await reader.follow(QUICKSTART.page, QUICKSTART.heading, 2)
    const passed = output.match(/^Phase:\s+Succeeded$/gm) ?? []
    expect(passed.length).toBeGreaterThanOrEqual(7)
    expect(output).not.toMatch(/^Phase:\s+Failed$/m)
  })

  it('completes a try-on for the quickstart account through the Service', async () => {
    const [create, createKey] = commandsOf(QUICKSTART.page, QUICKSTART.heading, 3).trim().split('\n')
    const created = await explained(reader.run(create))
    const [accountId = '', apiKey = ''] = [/acc_[\w-]+/, /sk_\w+/].map((id) => id.exec(created)?.[0])
    testKey = /sk_test_\w+/.exec(await reader.run(createKey.replace('acc_…', accountId)))?.[0] ?? ''
    await inApi(`account update --account ${accountId} --writes-per-minute 100000 --reads-per-minute 100000`)
    await inApi(`credits add --account ${accountId} --credits 10000`)
    shop = createShop(URL, apiKey)
    const generation = await shop.finish(await shop.tryOn())
    expect(generation).toMatchObject({ status: 'COMPLETED' })
    image = generation.resultImageUrl ?? ''
    const bytes = new Uint8Array(await (await fetch(image)).arrayBuffer())
    const { width, height } = await decodeImage(bytes)
    expect(width * height).toBeGreaterThan(100_000)
  })

  it('serves the API quickstart with the test key', async () => {
    const page = 'docs/start/api.md'
    const commands = blocksOf(page).flatMap(({ language, text }) => (language === 'sh' ? [text] : []))
    await reader.run([`export DRAPE_URL=${URL} DRAPE_API_KEY=${testKey}`, ...commands].join('\n'))
    const image = readFileSync(join(reader.folder, 'result.jpg'))
    expect(image.subarray(0, 3).toString('hex')).toBe('ffd8ff')
  })

  it('matches the documentation', async () => {
    const troubleshooting = { page: 'charts/drape/docs/troubleshooting.md', heading: 'Troubleshooting' }
    expect(await reader.followPart(troubleshooting, { without: HELM_TEST })).toContain('workerpool.drape.dev/drape-cpu')
    expect(await reader.follow(troubleshooting.page, 'Pods that are not ready')).toContain('"ready"')
    expect(await reader.follow('docs/retention.md', 'Start a run now')).toContain('condition met')
    const configuration = { page: 'docs/configuration.md', heading: 'Operators and the command line', index: 2 }
    const { worker, database } = await findNames()
    const diagnosis = await reader.followPart(configuration, { placeholders: { POD: worker } })
    expect(diagnosis).toMatch(/^problems +0$/m)
    for (const check of ['postgres', 'migrations', 'redis', 'queue', 'storage', 'signing key', 'encryption key'])
      expect(diagnosis).toMatch(new RegExp(`^${check} +ok `, 'm'))
    await reader.run(`DATABASE_URL=${database}\n${commandsOf('docs/retention.md', 'Erasure of held objects')}`)
    for (const [page, heading, namespace] of CHECKED) {
      const there = commandsOf(page, heading).replaceAll(' -n drape ', ` -n ${namespace} `)
      const checked = there.replaceAll(/^kubectl -n \S+ wait .*$/gm, '')
      const commands = checked.replaceAll(/^(kubectl .*)$/gm, '$1 --dry-run=server')
      expect(await reader.run(commands), page).toMatch(/created|patched|scaled/)
    }
  })

  it('has model files downloaded from a server of its own authority beside a worker', async () => {
    const name = 'downloads'
    const engine = models.engine.metadata.name
    const { spec } = await read('workerpool', 'drape-cpu')
    const template = { ...spec.template, requests: { cpu: '100m', memory: '512Mi' } }
    const scaling = { mode: 'Fixed' }
    const pool = { engines: [engine], queues: ['try-on'], replicas: 1, scaling, template, warmup: spec.warmup }
    const file = 'velocity.onnx'
    models.replace(file, (bytes) => Buffer.from(bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte))))
    await cluster.apply([
      { ...models.engine, metadata: { name: engine, namespace: NAMESPACE } },
      { apiVersion: 'drape.dev/v1alpha1', kind: 'WorkerPool', metadata: { name, namespace: NAMESPACE }, spec: pool },
    ])
    await explained(until(async () => (await read('engine', engine)).status?.phase === 'Failed'))
    const problem = new RegExp(`^${file} could not be fetched: it has the SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}$`)
    expect(conditionOf(await read('engine', engine), 'Ready')).toMatchObject({
      status: 'False',
      message: expect.stringMatching(problem),
    })
    await until(async () => conditionOf(await read('workerpool', name), 'EnginesReady')?.status === 'False')
    expect((await findDownload(name)).isReady).toBe(false)

    // The other files are still there when the kubelet has started the sidecar again.
    const asked = models.asked.length
    const repaired = Promise.withResolvers<void>()
    models.replace(file, (bytes) => repaired.promise.then(() => bytes))
    await explained(until(async () => models.asked.length > asked && (await findDownload(name)).worker?.started))
    expect(models.asked.slice(asked)).toEqual([file])
    expect(await findDownload(name)).toMatchObject({
      isReady: false,
      worker: { ready: false, restartCount: 0 },
      sidecar: { ready: false, started: true },
    })
    repaired.resolve()
    await explained(until(async () => (await findDownload(name)).isReady))
    expect(await findDownload(name)).toMatchObject({ worker: { restartCount: 0 }, sidecar: { ready: true } })
    const { status } = await until(async () => {
      const found = await read('workerpool', name)
      return found.status?.lastStart !== undefined && found
    })
    expect(status?.lastStart?.downloadSeconds).toBeGreaterThan(0)
    await until(async () => conditionOf(await read('engine', engine), 'Conformant')?.status === 'True')
    expect(await read('engine', engine)).toMatchObject({ status: { phase: 'Verified' } })
    const generation = await shop.finish(await shop.tryOn(engine))
    expect(generation).toMatchObject({ status: 'COMPLETED', engine: { name: engine } })
    await cluster.kubectl('delete', `--namespace=${NAMESPACE}`, `workerpool/${name}`, `engine/${engine}`)
    await until(async () => (await findPods()).every((pod) => pod.pool !== name))
  })

  it.skipIf(!LONG)('adds workers when try-ons wait, and does each of them', async () => {
    const ids = await Promise.all(Array.from({ length: 16 }, () => shop.tryOn()))
    await until(async () => (await findPods()).filter(({ component }) => component === 'worker').length >= 2)
    const ended = await Promise.all(ids.map((id) => shop.finish(id)))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
  })

  it('is upgraded under load as documented, without a failed try-on', async () => {
    const calling = startCalling(shop)
    const page = { page: 'charts/drape/docs/upgrade.md', heading: 'Upgrade' }
    await explained(reader.followPart(page, { without: HELM_TEST }))
    await until(async () => (await findPods()).every(({ image, ready }) => ready && !isFirst(image)))
    const { accepted, refused } = await calling.stop()
    console.log(`${accepted.length} try-ons while it was upgraded, ${refused.length} requests refused`)
    const ended: Generation[] = []
    for (const id of accepted) ended.push(await shop.finish(id))
    expect(accepted.length).toBeGreaterThan(10)
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    expect(refused).toEqual([])
  })

  it.skipIf(!LONG)('goes back to the release before', async () => {
    await reader.run(`helm rollback drape 1 --namespace ${NAMESPACE} --wait --timeout 5m`)
    await until(async () => (await findPods()).every(({ image, ready }) => ready && !image.endsWith(':0.2.0')))
    expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
  })

  it.skipIf(!LONG)('leaves its data when it is uninstalled, and finds them again', async () => {
    await reader.follow('install.md', 'Uninstall')
    await until(async () => (await findPods()).length === 0)
    await install()
    expect((await fetch(image)).status).toBe(200)
    expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
  })

  /** As the quickstart has it, with the settings for a small machine. */
  async function install(): Promise<void> {
    await explained(reader.follow(QUICKSTART.page, QUICKSTART.heading, 1))
    await explained(reader.run(`kubectl -n ${NAMESPACE} rollout status deploy/drape-api --timeout 5m`))
    await until(async () => (await findPods()).length >= 5 && (await findPods()).every(({ ready }) => ready))
  }

  function inApi(command: string): Promise<string> {
    return reader.run(`kubectl -n ${NAMESPACE} exec deploy/drape-api -c api -- node scripts/drape.ts ${command}`)
  }

  /** A worker, and where this machine, which is the node, reaches the Postgres of the trial. */
  async function findNames(): Promise<{ worker: string; database: string }> {
    const worker = (await findPods()).find(({ component }) => component === 'worker')?.name ?? ''
    const print = `node --print process.env.DATABASE_URL`
    const url = new globalThis.URL(await reader.run(`kubectl -n ${NAMESPACE} exec deploy/drape-api -c api -- ${print}`))
    const service = `kubectl -n ${NAMESPACE} get service ${url.hostname.split('.')[0]}`
    url.hostname = await reader.run(`${service} --output jsonpath='{.spec.clusterIP}'`)
    return { worker, database: url.href }
  }

  async function read(kind: string, name: string): Promise<Resource> {
    return JSON.parse(await cluster.kubectl('get', kind, name, `--namespace=${NAMESPACE}`, '-o', 'json'))
  }

  /** The pod of a pool with 1 worker, and its containers; the sidecar downloads the model files. */
  async function findDownload(pool: string) {
    const pod = (await findPods()).find((one) => one.pool === pool)
    const [sidecar] = pod?.status.initContainerStatuses ?? []
    return { isReady: pod?.ready ?? false, worker: pod?.status.containerStatuses?.[0], sidecar }
  }

  async function explained<T>(work: Promise<T>): Promise<T> {
    return work.catch(async (error) => {
      throw new Error(`${error.message}\n${await describeNamespace()}`)
    })
  }

  /** Pods that are there to stay. */
  async function findPods() {
    const { items } = JSON.parse(await cluster.kubectl('get', 'pods', `--namespace=${NAMESPACE}`, '-o', 'json')) as {
      items: Pod[]
    }
    return items
      .filter(({ spec }) => spec.restartPolicy === 'Always')
      .map(({ metadata, spec, status }) => ({
        name: metadata.name,
        component: metadata.labels?.['app.kubernetes.io/component'] ?? '',
        pool: metadata.labels?.['drape.dev/pool'],
        image: spec.containers[0].image,
        ready: conditionOf({ status }, 'Ready')?.status === 'True',
        status,
      }))
  }

  async function describeNamespace(): Promise<string> {
    const parts = [
      ['get', 'all,pvc,workerpools,engines', '-o', 'wide'],
      ['get', 'events'],
      ['describe', 'pods'],
    ]
    const texts = await Promise.all(
      parts.map((args) => cluster.kubectl(...args, `--namespace=${NAMESPACE}`).catch((error) => error.message)),
    )
    return texts.join('\n')
  }
})

/** Of our own images; those of the trial services keep their tags. */
function isFirst(image: string): boolean {
  return image.endsWith(':0.1.0')
}

function conditionOf({ status }: { status?: { readonly conditions?: readonly Condition[] } }, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string
}

/** A custom resource. */
interface Resource {
  readonly spec: { readonly [field: string]: object }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly Condition[]
    readonly lastStart?: { readonly downloadSeconds?: number }
  }
}

interface ContainerStatus {
  readonly ready: boolean
  readonly started: boolean
  readonly restartCount: number
}

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec: { readonly restartPolicy: string; readonly containers: readonly { readonly image: string }[] }
  readonly status: {
    readonly conditions?: readonly Condition[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  }
}
