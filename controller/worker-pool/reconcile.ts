import type { PoolRegistry } from '../../api/shared/engines/pool-registry.ts'
import type { Engine } from '../engine/resource.ts'
import type { ApplyOnce, Live, OnReverted } from '../runtime/apply-once.ts'
import type { Client } from '../runtime/client.ts'
import { eventsOfChanges } from '../runtime/condition-events.ts'
import { wholeSeconds } from '../runtime/conditions.ts'
import { type RecordEvent, warning } from '../runtime/events.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import { notLeader } from '../runtime/leader.ts'
import { refusalOf } from '../runtime/refusal.ts'
import { type KubernetesObject, keyOf } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { type Engines, findEngines, findRules, pausedAt, type Rules } from './configuration.ts'
import type { Decision, Demand } from './decide.ts'
import { sumDemand } from './demand.ts'
import { type DrainPlan, freeze, type PoolPod } from './drain.ts'
import type { PoolGauges } from './gauges.ts'
import { createInterrupt, findInterruptions, type Interruptions } from './interruption.ts'
import { avoidsSickNodes, findWaitingForHint } from './node-hint.ts'
import { outcomeFor, untilNextSample } from './outcome.ts'
import { findPlacement, type Placement } from './placement.ts'
import {
  annotationsFor,
  hasDownloads,
  liveWorkers,
  PODS,
  POOL_LABEL,
  type Pod,
  readPod,
  SICK_LABEL,
  SICK_VALUES,
  type StartPhases,
  startPhases,
  TEMPLATE_DIGEST,
} from './pods.ts'
import { createDivision } from './pool-capacity.ts'
import { firstMemory, isShrinking, type PoolMemory, withDecision } from './pool-memory.ts'
import {
  BUDGETS,
  REPLICA_SETS,
  type ReplicaSet,
  renderBudget,
  renderReplicaSet,
  renderTemplate,
  workersName,
} from './replica-set.ts'
import { type WorkerPool, workerPools } from './resource.ts'
import { planRollout } from './rollout.ts'
import type { Sample } from './sampler.ts'
import { budgetAt } from './schedule.ts'
import { findSickWorkers, newRecords, planAround, type SickWorkers } from './sick-workers.ts'
import { presentStatus } from './status.ts'
import type { WorkerStart } from './status-schema.ts'
import { untilStatusWrite } from './status-writes.ts'
import { createSteps } from './steps.ts'
import { countTiers } from './tiers.ts'

export interface PoolParts {
  readonly client: Client
  readonly applyOnce: ApplyOnce
  readonly record: RecordEvent
  readonly reportReverted: OnReverted
  readonly reportInvalid: ReportInvalid
  readonly registry: Pick<PoolRegistry, 'order' | 'limitJobs'>
  readonly sample: () => Promise<Sample>
  readonly pools: Pick<Watched<KubernetesObject>, 'get' | 'list'>
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly engines: Pick<Watched<KubernetesObject>, 'get'>
  readonly replicaSets: Pick<Watched<ReplicaSet>, 'get'>
  readonly budgets: Pick<Watched<Live>, 'get'>
  /** Finds a node by name; undefined if nodes cannot be read. */
  readonly findNode: (name: string) => KubernetesObject | undefined
  /** The pods of a pool. */
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
  readonly now: () => Date
  /** Called on a change of the number of workers. */
  readonly onDecision: (decision: Decision) => void
  /** Called when a pod other than a drained one was removed. */
  readonly onWrongVictim: () => void
  /** Called when a worker has become ready, with the seconds since its pod was created and, if known, the phases. */
  readonly onStarted: (seconds: number, pool: WorkerPool, phases: StartPhases | null) => void
  readonly gauges: Pick<PoolGauges, 'note' | 'forget'>
}

