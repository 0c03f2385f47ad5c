import type { PoolRegistry } from '../../api/shared/pool-registry.ts'
import { eventsOfChanges } from '../condition-events.ts'
import type { Engine } from '../engine/resource.ts'
import type { ReportInvalid } from '../invalid-object.ts'
import type { ApplyOnce, Live } from '../runtime/apply-once.ts'
import type { Client } from '../runtime/client.ts'
import { type Finding, wholeSeconds } from '../runtime/conditions.ts'
import { type RecordEvent, warning } from '../runtime/events.ts'
import { refusalOf } from '../runtime/refusal.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { type Engines, findEngines, findRules, pausedAt, type Rules } from './configuration.ts'
import { createSharedCaps } from './cost-budgets.ts'
import type { Claim, Decision, Demand } from './decide.ts'
import { sumDemand } from './demand.ts'
import { type DrainPlan, type PoolPod, standStill } from './drain.ts'
import type { PoolGauges } from './gauges.ts'
import { outcomeFor, untilNextLook } from './outcome.ts'
import { findPlacement, type Placement } from './placement.ts'
import {
  annotationsFor,
  liveWorkers,
  PODS,
  POOL_LABEL,
  type Pod,
  readPod,
  type StartPhases,
  startPhases,
  TEMPLATE_DIGEST,
} from './pods.ts'
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
import { takeOverPods } from './take-over.ts'
import { createDivision } from './takers.ts'
import { countTiers } from './tiers.ts'

export interface PoolParts {
  readonly client: Client
  readonly applyOnce: ApplyOnce
  readonly record: RecordEvent
  readonly reportInvalid: ReportInvalid
  readonly registry: Pick<PoolRegistry, 'order'>
  readonly sample: () => Promise<Sample>
  readonly pools: Pick<Watched<KubernetesObject>, 'get' | 'list'>
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly costBudgets: Pick<Watched<KubernetesObject>, 'list'>
  readonly engines: Pick<Watched<KubernetesObject>, 'get'>
  readonly replicaSets: Pick<Watched<ReplicaSet>, 'get'>
  readonly budgets: Pick<Watched<Live>, 'get'>
  /** A node by its name, as far as nodes can be seen. */
  readonly findNode: (name: string) => KubernetesObject | undefined
  /** The condition about the image on nodes; null where it is not prefetched. */
  readonly findImagePrefetched: (pool: WorkerPool) => Finding | null
  /** The pods of a pool. */
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
  readonly now: () => Date
  /** Is called with a change of the number of workers. */
  readonly onDecision: (decision: Decision) => void
  /** Is called when another pod was removed than the drained one. */
  readonly onWrongVictim: () => void
  /** Is called when a worker has become ready, with the seconds since its pod was created and, where known, the parts of them. */
  readonly onStarted: (seconds: number, pool: WorkerPool, phases: StartPhases | null) => void
  readonly gauges: Pick<PoolGauges, 'note' | 'forget'>
}

/** What was seen of a pool at one moment, and decided. */
interface Look {
  readonly pool: WorkerPool
  readonly pods: readonly PoolPod[]
  readonly placement: Placement
  readonly workers: ReturnType<typeof liveWorkers>
  readonly sick: SickWorkers
  /** Sick workers that stay in addition to the desired ones. */
  readonly heldCount: number
  readonly queueReachable: boolean
  readonly demand: Demand | null
  readonly engines: Engines
  readonly rules: Rules
  readonly pausedUntil: string | null
  /** The digest of the template of new pods; null while it is not known. */
  readonly template: string | null
  readonly replicaSet: ReplicaSet | undefined
  /** Workers that the ReplicaSet asks for. */
  readonly replicas: number
  readonly now: Date
  readonly memory: PoolMemory
  readonly outcome: ReturnType<typeof outcomeFor>
  readonly plan: DrainPlan
}

/** While something is under way it is looked at so often. */
const BUSY_MS = 1000
/** The longest time until a write appears in the status. */
const TOLD_MS = 1000
/** A worker that is ready and has not been heard of is looked for so often. */
const UNHEARD_MS = 5000

