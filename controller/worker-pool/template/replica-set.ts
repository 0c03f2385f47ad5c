import { createHash } from 'node:crypto'
import { ACCEPT_WAITING } from '../../../api/shared/network/probes.ts'
import type { Engine } from '../../engine/resource.ts'
import { downloadedEngines, ENGINE_FOLDERS, type EngineVolume, engineVolumes } from '../../engine/volume.ts'
import type { Live } from '../../runtime/apply-once.ts'
import { ownedBy, type ResourceType } from '../../runtime/resource.ts'
import type { WorkerPool } from '../resource.ts'
import { nodeAffinity } from '../scaling/cost-tiers.ts'
import { type NodeHint, withNodeHint } from '../workers/node-hint.ts'
import { POOL_LABEL, TEMPLATE_DIGEST, WORKER, WORKER_LABELS, withoutOwnAnnotations } from '../workers/pods.ts'
import { withDeviceMemory } from './device-memory.ts'
import { patchPod } from './pod-patch.ts'
import type { Template, Volume } from './template-schema.ts'

/** The fields of a ReplicaSet that the controller reads. */
export interface ReplicaSet extends Live {
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
    }[]
  }
}

export const REPLICA_SETS: ResourceType = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
}
export const BUDGETS: ResourceType = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
}
const PROBE_PORT = 9090
/** Seconds for a worker to exit after its drain timeout. */
const SHUTDOWN_SECONDS = 30
const PROBE_SECONDS = 2
const NONROOT_UID = 65532
const NO_HINT: NodeHint = { avoidsSick: false, avoidedNodes: [] }

/** Name of all objects that belong to a pool. */
export function workersName(pool: WorkerPool): string {
  return `${pool.metadata.name}-workers`
}

/** The labels that select the pods of a pool. */
function poolLabels(pool: WorkerPool): Record<string, string> {
  return { ...WORKER_LABELS, [POOL_LABEL]: pool.metadata.name }
}

/**
 * Renders the ReplicaSet of a pool. Its pods comply with the Pod Security Standard `restricted`. A ReplicaSet applies a changed
 * template to new pods only: the controller replaces the other pods, each after its worker has drained.
 */
export function renderReplicaSet(
  pool: WorkerPool,
  engines: readonly Engine[],
  replicas: number,
  hint: NodeHint = NO_HINT,
) {
  const template = renderTemplate(pool, engines)
  return {
    metadata: metadataOf(pool),
    spec: {
      replicas,
      selector: { matchLabels: poolLabels(pool) },
      // Not a part of the digest: the workers that exist stay.
      template: withNodeHint(template, hint),
    },
  }
}

/** The template of the pods, patched with `spec.podTemplate`, and annotated with its own digest. */
export function renderTemplate(pool: WorkerPool, engines: readonly Engine[]) {
  const { template, podTemplate = {} } = pool.spec
  const metadata = {
    labels: template.labels,
    annotations: {
      'kubectl.kubernetes.io/default-container': WORKER,
      ...template.annotations,
    },
  }
  const patched = drainable(patchPod({ metadata, spec: podSpec(pool, engines) }, podTemplate), pool, engines)
  const digest = createHash('sha256').update(JSON.stringify(patched)).digest('hex').slice(0, 16)
  return {
    metadata: {
      // The controller selects its pods by these labels.
      labels: { ...patched.metadata.labels, ...poolLabels(pool) },
      annotations: { ...withoutOwnAnnotations(patched.metadata.annotations), [TEMPLATE_DIGEST]: digest },
    },
    spec: patched.spec,
  }
}

/** Restores the fields that draining depends on after a patch: the worker's settings and the termination grace period. */
function drainable<T extends { readonly spec: ReturnType<typeof podSpec> }>(
  template: T,
  pool: WorkerPool,
  engines: readonly Engine[],
): T {
  const { containers, terminationGracePeriodSeconds: patched } = template.spec
  if (!Array.isArray(containers)) return template
  const settings = settingsOf(pool, engines)
  // A patch may have set anything, also no list: that the API server refuses.
  const complete = <C extends { readonly env?: unknown }>(container: C) => {
    const env = container.env ?? []
    return Array.isArray(env) ? { ...container, env: withSettings(env, settings) } : container
  }
  const terminationGracePeriodSeconds = Math.max(Number(patched) || 0, graceSeconds(pool))
  return {
    ...template,
    spec: {
      ...template.spec,
      terminationGracePeriodSeconds,
      containers: containers.map((container) => (container?.name === WORKER ? complete(container) : container)),
    },
  }
}

