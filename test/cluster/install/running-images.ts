import { randomUUID } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { formOf, readSample } from '../../support/drape.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestProcess } from '../../support/process.ts'
import { createTestRedis } from '../../support/redis.ts'
import { requestService } from '../../support/request-service.ts'
import { TEST_SECRETS_KEY } from '../../support/secrets.ts'
import { until } from '../../support/until.ts'
import type { ControlPlane } from '../control-plane.ts'
import type { Builder } from './base-image.ts'
import { type Container, createContainer } from './container.ts'
import type { CPU_TARGETS } from './images.ts'

type Target = (typeof CPU_TARGETS)[number]
type Environment = Readonly<Record<string, string>>

/** A container of each image. All of them may write to `folder`. */
export type Containers = Readonly<Record<Target, Container>> & { readonly folder: string }

/** `undo` removes the containers, and what runs in them. */
export async function createContainers(
  images: Readonly<Record<Target, string>>,
  { builder, undo }: { builder: Builder; undo: AsyncDisposableStack },
): Promise<Containers> {
  const { path: folder } = await requestService('folder', null)
  await chmod(folder, 0o777)
  const make = async (target: Target) => {
    const container = await createContainer(images[target], { builder, folder })
    undo.defer(() => container.remove())
    return container
  }
  return { folder, api: await make('api'), worker: await make('worker'), controller: await make('controller') }
}

export interface TryOn {
  /** URL of the API. */
  readonly url: string
  /** What the migration of the image changed in a database with all migrations of the clone. */
  readonly migration: Readonly<Record<string, unknown>>
  readonly status: string
  /** Why it failed. */
  readonly errorCode?: string
  /** Of the result; null if there is none. */
  readonly contentType: string | null
}

/** Completes a try-on with the images alone, from the first account on. */
export async function completeTryOn(
  { api, worker, folder }: Containers,
  { undo }: { undo: AsyncDisposableStack },
): Promise<TryOn> {
  const env = await createEnvironment(folder, undo)
  const migration = await finish(api, { command: ['node', 'scripts/drape.ts', 'migrate', '--json'], env })
  const create = ['account', 'create', '--name', 'Shop', '--credits', '5', '--json']
  const { apiKey } = await finish(api, { command: ['node', 'scripts/drape.ts', ...create], env })
  const url = await startReady(api, { env, undo })
  await startReady(worker, { env, undo })
  const headers = { 'x-api-key': apiKey as string }
  const accepted = await fetch(`${url}/tryon/v1/try-on`, { method: 'POST', headers, body: await tryOnForm() })
  const { generationId } = (await accepted.json()) as { generationId: string }
  const { status, errorCode, resultImageUrl } = await until(async () => {
    const answer = await fetch(`${url}/tryon/v1/generations/${generationId}`, { headers })
    const generation = (await answer.json()) as { status: string; errorCode?: string; resultImageUrl: string }
    return (generation.status === 'COMPLETED' || generation.status === 'FAILED') && generation
  })
  const image = status === 'COMPLETED' ? await fetch(resultImageUrl) : null
  return { url, migration, status, errorCode, contentType: image?.headers.get('content-type') ?? null }
}

/** Starts the controller, and resolves when it has reached the API of the cluster. */
export async function reachCluster(
  { controller, folder }: Containers,
  { controlPlane, undo }: { controlPlane: ControlPlane; undo: AsyncDisposableStack },
): Promise<void> {
  const kubeconfig = join(folder, 'kubeconfig.json')
  await writeFile(kubeconfig, portableKubeconfig(controlPlane), { mode: 0o644 })
  const lease = { LEASE_NAME: `image-${randomUUID()}`, LEASE_NAMESPACE: 'default', KUBECONFIG: kubeconfig }
  const env = { ...(await createEnvironment(folder, undo)), ...lease }
  // It is ready where there are custom resources; that belongs to the chart.
  await startReady(controller, { env, undo, probe: 'healthz' })
}

async function createEnvironment(folder: string, undo: AsyncDisposableStack): Promise<Environment> {
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
async function startReady(
  container: Container,
  { env, undo, probe = 'readyz' }: { env: Environment; undo: AsyncDisposableStack; probe?: string },
): Promise<string> {
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

async function finish(
  container: Container,
  options: { command: readonly string[]; env: Environment },
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