/** The observed state of a pool at one moment, and the resulting plan. */
interface Observation {
  readonly pool: WorkerPool
  readonly pods: readonly PoolPod[]
  readonly placement: Placement
  readonly workers: ReturnType<typeof liveWorkers>
  readonly sick: SickWorkers
  readonly interruptions: Interruptions
  /** Number of sick workers that are held in addition to the desired ones. */
  readonly heldCount: number
  readonly queueReachable: boolean
  readonly demand: Demand | null
  readonly engines: Engines
  readonly rules: Rules
  readonly pausedUntil: string | null
  /** Digest of the template of new pods; null while unknown. */
  readonly template: string | null
  readonly replicaSet: ReplicaSet | undefined
  /** Replicas of the ReplicaSet. */
  readonly replicas: number
  readonly now: Date
  readonly memory: PoolMemory
  readonly outcome: ReturnType<typeof outcomeFor>
  readonly plan: DrainPlan
}

/** Reconcile interval while a change is in progress. */
const BUSY_MS = 1000
/** Max delay until a write appears in the status. */
const MAX_STATUS_DELAY_MS = 1000
/** Reconcile interval while a ready worker has not reported. */
const UNREPORTED_MS = 5000

export interface PoolReconcile {
  /** Reconciles the workers of one pool. Returns when to reconcile again. */
  reconcile(key: string, failures: number): Promise<Done | undefined>
  /** Drops all memories at a change of the leader: what another leader did in between would be unknown to them. */
  forgetAll(): void
}

export function createPoolReconcile(parts: PoolParts): PoolReconcile {
  const memories = new Map<string, PoolMemory>()
  const takeSteps = createSteps(parts)
  const interrupt = createInterrupt(parts)
  const divide = createDivision(parts)

  return { reconcile, forgetAll: () => memories.clear() }

  async function reconcile(key: string, failures: number): Promise<Done | undefined> {
    const found = parts.pools.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      memories.delete(key)
      parts.gauges.forget(key)
      return undefined
    }
    const read = workerPools.read(found)
    if ('problems' in read) return void (await parts.reportInvalid(workerPools.type, found, read.problems))
    return reconcilePool(read.object, key, failures)
  }

  async function reconcilePool(pool: WorkerPool, key: string, failures: number): Promise<Done> {
    const observation = await observe(pool, key)
    const { memory, outcome, interruptions, now } = observation
    // Recorded before the cluster can act on the marks: the pods of this pass do not have these marks yet.
    memory.pods = podsAfter(observation)
    memory.notices = interruptions.seenAt
    await reportSick(parts, observation)
    const { wrote, refusal } = await carryOut(observation).then(
      (done) => ({ wrote: done, refusal: null }),
      (error) => ({ wrote: false, refusal: refusalOf(error, failures) }),
    )
    if (outcome.decision.direction !== 'None') parts.onDecision(outcome.decision)
    memory.scaling = outcome.memory
    memory.desired = outcome.decision.to
    memory.reconciledAt = now.getTime()
    memory.unreported = withDecision(memory.unreported, { decision: outcome.decision, at: now })
    await recordDecision(parts, pool, outcome.decision)
    if (wrote) memory.unreportedSince ??= now.getTime()
    const waitMs = refusal ? 0 : untilReported(observation, wrote)
    if (waitMs > 0) return { againMs: waitMs }
    const writeMs = await writeStatus(parts, observation, { key, refusal: refusal?.message ?? null })
    if (refusal) throw refusal
    return { againMs: Math.min(writeMs, untilNextReconcile(observation)) }
  }

  /** Observes the state of a pool and plans the changes. */
  async function observe(pool: WorkerPool, key: string): Promise<Observation> {
    const { demand: everything, workers: reports } = await parts.sample()
    const now = parts.now()
    const pods = parts.podsOf(pool).map(readPod)
    const workers = liveWorkers(reports ?? new Map())
    const replicaSet = parts.replicaSets.get(`${pool.metadata.namespace}/${workersName(pool)}`)
    const known = memories.get(key)
    const memory = known && known.uid === pool.metadata.uid ? known : firstMemory(pool, replicaSet, now)
    memories.set(key, memory)
    const replicas = replicaSet?.spec.replicas ?? 0
    detectWrongVictims(parts, { pool, memory, pods, replicas })
    detectStarts(parts, { pool, memory, pods, workers, now })

    const demand = everything && sumDemand([...(divide(everything).get(key)?.values() ?? [])])
    const engines = findEngines(pool, parts.engines)
    const rules = findRules(pool, parts.policies)
    const pausedUntil = pausedAt(pool, now)
    const outcome = outcomeFor({ pool, demand, rules, engines, pausedUntil, memory, now })
    const sick = findSickWorkers({
      pool,
      before: memory.sickWorkers,
      pods: parts.podsOf(pool),
      workers,
      findNode: parts.findNode,
      now,
    })
    const template = 'list' in engines ? digestOf(pool, engines.list) : null
    const seen = { pool, pods, workers, sick, rules, pausedUntil, template, replicaSet, replicas, now, memory }
    const queueReachable = reports !== null
    const placement = findPlacement(parts.podsOf(pool), replicaSet ? [replicaSet] : [], now)
    const interruptions = findInterruptions({
      pods: parts.podsOf(pool),
      findNode: parts.findNode,
      seenBefore: memory.notices,
      now,
    })
    return { ...seen, interruptions, placement, queueReachable, demand, engines, outcome, ...planFor(seen, outcome) }
  }

  /** Resolves to whether an object was written. */
  async function carryOut(observation: Observation): Promise<boolean> {
    await takeSteps(observation)
    await interrupt(observation.pool, observation.interruptions)
    // An order can wait for Redis longer than another process leads: the plan is obsolete then.
    if (memories.get(keyOf(observation.pool.metadata)) !== observation.memory) throw notLeader()
    return 'list' in observation.engines ? applyObjects(parts, observation, observation.engines.list) : false
  }
}

