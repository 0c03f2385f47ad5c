import { reportName, type WorkerReport } from '../../../api/shared/engines/pool-registry.ts'
import { createApplyOnce } from '../../../controller/runtime/apply-once.ts'
import type { Client, Sent } from '../../../controller/runtime/client.ts'
import type { Happening } from '../../../controller/runtime/events.ts'
import { KubernetesError } from '../../../controller/runtime/kubernetes-error.ts'
import type { KubernetesObject, ObjectName, ResourceType } from '../../../controller/runtime/resource.ts'
import { createReportReverted } from '../../../controller/runtime/reverted-edits.ts'
import { createPoolReconcile, type PoolReconcile } from '../../../controller/worker-pool/reconcile.ts'
import { workerPools } from '../../../controller/worker-pool/resource.ts'
import type { Demand } from '../../../controller/worker-pool/scaling/decide.ts'
import type { PoolStatus } from '../../../controller/worker-pool/status/status-schema.ts'
import { REPLICA_SETS, type ReplicaSet } from '../../../controller/worker-pool/template/replica-set.ts'
import { PODS, type Pod } from '../../../controller/worker-pool/workers/pods.ts'
import { createRandom, type Random } from '../../faults/support/random.ts'

// A namespace with one pool, its ReplicaSets, pods and workers, under a clock that is stepped: the real reconcile runs against it.

const TICK_MS = 1000
const START = Date.parse('2026-05-04T12:00:00Z')
const NAMESPACE = 'shop'
const KEY = `${NAMESPACE}/pool`

interface ModelPod {
  object: Pod
  readonly replicaSet: string
  fence: number | null
  jobs: number
  startedAt: number
  idleSince: number
}

interface ModelReplicaSet extends ReplicaSet {
  readonly spec: { readonly replicas?: number; readonly template: object }
}

type ReplicaSetCondition = NonNullable<NonNullable<ReplicaSet['status']>['conditions']>[number]

export class ModelCluster {
  now = START
  demand: Demand | null = { waiting: 0, inFlight: 0, oldestWaitSeconds: 0, secondsPerJob: 3 }
  queueReachable = true
  /** Every worker that takes jobs gets one at once. */
  saturated = false
  /** The chance that a job ends within a tick. */
  jobEnds = 0.1
  /** How long each job takes instead; 0 leaves it to chance. */
  jobSeconds = 0
  isPlaced: (pod: Pod) => boolean = () => true
  /** The node of a pod that becomes ready. */
  placeOn: () => string = () => 'node-1'
  /** Whether the kubelet rejects a pod instead of running it. */
  rejects: () => boolean = () => false
  /** What the workers report of their downloads; null before. */
  downloadSeconds: number | null = null
  /** Nodes whose workers fence themselves. */
  readonly failingNodes = new Set<string>()
  /** Whether the engine of the pool exists. */
  hasEngine = true
  /** As far as the controller may read nodes. */
  readonly nodes = new Map<string, KubernetesObject>()
  /** The condition of a ReplicaSet whose pods the API server refuses. */
  createFailure: ReplicaSetCondition | null = null
  /** Whether the API server answers applies of ReplicaSets with an error. */
  refusesReplicaSets = false
  /** Acts between the controller and those of Kubernetes. */
  interfere: () => void = () => {}
  /** Acts while the controller sends an order to a worker. */
  beforeOrder: () => Promise<void> = async () => {}
  readonly events: Happening[] = []
  readonly statusWrites: PoolStatus[] = []
  /** Pods that were removed while their worker had a job. */
  readonly interrupted: string[] = []
  removed = 0
  podPatches = 0
  wrongVictims = 0
  /** Workers whose start was noted. */
  starts = 0
  /** The leader. */
  controller: PoolReconcile
  pods = new Map<string, ModelPod>()
  replicaSets = new Map<string, ModelReplicaSet>()
  readonly random: Random
  private pool: KubernetesObject & { spec: object; status?: PoolStatus }
  private readonly words = new Map<string, number | 'take'>()
  private readonly others = new Map<string, KubernetesObject>()
  private names = 0