/** Brings the workers of one pool from what they are to what they should be. Returns when to look again. */
export function createPoolReconcile(parts: PoolParts) {
  const memories = new Map<string, PoolMemory>()
  const takeSteps = createSteps(parts)
  const divide = createDivision(parts, memories)
  const sharedCaps = createSharedCaps(parts, memories)

  return async (key: string, failures: number): Promise<Done | undefined> => {
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
    const look = await lookAt(pool, key)
    const { memory, outcome, pods, plan, now } = look
    // Recorded before the cluster can act on it: the pods of this pass do not have these marks yet.
    const staying = pods.filter(({ name }) => !plan.remove.includes(name))
    memory.pods = new Map(staying.map((pod) => [pod.name, markedBy(plan, pod, now)]))
    await reportSick(parts, look)
    const { wrote, refusal } = await carryOut(look).then(
      (done) => ({ wrote: done, refusal: null }),
      (error) => ({ wrote: false, refusal: refusalOf(error, failures) }),
    )
    if (outcome.decision.direction !== 'None') parts.onDecision(outcome.decision)
    memory.scaling = outcome.memory
    memory.desired = outcome.decision.to
    memory.promised = outcome.decision.to
    memory.lookedAt = now.getTime()
    memory.untold = withDecision(memory.untold, { decision: outcome.decision, at: now })
    await tellDecision(parts, pool, outcome.decision)
    if (wrote) memory.owesSince ??= now.getTime()
    const waitMs = refusal ? 0 : untilTold(look, wrote)
    if (waitMs > 0) return { againMs: waitMs }
    const writeMs = await writeStatus(parts, look, { key, refusal: refusal?.message ?? null })
    if (refusal) throw refusal
    return { againMs: Math.min(writeMs, againAfter(look)) }
  }

  /** All that there is to see of a pool now, and what is to be done about it. */
  async function lookAt(pool: WorkerPool, key: string): Promise<Look> {
    const { demand: everything, workers: reports } = await parts.sample()
    const now = parts.now()
    const pods = parts.podsOf(pool).map(readPod)
    const workers = liveWorkers(reports ?? new Map())
    const replicaSet = parts.replicaSets.get(`${pool.metadata.namespace}/${workersName(pool)}`)
    const memory = memories.get(key) ?? firstMemory(pool, replicaSet, now)
    memories.set(key, memory)
    noteVictims(parts, { pool, memory, pods })
    noteStarts(parts, { pool, memory, pods, now })

    const demand = everything && sumDemand([...(divide(everything).get(key)?.values() ?? [])])
    const engines = findEngines(pool, parts.engines)
    const rules = findRules(pool, parts.policies)
    const pausedUntil = pausedAt(pool, now)
    const capsFor = (claim: Claim) => sharedCaps(pool, claim, memory.desired)
    const outcome = outcomeFor({ pool, demand, rules, engines, pausedUntil, memory, capsFor, now })
    // At once: another pool must not decide on the same room meanwhile.
    memory.claim = outcome.claim
    memory.promised = Math.max(memory.desired, outcome.decision.to)
    const replicas = replicaSet?.spec.replicas ?? 0
    const sick = findSickWorkers({
      ...{ pool, before: memory.sickWorkers, pods: parts.podsOf(pool), workers },
      findNode: parts.findNode,
      now,
    })
    const template = 'list' in engines ? digestOf(pool, engines.list) : null
    const seen = { pool, pods, workers, sick, rules, pausedUntil, template, replicaSet, replicas, now, memory }
    const queueReachable = reports !== null
    const placement = findPlacement(parts.podsOf(pool), replicaSet ? [replicaSet] : [], now)
    return { ...seen, placement, queueReachable, demand, engines, outcome, ...planFor(seen, outcome) }
  }

  /** Resolves to whether an object was written. */
  async function carryOut(look: Look): Promise<boolean> {
    await takeSteps(look)
    return 'list' in look.engines ? applyObjects(parts, look, look.engines.list) : false
  }
}