/** Plans which workers stay, leave and are created. */
function planFor(
  seen: Omit<
    Observation,
    'outcome' | 'plan' | 'heldCount' | 'interruptions' | 'placement' | 'queueReachable' | 'demand' | 'engines'
  >,
  { decision, bounds }: Observation['outcome'],
) {
  const { pool, pods, workers, sick, rules, pausedUntil, template, replicaSet, replicas, now, memory } = seen
  // The engines of a pool must be known before a worker is asked to leave.
  if (pausedUntil !== null || template === null) {
    return { plan: freeze(memory.replicas ?? replicaSet?.spec.replicas ?? decision.to), heldCount: 0 }
  }
  return planAround(
    { held: sick.held, costCeiling: bounds?.costCeiling ?? Number.POSITIVE_INFINITY },
    {
      pods,
      replaced: sick.replaced,
      workers,
      target: decision.to,
      replicas,
      shrinking: isShrinking(replicaSet, memory, now),
      budget: 'rules' in rules ? budgetAt(rules.rules, now) : null,
      ceiling: bounds?.ceiling ?? null,
      now: now.getTime(),
      ...pool.spec.drain,
    },
    (input) => planRollout(input, { template, limits: pool.spec.rollout }),
  )
}

/** Resolves to the milliseconds until the next status write; infinite if the status is current. */
async function writeStatus(
  parts: PoolParts,
  observation: Observation,
  { key, refusal }: { key: string; refusal: string | null },
): Promise<number> {
  const { pool, engines, rules, memory, outcome } = observation
  const status = presentStatus({
    ...observation,
    refusal,
    bounds: outcome.bounds,
    decision: outcome.decision,
    decided: memory.unreported,
    lastStart: memory.lastStart,
    enginesMissing: 'missing' in engines ? engines.missing : null,
    rulesMissing: 'missing' in rules ? rules.missing : null,
    cost: countTiers(pool, parts.podsOf(pool), parts.findNode),
    selector: `${POOL_LABEL}=${pool.metadata.name}`,
  })
  parts.gauges.note(key, status, pool.spec.engines)
  for (const event of eventsOfChanges(pool.status?.conditions ?? [], status.conditions)) await parts.record(pool, event)
  if (refusal !== null) await parts.record(pool, warning('Refused', refusal))
  memory.unreportedSince = null
  const writeMs = untilStatusWrite(pool.status, status, memory.statusWrittenAt, observation.now)
  if (writeMs > 0 && writeMs < Number.POSITIVE_INFINITY) return writeMs
  if (writeMs === 0) {
    const { namespace, name } = pool.metadata
    await parts.client.apply(workerPools.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
    memory.statusWrittenAt = parts.now().getTime()
  }
  memory.unreported = []
  return Number.POSITIVE_INFINITY
}

async function reportSick(parts: PoolParts, { pool, sick, workers, memory }: Observation): Promise<void> {
  const { namespace } = pool.metadata
  for (const { metadata } of parts.podsOf(pool)) {
    const { name, labels, deletionTimestamp } = metadata
    const isSick = workers.get(name)?.sick !== undefined
    const label = isSick ? (sick.held.has(name) ? SICK_VALUES.nodeAvoided : SICK_VALUES.replaced) : undefined
    // A worker that has not reported may still be sick.
    if (deletionTimestamp !== undefined || !workers.has(name) || label === labels?.[SICK_LABEL]) continue
    await parts.client.patch(PODS, { namespace, name }, { metadata: { labels: { [SICK_LABEL]: label ?? null } } })
  }
  for (const { name, node = 'no node', reason, message } of newRecords(memory.sickWorkers, sick.records)) {
    await parts.client.patch(PODS, { namespace, name }, { metadata: { annotations: annotationsFor.sick(reason) } })
    await parts.record(pool, warning('WorkerSick', `${name} on ${node} takes no more jobs: ${reason}: ${message}`))
  }
  memory.sickWorkers = sick.records
}

async function applyObjects(parts: PoolParts, observation: Observation, engines: readonly Engine[]): Promise<boolean> {
  const { pool, plan, replicaSet, memory, replicas } = observation
  // The workers that another writer added leave one after the other, so that the apply reverts nothing.
  const isRaised = memory.replicas !== null && replicas > Math.max(memory.replicas, observation.outcome.decision.to)
  if (isRaised && replicaSet && plan.replicas !== memory.replicas) await parts.reportReverted(REPLICA_SETS, replicaSet)
  const { sick } = observation
  const avoidsSick = avoidsSickNodes(parts.podsOf(pool), sick)
  const rendered = renderReplicaSet(pool, engines, plan.replicas, { avoidsSick })
  const wroteReplicaSet = await parts.applyOnce(REPLICA_SETS, rendered, replicaSet)
  memory.replicas = plan.replicas
  // The ReplicaSet creates them again, without the hint.
  const waiting = avoidsSick ? [] : findWaitingForHint(parts.podsOf(pool), sick)
  for (const name of waiting) await parts.client.delete(PODS, { namespace: pool.metadata.namespace, name })
  const budget = parts.budgets.get(`${pool.metadata.namespace}/${workersName(pool)}`)
  const wroteBudget = await parts.applyOnce(BUDGETS, renderBudget(pool), budget)
  if (plan.replicas < replicas) {
    memory.expected += replicas - plan.replicas
    memory.loweredAt = parts.now().getTime()
  } else if (plan.replicas > replicas) memory.expected = 0
  return wroteReplicaSet || wroteBudget
}

/** Detects pods that were deleted since the last reconcile instead of marked ones. */
function detectWrongVictims(
  parts: PoolParts,
  { pool, memory, pods, replicas }: Pick<Observation, 'pool' | 'memory' | 'pods' | 'replicas'>,
): void {
  const now = new Map(pods.map((pod) => [pod.name, pod]))
  for (const before of memory.pods.values()) {
    const isRemoved = !before.deleting && (now.get(before.name)?.deleting ?? true)
    if (!isRemoved || memory.expected === 0) continue
    // The replicas do not decide about these pods.
    if ([before, now.get(before.name)].some((pod) => pod?.interrupted || pod?.disrupted)) continue
    memory.expected--
    const isMarked = (before.markedAt ?? now.get(before.name)?.markedAt ?? null) !== null
    // A sick worker is not ready, so the cluster deletes it first; it has no job to lose.
    const isSick = memory.sickWorkers.some(({ name }) => name === before.name)
    if (isMarked || isSick || !before.started) continue
    parts.onWrongVictim()
    parts.record(pool, warning('WrongVictim', `${before.name} was removed instead of a drained worker.`))
  }
  // The cluster removes nothing more, also when a pod left for another reason than the lowered replicas.
  if (pods.filter(({ deleting }) => !deleting).length <= replicas) memory.expected = 0
}

/** Detects workers that are ready for the first time. Pod timestamps are whole seconds. */
function detectStarts(
  parts: PoolParts,
  { pool, memory, pods, workers, now }: Pick<Observation, 'pool' | 'memory' | 'pods' | 'workers' | 'now'>,
): void {
  const wereReady = memory.readyPods
  memory.readyPods = new Set(pods.flatMap(({ name }) => (wereReady.has(name) ? [name] : [])))
  for (const { name, ready, createdAt } of pods) {
    if (!ready || wereReady.has(name)) continue
    const pod = parts.podsOf(pool).find(({ metadata }) => metadata.name === name)
    const downloadSeconds = workers.get(name)?.downloadSeconds
    const isOlder = !memory.pods.has(name) && createdAt + 1000 <= memory.reconciledAt
    // The report with the duration of the download can come after the readiness.
    if (!isOlder && pod && hasDownloads(pod) && downloadSeconds === undefined) continue
    memory.readyPods.add(name)
    if (isOlder) continue
    const phases = pod ? startPhases(pod, downloadSeconds) : null
    if (phases !== null) memory.lastStart = presentStart(name, phases, now)
    parts.onStarted(Math.max(0, now.getTime() - createdAt) / 1000, pool, phases)
  }
}

async function recordDecision(parts: PoolParts, pool: WorkerPool, decision: Decision): Promise<void> {
  const { from, to, direction, reason } = decision
  if (direction === 'None') return
  await parts.record(pool, { type: 'Normal', reason: `Scale${direction}`, message: `${from} → ${to}: ${reason}` })
}

function presentStart(name: string, phases: StartPhases, now: Date): WorkerStart {
  return {
    name,
    at: wholeSeconds(now),
    schedulingSeconds: phases.scheduling,
    initializationSeconds: phases.initialization,
    imageSeconds: phases.image,
    warmupSeconds: phases.warmup,
    ...(phases.download !== undefined && { downloadSeconds: phases.download }),
  }
}

function digestOf(pool: WorkerPool, engines: readonly Engine[]): string {
  return renderTemplate(pool, engines).metadata.annotations[TEMPLATE_DIGEST]
}

/** The remaining pods as they will be after the plan is carried out. */
function podsAfter({ pods, plan, interruptions, now }: Observation): ReadonlyMap<string, PoolPod> {
  const staying = pods.filter(({ name }) => !plan.remove.includes(name))
  const isInterrupted = ({ name }: PoolPod) => interruptions.begin.some(({ pod }) => pod === name)
  return new Map(
    staying.map((pod) => [
      pod.name,
      { ...withMarks(plan, pod, now), ...(isInterrupted(pod) && { interrupted: true }) },
    ]),
  )
}

/** A pod as it will be after the plan is carried out. */
function withMarks({ mark, release, refuse }: DrainPlan, pod: PoolPod, now: Date): PoolPod {
  if (mark.includes(pod.name)) return { ...pod, markedAt: now.getTime() }
  return release.includes(pod.name) || refuse.includes(pod.name) ? { ...pod, markedAt: null } : pod
}

/** In ms. Changes that other pools wait for come first; consequences of a write are reported together with it. */
function untilReported({ pods, plan, memory, now }: Observation, wrote: boolean): number {
  if (memory.unreportedSince === null) return 0
  const followed = pods.filter(({ deleting }) => !deleting).length === plan.replicas
  return followed && !wrote ? 0 : memory.unreportedSince + MAX_STATUS_DELAY_MS - now.getTime()
}

/** In ms. */
function untilNextReconcile(observation: Observation): number {
  const { pods, workers, queueReachable, rules, pausedUntil, template, replicaSet, outcome, plan, heldCount, now } =
    observation
  const waits = plan.waitsFor !== null || plan.mark.length > 0 || plan.replicas - heldCount !== outcome.decision.to
  const underWay = waits && pausedUntil === null && template !== null
  const isMissing = replicaSet === undefined && template !== null
  if (underWay || isMissing) return BUSY_MS
  // A worker that has just become ready reports soon.
  const silent = queueReachable && pods.some(({ name, ready, deleting }) => ready && !deleting && !workers.has(name))
  const next = untilNextSample(rules, pausedUntil, now)
  return silent ? Math.min(UNREPORTED_MS, next) : next
}