  constructor(spec: object, seed = 1) {
    this.random = createRandom(seed)
    this.pool = { apiVersion: 'drape.dev/v1alpha1', kind: 'WorkerPool', metadata: this.metadataOf('pool'), spec }
    this.controller = this.startController()
  }

  get status(): PoolStatus {
    if (this.pool.status === undefined) throw new Error('The pool has no status yet')
    return this.pool.status
  }

  condition(type: string) {
    return this.status.conditions.find((condition) => condition.type === type)
  }

  get alive(): ModelPod[] {
    return [...this.pods.values()].filter(
      ({ object: { metadata, status } }) => metadata.deletionTimestamp === undefined && status?.phase !== 'Failed',
    )
  }

  get exists(): boolean {
    return this.others.get('pool gone') === undefined
  }

  /** A new process, which remembers nothing. */
  restartController(): void {
    this.controller = this.startController()
  }

  /** Makes another controller the leader, as the election of both processes does. */
  elect(controller: PoolReconcile): void {
    this.controller.forgetAll()
    this.controller = controller
    this.controller.forgetAll()
  }

  setSpec(spec: object): void {
    const { metadata } = this.pool
    this.pool = { ...this.pool, metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 }, spec }
  }

  deletePool(): void {
    const { metadata } = this.pool
    this.pool = { ...this.pool, metadata: { ...metadata, deletionTimestamp: new Date(this.now).toISOString() } }
    if ((metadata.finalizers ?? []).length === 0) this.dropPool()
  }

  /** Deletes the pool and creates another of its name, before the controller or the garbage collector has seen the first one go. */
  recreatePool(spec: object): void {
    const metadata = { ...this.metadataOf('pool'), uid: `uid-pool-${this.names++}` }
    this.pool = { apiVersion: 'drape.dev/v1alpha1', kind: 'WorkerPool', metadata, spec }
  }

  /** As another program would. */
  editReplicaSet(name: string, spec: object): void {
    const found = this.replicaSets.get(name)
    if (found === undefined) return
    const { metadata, ...rest } = edited(found, { ...found.spec, ...spec })
    this.replicaSets.set(name, { ...rest, metadata, touched: true, writers: ['kubectl'] })
  }

  removePod(name: string): void {
    const found = this.pods.get(name)
    if (found === undefined) return
    this.removed++
    if (found.jobs > 0) this.interrupted.push(name)
    this.pods.delete(name)
  }

  async run(seconds: number, eachTick: () => void = () => {}): Promise<void> {
    for (let tick = 0; tick < (seconds * 1000) / TICK_MS; tick++) {
      await this.tick()
      eachTick()
    }
  }

  async tick(): Promise<void> {
    this.now += TICK_MS
    for (const pod of this.pods.values()) this.work(pod)
    if (this.exists) await this.controller.reconcile(KEY, 0)
    this.interfere()
    for (const replicaSet of this.replicaSets.values()) this.replicate(replicaSet)
  }

  private work(pod: ModelPod): void {
    const word = this.queueReachable ? this.words.get(pod.object.metadata.name) : undefined
    if (word !== undefined) pod.fence = word === 'take' ? null : word
    if (!isReady(pod) && pod.object.status?.phase !== 'Failed' && this.isPlaced(pod.object))
      pod.object = this.rejects() ? rejectedPod(pod.object, this.placeOn()) : readyPod(pod.object, this.placeOn())
    if (pod.jobs > 0 && this.isDone(pod)) Object.assign(pod, { jobs: 0, idleSince: this.now })
    if (this.saturated && pod.jobs === 0 && pod.fence === null && isReady(pod) && !this.isSick(pod))
      Object.assign(pod, { jobs: 1, startedAt: this.now })
  }

  private isDone({ startedAt }: ModelPod): boolean {
    if (this.jobSeconds === 0) return this.random.chance(this.jobEnds)
    return this.now - startedAt >= this.jobSeconds * 1000
  }

  /** As the controller of ReplicaSets does: a changed template is for new pods only. */
  private replicate(replicaSet: ModelReplicaSet): void {
    const kept = this.alive.filter((pod) => pod.replicaSet === replicaSet.metadata.name)
    const { replicas = 1 } = replicaSet.spec
    if (this.createFailure) {
      this.refuse(replicaSet, this.createFailure)
      return
    }
    for (let count = kept.length; count < replicas; count++) this.addPod(replicaSet)
    const rank = (pod: ModelPod) =>
      (!isReady(pod) || this.isSick(pod) ? 0 : costOf(pod) < 0 ? 1 : 2) + this.random.between(0, 9) / 10
    const ranked = kept.map((pod) => ({ pod, rank: rank(pod) })).sort((a, b) => a.rank - b.rank)
    for (const { pod } of ranked.slice(0, Math.max(0, kept.length - replicas))) this.removePod(pod.object.metadata.name)
  }

  private refuse(replicaSet: ModelReplicaSet, failure: ReplicaSetCondition): void {
    const status = { ...replicaSet.status, conditions: [failure] }
    this.replicaSets.set(replicaSet.metadata.name, { ...replicaSet, status })
  }

  private addPod({ metadata, spec }: ModelReplicaSet): void {
    const { labels, annotations } = (spec.template as Sent).metadata
    const made = this.metadataOf(`${metadata.name}-${this.names++}`)
    const object: Pod = {
      metadata: { ...made, labels, annotations },
      status: { phase: 'Pending', conditions: PENDING },
    }
    const rest = { fence: null, jobs: 0, startedAt: 0, idleSince: this.now }
    this.pods.set(made.name, { object, replicaSet: metadata.name, ...rest })
  }

  private dropPool(): void {
    this.others.set('pool gone', this.pool)
    for (const name of [...this.pods.keys()]) this.removePod(name)
    this.replicaSets.clear()
  }

  private metadataOf(name: string) {
    const creationTimestamp = new Date(this.now).toISOString()
    return { namespace: NAMESPACE, name, uid: `uid-${name}`, generation: 1, creationTimestamp }
  }

  startController(): PoolReconcile {
    const client = this.createModelClient()
    const reportReverted = createReportReverted(async (_, happening) => void this.events.push(happening))
    const ofPool = <T>(key: string, object: T) => (key === KEY && this.exists ? object : undefined)
    return createPoolReconcile({
      client,
      reportReverted,
      applyOnce: createApplyOnce(client, { annotation: 'drape.dev/applied', onReverted: reportReverted }),
      record: async (_, happening) => void this.events.push(happening),
      reportInvalid: async (_, __, problems) => {
        throw new Error(problems)
      },
      registry: { order: (host, word) => this.order(host, word), limitJobs: async () => {} },
      sample: async () => ({
        demand: this.demand && new Map([['mock', this.demand]]),
        workers: this.queueReachable ? this.reports() : null,
      }),
      pools: { get: (key) => ofPool(key, this.pool), list: () => (this.exists ? [this.pool] : []) },
      policies: { get: () => undefined },
      engines: { get: () => (this.hasEngine ? ENGINE : undefined) },
      replicaSets: { get: (key) => this.replicaSets.get(key.split('/')[1]) },
      budgets: { get: (key) => this.others.get(`budget ${key.split('/')[1]}`) },
      findNode: (name) => this.nodes.get(name),
      podsOf: () => [...this.pods.values()].map(({ object }) => object),
      now: () => new Date(this.now),
      onDecision: () => {},
      onWrongVictim: () => this.wrongVictims++,
      onStarted: () => this.starts++,
      gauges: { note: () => {}, forget: () => {} },
    })
  }

  private async order(host: string, word: number | 'take'): Promise<void> {
    await this.beforeOrder()
    this.words.set(host, word)
  }

  private isSick({ object }: ModelPod): boolean {
    return this.failingNodes.has(object.spec?.nodeName ?? '')
  }

  private reports(): Map<string, WorkerReport> {
    const ready = [...this.pods.values()].filter(isReady)
    return new Map(
      ready.map((pod) => {
        const { object, fence, jobs, idleSince } = pod
        const state = fence === null ? 'taking' : jobs === 0 ? 'drained' : 'draining'
        const host = object.metadata.name
        const since = Date.parse(object.metadata.creationTimestamp ?? '')
        const sick = { reason: 'DeviceError', message: 'CUDA failure 700', since }
        const report = {
          host,
          state,
          fence,
          jobs,
          slots: 1,
          provider: 'cpu',
          engines: ['mock'] as string[],
          idleSince: jobs === 0 ? idleSince : null,
        } as const
        const { downloadSeconds } = this
        return [
          reportName(host, object.metadata.uid ?? ''),
          { ...report, ...(downloadSeconds !== null && { downloadSeconds }), ...(this.isSick(pod) && { sick }) },
        ] as const
      }),
    )
  }

  private createModelClient(): Client {
    const apply = async (type: ResourceType, sent: Sent): Promise<KubernetesObject> => {
      if (type === workerPools.type) return this.applyPool(sent)
      if (type !== REPLICA_SETS) {
        const budget = { ...sent, metadata: { ...sent.metadata, generation: 1 } }
        this.others.set(`budget ${sent.metadata.name}`, budget)
        return budget
      }
      if (this.refusesReplicaSets) throw new KubernetesError(500, 'etcdserver: request timed out')
      const before = this.replicaSets.get(sent.metadata.name)
      const spec = sent.spec as ModelReplicaSet['spec']
      const made = before ?? {
        metadata: { ...this.metadataOf(sent.metadata.name), generation: 0 },
        spec: { template: {} },
      }
      const next = JSON.stringify(made.spec) === JSON.stringify(spec) ? made : edited(made, spec)
      const metadata = { ...sent.metadata, ...next.metadata, annotations: sent.metadata.annotations }
      this.replicaSets.set(sent.metadata.name, { ...next, metadata })
      return this.replicaSets.get(sent.metadata.name) as ModelReplicaSet
    }
    const patch = async (type: ResourceType, { name }: ObjectName, { metadata }: Pick<Sent, 'metadata'>) => {
      const found = this.pods.get(name)
      if (type !== PODS || found === undefined) return null
      this.podPatches++
      const merged = Object.entries({ ...found.object.metadata.annotations, ...metadata.annotations })
      const annotations = Object.fromEntries(merged.filter(([, value]) => value !== null))
      const labels = { ...found.object.metadata.labels, ...metadata.labels }
      found.object = { ...found.object, metadata: { ...found.object.metadata, annotations, labels } }
      return found.object
    }
    const remove = async (_: ResourceType, { name }: ObjectName) => this.removePod(name)
    return { apply, patch, delete: remove, get: async () => null, list: async () => [] } as unknown as Client
  }

  private applyPool({ status }: Sent): KubernetesObject {
    this.statusWrites.push(status as PoolStatus)
    this.pool = { ...this.pool, status: JSON.parse(JSON.stringify(status)) }
    return this.pool
  }
}

