import { randomUUID } from 'node:crypto'
import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportImage } from '../../../scripts/container/build.ts'
import { measureUnpacked, readLayout, type StoredImage } from '../../../scripts/container/layout.ts'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { formOf, readSample } from '../../support/drape.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestProcess } from '../../support/process.ts'
import { createTestRedis } from '../../support/redis.ts'
import { requestService } from '../../support/request-service.ts'
import { TEST_SECRETS_KEY } from '../../support/secrets.ts'
import { until } from '../../support/until.ts'
import type { ControlPlane } from '../control-plane.ts'
import { findSharedControlPlane } from '../shared-control-plane.ts'
import { type Container, createContainer } from './container.ts'
import { buildImages, CPU_TARGETS, findImageBuilder, rebuildImages } from './images.ts'

const builder = await findImageBuilder()
const controlPlane = await findSharedControlPlane()
const LONG = process.env.LONG_TESTS === '1'
const MEGABYTE = 1_000_000
const BUILD_MS = 900_000

describe.skipIf(builder === null)('the images', () => {
  const layout = { folder: '', images: {} as Record<string, StoredImage> }
  const undo = new AsyncDisposableStack()

  beforeAll(async () => {
    if (builder === null) return
    const names = await buildImages(builder)
    layout.folder = (await requestService('folder', null)).path
    for (const target of CPU_TARGETS) await exportImage(names[target], layout.folder, builder)
    const images = await readLayout(layout.folder)
    layout.images = Object.fromEntries(CPU_TARGETS.map((target, index) => [target, images[index]]))
  }, BUILD_MS)
  afterAll(() => undo.disposeAsync())

  it.each([
    ['api', 250],
    ['worker', 450],
    ['controller', 250],
  ])('of %s weighs less than %i MB on a node', async (target, limit) => {
    const { name, size, layers } = layout.images[target]
    const unpacked = await measureUnpacked(layout.folder, layers)
    console.log(`${name}: ${Math.round(size / MEGABYTE)} MB sent, ${Math.round(unpacked / MEGABYTE)} MB on a node`)
    expect(unpacked / MEGABYTE).toBeLessThan(limit)
  })

  it('run as a numeric user other than root', () => {
    const users = Object.values(layout.images).map(({ config }) => config.config.User)
    expect(users).toEqual(['65532:65532', '65532:65532', '65532:65532'])
  })

  it('share the layer of Node', () => {
    const first = Object.values(layout.images).map(({ layers }) => layers[0].digest)
    expect(new Set(first).size).toBe(1)
  })

  it('contain no shell, no package manager and no other programs', async () => {
    const { api, worker, controller } = await open()
    for (const { root } of [api, worker, controller])
      expect(await readdir(join(root, 'usr/local/bin'))).toEqual(['node'])
    for (const { root } of [api, worker, controller])
      expect(await readdir(join(root, 'usr'))).toEqual(['local', 'share'])
    const packages = ({ root }: Container) => readdir(join(root, 'drape/node_modules'))
    expect(await packages(api)).not.toContain('onnxruntime-node')
    expect(await packages(api)).not.toContain('@kubernetes')
    expect(await packages(worker)).not.toContain('koa')
    expect(await packages(controller)).not.toContain('sharp')
    expect(await readdir(join(worker.root, 'drape'))).toEqual(['api', 'node_modules', 'package.json', 'worker'])
  })

  it('complete a try-on with a read-only file system and without capabilities', async () => {
    const { api, worker, folder } = await open()
    const env = await environment(folder)
    expect(await finished(api, { command: ['node', 'scripts/drape.ts', 'migrate', '--json'], env })).toEqual({
      applied: [],
    })
    const create = ['account', 'create', '--name', 'Shop', '--credits', '5', '--json']
    const { apiKey } = await finished(api, { command: ['node', 'scripts/drape.ts', ...create], env })
    const url = await started(api, env)
    await started(worker, env)
    const headers = { 'x-api-key': apiKey as string }
    const accepted = await fetch(`${url}/tryon/v1/try-on`, { method: 'POST', headers, body: await tryOnForm() })
    const { generationId } = (await accepted.json()) as { generationId: string }
    const ended = await until(async () => {
      const answer = await fetch(`${url}/tryon/v1/generations/${generationId}`, { headers })
      const generation = (await answer.json()) as { status: string; resultImageUrl: string }
      return (generation.status === 'COMPLETED' || generation.status === 'FAILED') && generation
    })
    expect(ended.status).toBe('COMPLETED')
    const image = await fetch(ended.resultImageUrl)
    expect(image.headers.get('content-type')).toBe('image/jpeg')
    expect((await fetch(`${url}/docs`)).status).toBe(200)
  })

  it.each([
    ['simulate', '--policy', 'policy.yaml'],
    ['engine', 'card', 'warp'],
  ])('report that %s belongs to a clone', async (...words) => {
    const { api } = await open()
    const process = await api.start({ command: ['node', 'scripts/drape.ts', ...words], env: {} })
    expect(await process.ended).not.toBe(0)
    expect(process.output()).toContain('run it in a clone')
  })

  // It is ready where there are custom resources; that belongs to the chart.
  it.skipIf(controlPlane === null)('reach the API of a cluster', async () => {
    const { controller, folder } = await open()
    const kubeconfig = join(folder, 'kubeconfig.json')
    if (controlPlane !== null) await writeFile(kubeconfig, portableKubeconfig(controlPlane), { mode: 0o644 })
    const lease = { LEASE_NAME: 'image', LEASE_NAMESPACE: 'default' }
    await started(controller, { ...(await environment(folder)), ...lease, KUBECONFIG: kubeconfig }, 'healthz')
  })

  it.runIf(LONG)(
    'are the same bytes whenever they are built',
    async () => {
      if (builder === null) return
      const digests = Object.values(layout.images).map(({ digest }) => digest)
      const again = (await requestService('folder', null)).path
      const names = await rebuildImages(builder)
      for (const target of CPU_TARGETS) await exportImage(names[target], again, builder)
      expect((await readLayout(again)).map(({ digest }) => digest)).toEqual(digests)
    },
    BUILD_MS,
  )

  const opened = {
    containers: undefined as
      | Promise<Record<'api' | 'worker' | 'controller', Container> & { folder: string }>
      | undefined,
  }

  function open() {
    opened.containers ??= openAll()
    return opened.containers
  }

  async function openAll() {
    if (builder === null) throw new Error('there is no builder')
    const { path: folder } = await requestService('folder', null)
    await chmod(folder, 0o777)
    const make = async (target: string) => {
      const container = await createContainer(layout.images[target], { builder, folder })
      undo.defer(() => container.remove())
      return container
    }
    return { folder, api: await make('api'), worker: await make('worker'), controller: await make('controller') }
  }

  async function environment(folder: string): Promise<Record<string, string>> {
    const database = await createTestDatabase()
    undo.defer(() => database.drop())
    return {
      DATABASE_URL: database.url,
      REDIS_URL: await createTestRedis(),
      STORAGE_URL: `file:${folder}`,
      SIGNING_SECRET: randomUUID(),
      SECRETS_KEY: TEST_SECRETS_KEY,
    }
  }

  /** Starts the image's own program, waits until it is ready and returns the URL of its public port. */
  async function started(container: Container, env: Record<string, string>, probe = 'readyz'): Promise<string> {
    const [port, probePort] = [await reserveFreePort(), await reserveFreePort()]
    await Promise.all([port.release(), probePort.release()])
    const url = `http://127.0.0.1:${port.port}`
    const process = await container.start({
      env: { ...env, PORT: String(port.port), PROBE_PORT: String(probePort.port), PUBLIC_URL: url },
    })
    undo.defer(async () => void (await process.end('SIGKILL')))
    await Promise.race([becomesReady(`http://127.0.0.1:${probePort.port}/${probe}`), failure(process)])
    return url
  }
})

/** One that needs no file beside it. */
function portableKubeconfig({ server, certificate, token }: ControlPlane): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(certificate).toString('base64') }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'admin', user: { token } }],
  })
}

async function becomesReady(url: string): Promise<void> {
  await until(() =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
}

async function failure(process: TestProcess): Promise<never> {
  const code = await process.ended
  throw new Error(`ended with code ${code}\n${process.output()}`)
}

async function finished(
  container: Container,
  options: { command: readonly string[]; env: Readonly<Record<string, string>> },
): Promise<Record<string, unknown>> {
  const process = await container.start(options)
  if ((await process.ended) !== 0) throw new Error(process.output())
  return JSON.parse(process.output())
}

async function tryOnForm(): Promise<FormData> {
  const garment = { title: 'T-shirt', images: [{ source: { fileKey: 'garment' } }] }
  const data = { products: [garment], person: { image: { source: { fileKey: 'person' } } } }
  return formOf(data, {
    person: await readSample('persons/down-half-teal.jpg'),
    garment: await readSample('garments/tshirt-navy.jpg'),
  })
}