/** Lets nodes drain one worker at a time. */
export function renderBudget(pool: WorkerPool) {
  return {
    metadata: metadataOf(pool),
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: poolLabels(pool) },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  }
}

function metadataOf(pool: WorkerPool) {
  return {
    name: workersName(pool),
    namespace: pool.metadata.namespace,
    labels: { ...poolLabels(pool), 'app.kubernetes.io/managed-by': 'drape-controller' },
    ownerReferences: [ownedBy(pool)],
  }
}

function podSpec(pool: WorkerPool, engines: readonly Engine[]) {
  const { accelerator, capacity, template } = pool.spec
  const tiers = pool.spec.tiers ?? []
  const affinity = { ...acrossZones(pool), ...nextTo(template.nextTo), ...onNodes(pool, engines) }
  const claims = accelerator?.resourceClaims ?? []
  const models = engineVolumes(engines, template)
  const containers = models.flatMap((model) => model.initContainers)
  // Sidecars first: their downloads do not wait for the other engines.
  const initContainers = containers.toSorted((a, b) => Number(isSidecar(b)) - Number(isSidecar(a)))
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceSeconds(pool),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: NONROOT_UID,
      runAsGroup: NONROOT_UID,
      fsGroup: NONROOT_UID,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    imagePullSecrets: template.imagePullSecrets.map((name) => ({ name })),
    nodeSelector: { ...capacity.nodeSelector, ...template.nodeSelector },
    tolerations: [...template.tolerations, ...tiers.flatMap(({ tolerations }) => tolerations)],
    ...(template.serviceAccountName !== undefined && { serviceAccountName: template.serviceAccountName }),
    ...(template.priorityClassName !== undefined && { priorityClassName: template.priorityClassName }),
    ...(claims.length > 0 && { resourceClaims: claims }),
    ...(accelerator?.runtimeClassName !== undefined && { runtimeClassName: accelerator.runtimeClassName }),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: poolLabels(pool) },
      },
    ],
    affinity,
    ...(initContainers.length > 0 && { initContainers }),
    containers: [worker(pool, models, engines)],
    volumes: [
      { name: 'temporary', emptyDir: { sizeLimit: String(template.temporaryBytes) } },
      ...models.map(({ volume }) => volume),
      ...template.volumes.map(volumeOf),
    ],
  }
}

function isSidecar({ restartPolicy }: EngineVolume['initContainers'][number]): boolean {
  return restartPolicy === 'Always'
}

function worker(pool: WorkerPool, models: readonly EngineVolume[], engines: readonly Engine[]) {
  const { accelerator, template, warmup } = pool.spec
  const { resource, count = 1, resourceClaims: claims = [] } = accelerator ?? {}
  const extra = resource && { [resource]: String(count) }
  const probe = (path: string) => ({ httpGet: { path, port: 'probes' }, timeoutSeconds: 2 })
  return {
    name: WORKER,
    image: template.image,
    imagePullPolicy: template.imagePullPolicy,
    env: environment(pool, engines),
    envFrom: template.envFrom.map((name) => ({ secretRef: { name } })),
    ports: [{ name: 'probes', containerPort: PROBE_PORT, protocol: 'TCP' }],
    resources: {
      requests: { ...template.requests, ...extra },
      ...((template.limits || extra) && { limits: { ...template.limits, ...extra } }),
      ...(claims.length > 0 && { claims: claims.map(({ name }) => ({ name })) }),
    },
    // Becomes ready only after an inference process has run a model once. A worker that waits for downloads has started: from then on
    // it restarts an inference process that hangs, and the liveness probe restarts the worker.
    startupProbe: {
      ...probe(downloadedEngines(engines).length > 0 ? `/readyz?${ACCEPT_WAITING}` : '/readyz'),
      periodSeconds: PROBE_SECONDS,
      failureThreshold: Math.ceil(warmup.timeoutSeconds / PROBE_SECONDS),
    },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 6 },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: [
      { name: 'temporary', mountPath: '/tmp' },
      ...models.map(({ mount }) => mount),
      ...template.volumes.map(({ name, mountPath, readOnly }) => ({ name, mountPath, readOnly })),
    ],
  }
}

function graceSeconds({ spec: { drain } }: WorkerPool): number {
  return drain.timeoutSeconds + SHUTDOWN_SECONDS
}

