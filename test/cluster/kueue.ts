import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../../controller/runtime/client.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { readYaml, writeYaml } from '../../controller/runtime/yaml.ts'
import { findGoTool } from '../../scripts/stack/go-tool.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { findGoModule } from '../support/go-module.ts'
import { failUnlessAllowed } from '../support/missing.ts'
import { spawnProcess, type TestProcess, untilReady } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'
import type { ControlPlane } from './control-plane.ts'
import { DEFINITIONS, NAMESPACES } from './kinds.ts'

/** Where Kueue's program and the files of its release are. */
export interface Kueue {
  readonly program: string
  readonly folder: string
}

interface Definition extends KubernetesObject {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string; readonly kind: string } }
}

interface Webhooks extends KubernetesObject {
  readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[]
}

const MODULE = {
  path: 'sigs.k8s.io/kueue',
  version: 'v0.17.0',
  sum: 'h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I=',
}

const kinds = { group: 'kueue.x-k8s.io', version: 'v1beta2' }
export const FLAVORS: ResourceType = { ...kinds, plural: 'resourceflavors', kind: 'ResourceFlavor', namespaced: false }
export const CLUSTER_QUEUES: ResourceType = {
  ...kinds,
  plural: 'clusterqueues',
  kind: 'ClusterQueue',
  namespaced: false,
}
export const LOCAL_QUEUES: ResourceType = { ...kinds, plural: 'localqueues', kind: 'LocalQueue', namespaced: true }

const core = { group: '', version: 'v1', namespaced: true }
const SERVICES: ResourceType = { ...core, plural: 'services', kind: 'Service' }
const SECRETS: ResourceType = { ...core, plural: 'secrets', kind: 'Secret' }
const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false }
const WEBHOOKS: Readonly<Record<string, ResourceType>> = Object.fromEntries(
  ['Mutating', 'Validating'].map((kind) => [
    `${kind}WebhookConfiguration`,
    {
      ...admission,
      plural: `${kind.toLowerCase()}webhookconfigurations`,
      kind: `${kind}WebhookConfiguration`,
    },
  ]),
)

// The names that Kueue expects unless its configuration says otherwise.
const NAMESPACE = 'kueue-system'
const SERVICE = { namespace: NAMESPACE, name: 'kueue-webhook-service' }
const CERTIFICATE = { namespace: NAMESPACE, name: 'kueue-webhook-server-cert' }
/** Kueue puts its certificate into the definitions with several versions. */
const CONVERTED = ['clusterqueues', 'cohorts', 'localqueues', 'multikueueclusters', 'workloads']

/** Kueue, built from its Go module once. Fails or returns null like `failUnlessAllowed`. */
export async function findKueue(): Promise<Kueue | null> {
  const { version } = MODULE
  const program = await findGoTool({ name: 'kueue', package: `${MODULE.path}/cmd/kueue`, source: { version } })
  if (typeof program !== 'string') return failUnlessAllowed(`No Kueue: ${program.unavailable}.`)
  const folder = await findGoModule(MODULE)
  if (typeof folder !== 'string') return failUnlessAllowed(`No Kueue: ${folder.unavailable}.`)
  return { program, folder }
}

/** Installs Kueue with its integration for pods, and starts its controller; resolves when it answers. */
export async function startKueue(
  { program, folder }: Kueue,
  { controlPlane, client }: { controlPlane: ControlPlane; client: Client },
): Promise<TestProcess> {
  const [webhookPort, probePort] = [await reserveFreePort(), await reserveFreePort()]
  await Promise.all([webhookPort.release(), probePort.release()])
  await install(join(folder, 'config/components'), { client, port: webhookPort.port })
  const { path } = await requestService('folder', null)
  const certDir = join(path, 'certificates')
  await mkdir(certDir)
  const configuration = {
    apiVersion: 'config.kueue.x-k8s.io/v1beta2',
    kind: 'Configuration',
    health: { healthProbeBindAddress: `127.0.0.1:${probePort.port}` },
    metrics: { bindAddress: '0' },
    webhook: { host: '127.0.0.1', port: webhookPort.port, certDir },
    leaderElection: { leaderElect: false },
    integrations: { frameworks: ['pod'] },
    // It would need an aggregated API.
    featureGates: { VisibilityOnDemand: false },
  }
  const config = join(path, 'kueue.yaml')
  await writeFile(config, writeYaml(configuration))
  const started = await spawnProcess({
    command: program,
    args: [`--config=${config}`],
    cwd: path,
    env: { ...process.env, KUBECONFIG: controlPlane.kubeconfig },
  })
  await Promise.all([
    mountCertificate(client, certDir),
    untilReady(`http://127.0.0.1:${probePort.port}`, started.ended).catch((error) => {
      throw new Error(`kueue ${error.message}\n${started.output()}`)
    }),
  ])
  return started
}

async function install(folder: string, { client, port }: { client: Client; port: number }): Promise<void> {
  const service = { ...SERVICE, port }
  for (const definition of await readDefinitions(join(folder, 'crd'))) {
    const { group, names } = definition.spec
    const webhook = { conversionReviewVersions: ['v1'], clientConfig: { service: { ...service, path: '/convert' } } }
    const conversion = CONVERTED.includes(names.plural) ? { conversion: { strategy: 'Webhook', webhook } } : {}
    await client.apply(DEFINITIONS, { ...definition, spec: { ...definition.spec, ...conversion } })
    const type = { ...names, group, version: kinds.version, namespaced: false }
    await until(() => client.list(type).catch(() => null))
  }
  await client.apply(NAMESPACES, { metadata: { name: NAMESPACE } })
  // Without kube-proxy, no address of a service leads anywhere; the API server also calls the host of such a service.
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  await client.apply(SERVICES, { metadata: SERVICE, spec })
  await client.apply(SECRETS, { metadata: CERTIFICATE })
  const manifests = readYaml(await readFile(join(folder, 'webhook/manifests.yaml'), 'utf8')) as Webhooks[]
  for (const { kind = '', metadata, webhooks } of manifests) {
    const ours = webhooks.map(({ clientConfig, ...webhook }) => {
      return { ...webhook, clientConfig: { service: { ...clientConfig.service, ...service } } }
    })
    await client.apply(WEBHOOKS[kind], { metadata: { name: `kueue-${metadata.name}` }, webhooks: ours })
  }
}

async function readDefinitions(folder: string): Promise<Definition[]> {
  const [{ resources }] = readYaml(await readFile(join(folder, 'kustomization.yaml'), 'utf8')) as [
    { resources: string[] },
  ]
  const texts = await Promise.all(resources.map((path) => readFile(join(folder, path), 'utf8')))
  return texts.flatMap((text) => readYaml(text) as Definition[])
}

/** Writes the certificate that Kueue issues for itself where it expects it, as a kubelet does with a mounted Secret. */
async function mountCertificate(client: Client, folder: string): Promise<void> {
  const data = await until(async () => {
    const secret = await client.get<KubernetesObject & { data?: Record<string, string> }>(SECRETS, CERTIFICATE)
    return secret?.data?.['tls.crt'] !== undefined && secret.data
  })
  // Kueue waits for the certificate, not for the key.
  for (const name of ['tls.key', 'tls.crt']) await writeFile(join(folder, name), Buffer.from(data[name], 'base64'))
}