const PENDING = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }]
const ENGINE_SPEC = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
const READY = { type: 'Ready', status: 'True', reason: 'Ready', message: '', observedGeneration: 1 }
const ENGINE = {
  metadata: { namespace: NAMESPACE, name: 'mock', uid: 'uid-mock', generation: 1 },
  spec: ENGINE_SPEC,
  status: { conditions: [{ ...READY, lastTransitionTime: '2026-05-04T12:00:00Z' }] },
} as KubernetesObject

function edited(replicaSet: ModelReplicaSet, spec: ModelReplicaSet['spec']): ModelReplicaSet {
  const generation = (replicaSet.metadata.generation ?? 0) + 1
  const status = { observedGeneration: generation }
  return { ...replicaSet, metadata: { ...replicaSet.metadata, generation }, spec, status, touched: false }
}

function isReady({ object }: ModelPod): boolean {
  return object.status?.containerStatuses?.some(({ started }) => started === true) ?? false
}

function readyPod(pod: Pod, nodeName: string): Pod {
  const conditions = [{ type: 'Ready', status: 'True' }]
  const status = { phase: 'Running', conditions, containerStatuses: [{ name: 'worker', started: true }] }
  return { ...pod, spec: { nodeName }, status }
}

/** As the kubelet does with a pod whose device is unhealthy. */
function rejectedPod(pod: Pod, nodeName: string): Pod {
  const status = { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'Allocate failed: no healthy devices' }
  return { ...pod, spec: { nodeName }, status }
}

function costOf({ object }: ModelPod): number {
  return Number(object.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0)
}