function onNodes(pool: WorkerPool, engines: readonly Engine[]) {
  const { required, preferred } = nodeAffinity(pool.spec.tiers ?? [])
  const nodeSelectorTerms = withDeviceMemory(required, pool, engines)
  const affinity = {
    ...(nodeSelectorTerms.length > 0 && { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }),
    ...(preferred.length > 0 && { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  }
  return Object.keys(affinity).length === 0 ? {} : { nodeAffinity: affinity }
}

/** Not a topology spread constraint: where nodes have no zones, the scheduler would then ignore the spread over nodes too. */
function acrossZones(pool: WorkerPool) {
  const term = { labelSelector: { matchLabels: poolLabels(pool) }, topologyKey: 'topology.kubernetes.io/zone' }
  return {
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
  }
}

function nextTo(matchLabels: Readonly<Record<string, string>>) {
  if (Object.keys(matchLabels).length === 0) return {}
  const term = { labelSelector: { matchLabels }, topologyKey: 'kubernetes.io/hostname' }
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
}

function volumeOf({ name, claim, secret, configMap, memoryBytes }: Volume) {
  if (claim !== undefined) return { name, persistentVolumeClaim: { claimName: claim } }
  if (secret !== undefined) return { name, secret: { secretName: secret } }
  if (configMap !== undefined) return { name, configMap: { name: configMap } }
  return { name, emptyDir: { medium: 'Memory', sizeLimit: String(memoryBytes) } }
}

function environment(pool: WorkerPool, known: readonly Engine[]) {
  return withSettings(pool.spec.template.env.map(variable), settingsOf(pool, known))
}

/** The settings, followed by variables with other names. */
function withSettings<T extends { readonly name: string }>(
  env: readonly T[],
  settings: readonly Setting[],
): (Setting | T)[] {
  const names = new Set(settings.map(({ name }) => name))
  return [...settings, ...env.filter((each) => !names.has(each?.name))]
}

type Setting =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly valueFrom: { readonly fieldRef: { readonly fieldPath: string } } }

/** Environment variables that only the controller sets. */
function settingsOf(pool: WorkerPool, known: readonly Engine[]): Setting[] {
  const { drain, engines, queues, slotsPerReplica } = pool.spec
  const values: Readonly<Record<string, string>> = {
    POOL: `${pool.metadata.namespace}/${pool.metadata.name}`,
    ENGINES: engines.join(','),
    QUEUES: queues.join(','),
    CONCURRENCY: String(slotsPerReplica),
    DRAIN_SECONDS: String(drain.timeoutSeconds),
    PROBE_PORT: String(PROBE_PORT),
    TMPDIR: '/tmp',
    ENGINE_DIR: ENGINE_FOLDERS,
    ...acknowledgement(known),
    ...downloads(known),
    ...conformance(known),
  }
  return [
    ...Object.entries(values).map(([name, value]) => ({ name, value })),
    // Under this name the worker reports and reads its orders; a pod can have another host name. Its UID proves the report.
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
  ]
}

/** Workers check the licence, too, before they open an engine with a non-commercial licence. */
function acknowledgement(engines: readonly Engine[]): Readonly<Record<string, string>> {
  const names = engines
    .filter(({ spec: { license } }) => !license.commercialUse && license.acknowledged)
    .map(({ metadata }) => metadata.name)
  return names.length === 0 ? {} : { ACKNOWLEDGE_NON_COMMERCIAL: names.sort().join(',') }
}

/** Workers open these engines when the sidecars have completed their files. */
function downloads(engines: readonly Engine[]): Readonly<Record<string, string>> {
  const names = downloadedEngines(engines)
  return names.length === 0 ? {} : { DOWNLOADED_ENGINES: names.join(',') }
}

/** Conformance settings of engines that differ from the defaults. */
function conformance(engines: readonly Engine[]): Readonly<Record<string, string>> {
  const sorted = engines.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  const tolerances = sorted
    .filter(({ spec }) => spec.conformance.maxDeviationPercent !== 2)
    .map(({ metadata, spec }) => `${metadata.name}=${spec.conformance.maxDeviationPercent}`)
  const golden = sorted
    .filter(({ spec }) => spec.conformance.golden === 'Required')
    .map(({ metadata }) => metadata.name)
  return {
    ...(tolerances.length > 0 && { SELF_TEST_TOLERANCE: tolerances.join(',') }),
    ...(golden.length > 0 && { SELF_TEST_GOLDEN: golden.join(',') }),
  }
}

function variable({ name, value, secret }: Template['env'][number]) {
  return secret ? { name, valueFrom: { secretKeyRef: secret } } : { name, value }
}