/** Which workers stay, go and come. */
function planFor(
  seen: Omit<Look, 'outcome' | 'plan' | 'heldCount' | 'placement' | 'queueReachable' | 'demand' | 'engines'>,
  { decision, bounds }: Look['outcome'],
) {
  const { pool, pods, workers, sick, rules, pausedUntil, template, replicaSet, replicas, now, memory } = seen
  if (pausedUntil !== null) {
    return { plan: standStill(memory.replicas ?? replicaSet?.spec.replicas ?? decision.to), heldCount: 0 }
  }
  return planAround(
    sick.held,
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

/** Resolves to when the status is to be written, in ms; infinite when it has been. */
async function writeStatus(
  parts: PoolParts,
  look: Look,
  { key, refusal }: { key: string; refusal: string | null },
): Promise<number> {
  const { pool, engines, rules, memory, outcome } = look
  const status = presentStatus({
    ...look,
    refusal,
    bounds: outcome.bounds,
    decision: outcome.decision,
    decided: memory.untold,
    lastStart: memory.lastStart,
    imagePrefetched: parts.findImagePrefetched(pool),
    enginesMissing: 'missing' in engines ? engines.missing : null,
    rulesMissing: 'missing' in rules ? rules.missing : null,
    cost: countTiers(pool, parts.podsOf(pool), parts.findNode),
    selector: `${POOL_LABEL}=${pool.metadata.name}`,
  })
  parts.gauges.note(key, status, pool.spec.engines)
  for (const event of eventsOfChanges(pool.status?.conditions ?? [], status.conditions)) await parts.record(pool, event)
  if (refusal !== null) await parts.record(pool, warning('Refused', refusal))
  memory.owesSince = null
  const writeMs = untilStatusWrite(pool.status, status, memory.statusWrittenAt, look.now)
  if (writeMs > 0 && writeMs < Number.POSITIVE_INFINITY) return writeMs
  if (writeMs === 0) {
    const { namespace, name } = pool.metadata
    await parts.client.apply(workerPools.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
    memory.statusWrittenAt = parts.now().getTime()
  }
  memory.untold = []
  return Number.POSITIVE_INFINITY
}

async function reportSick(parts: PoolParts, { pool, sick, memory }: Look): Promise<void> {
  const { namespace } = pool.metadata
  for (const { name, node = 'no node', reason, message } of newRecords(memory.sickWorkers, sick.records)) {
    await parts.client.patch(PODS, { namespace, name }, { metadata: { annotations: annotationsFor.sick(reason) } })
    await parts.record(pool, warning('WorkerSick', `${name} on ${node} takes no more jobs: ${reason}: ${message}`))
  }
  memory.sickWorkers = sick.records
}

async function applyObjects(parts: PoolParts, look: Look, engines: readonly Engine[]): Promise<boolean> {
  const { pool, plan, replicaSet, memory, replicas } = look
  if (replicaSet === undefined && !(await takeOverPods(pool, parts.client))) return false
  memory.replicas = plan.replicas
  const wroteReplicaSet = await parts.applyOnce(
    REPLICA_SETS,
    renderReplicaSet(pool, engines, plan.replicas),
    replicaSet,
  )
  const budget = parts.budgets.get(`${pool.metadata.namespace}/${workersName(pool)}`)
  const wroteBudget = await parts.applyOnce(BUDGETS, renderBudget(pool), budget)
  if (plan.replicas < replicas) {
    memory.expected += replicas - plan.replicas
    memory.loweredAt = parts.now().getTime()
  } else if (plan.replicas > replicas) memory.expected = 0
  return wroteReplicaSet || wroteBudget
}

/** Which pods went since the last look, while marked ones were to go. */
function noteVictims(parts: PoolParts, { pool, memory, pods }: Pick<Look, 'pool' | 'memory' | 'pods'>): void {
  const now = new Map(pods.map((pod) => [pod.name, pod]))
  for (const before of memory.pods.values()) {
    const gone = !before.deleting && (now.get(before.name)?.deleting ?? true)
    if (!gone || memory.expected === 0) continue
    memory.expected--
    const isMarked = (before.markedAt ?? now.get(before.name)?.markedAt ?? null) !== null
    // A sick worker is not ready, so the cluster chooses it before any other; it has no job to lose.
    const isSick = memory.sickWorkers.some(({ name }) => name === before.name)
    if (isMarked || isSick || !before.started) continue
    parts.onWrongVictim()
    parts.record(pool, warning('WrongVictim', `${before.name} was removed instead of a drained worker.`))
  }
}

/** Which workers are ready that never were at an earlier look. The times of pods are whole seconds. */
function noteStarts(
  parts: PoolParts,
  { pool, memory, pods, now }: Pick<Look, 'pool' | 'memory' | 'pods' | 'now'>,
): void {
  const wereReady = memory.readyPods
  memory.readyPods = new Set(pods.flatMap(({ name, ready }) => (ready || wereReady.has(name) ? [name] : [])))
  for (const { name, ready, createdAt } of pods) {
    if (!ready || wereReady.has(name)) continue
    if (!memory.pods.has(name) && createdAt + 1000 <= memory.lookedAt) continue
    const pod = parts.podsOf(pool).find(({ metadata }) => metadata.name === name)
    const phases = pod ? startPhases(pod) : null
    if (phases !== null) memory.lastStart = presentStart(name, phases, now)
    parts.onStarted(Math.max(0, now.getTime() - createdAt) / 1000, pool, phases)
  }
}

async function tellDecision(parts: PoolParts, pool: WorkerPool, decision: Decision): Promise<void> {
  const { from, to, direction, reason } = decision
  if (direction === 'None') return
  await parts.record(pool, { type: 'Normal', reason: `Scale${direction}`, message: `${from} → ${to}: ${reason}` })
}

function presentStart(name: string, phases: StartPhases, now: Date): WorkerStart {
  return {
    ...{ name, at: wholeSeconds(now) },
    schedulingSeconds: phases.scheduling,
    initializationSeconds: phases.initialization,
    imageSeconds: phases.image,
    warmupSeconds: phases.warmup,
  }
}

function digestOf(pool: WorkerPool, engines: readonly Engine[]): string {
  return renderTemplate(pool, engines).metadata.annotations[TEMPLATE_DIGEST]
}

/** A pod as it is when the plan has been carried out. */
function markedBy({ mark, release, refuse }: DrainPlan, pod: PoolPod, now: Date): PoolPod {
  if (mark.includes(pod.name)) return { ...pod, markedAt: now.getTime() }
  return release.includes(pod.name) || refuse.includes(pod.name) ? { ...pod, markedAt: null } : pod
}

/** In ms: first comes what other pools wait for, and what follows from a write is reported together with it. */
function untilTold({ pods, plan, memory, now }: Look, wrote: boolean): number {
  if (memory.owesSince === null) return 0
  const followed = pods.filter(({ deleting }) => !deleting).length === plan.replicas
  return followed && !wrote ? 0 : memory.owesSince + TOLD_MS - now.getTime()
}

/** In ms. */
function againAfter(look: Look): number {
  const { pods, workers, queueReachable, rules, pausedUntil, template, replicaSet, outcome, plan, heldCount, now } =
    look
  const waits = plan.waitsFor !== null || plan.mark.length > 0 || plan.replicas - heldCount !== outcome.decision.to
  const underWay = waits && pausedUntil === null
  const isMissing = replicaSet === undefined && template !== null
  if (underWay || isMissing) return BUSY_MS
  // Who has just become ready is heard of soon.
  const unheard = queueReachable && pods.some(({ name, ready, deleting }) => ready && !deleting && !workers.has(name))
  const next = untilNextLook(rules, pausedUntil, now)
  return unheard ? Math.min(UNHEARD_MS, next) : next
}
