import { isDeepStrictEqual } from 'node:util'
import type { PoolRegistry } from '../../api/shared/pool-registry.ts'
import type { Engine } from '../engine/resource.ts'
import type { ReportInvalid } from '../invalid-object.ts'
import type { ApplyOnce, Live } from '../runtime/apply-once.ts'
import type { Client } from '../runtime/client.ts'
import { type RecordEvent, warning } from '../runtime/events.ts'
import { refusalOf } from '../runtime/refusal.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { type Engines, findEngines, findRules, pausedAt, type Rules } from './configuration.ts'
import type { Decision, Demand } from './decide.ts'
import { demandFor } from './demand.ts'
import {
  BUDGETS,
  DEPLOYMENTS,
  type Deployment,
  POOL_LABEL,
  renderBudget,
  renderDeployment,
  workersName,
} from './deployment.ts'
import { type DrainPlan, type PoolPod, planDrain } from './drain.ts'
import type { PoolGauges } from './gauges.ts'
import { outcomeFor, untilNextLook } from './outcome.ts'
import { liveWorkers, type Pod, readPod } from './pods.ts'
import { firstMemory, isShrinking, type PoolMemory } from './pool-memory.ts'
import { type WorkerPool, workerPools } from './resource.ts'
import type { Sample } from './sampler.ts'
import { budgetAt } from './schedule.ts'
import { presentStatus } from './status.ts'
import { MOST_DECISIONS } from './status-schema.ts'
import { createSteps } from './steps.ts'
import { countTiers } from './tiers.ts'

export interface PoolParts {
  readonly client: Client
  readonly applyOnce: ApplyOnce
  readonly record: RecordEvent
  readonly reportInvalid: ReportInvalid
  readonly registry: PoolRegistry
  readonly sample: () => Promise<Sample>
  readonly pools: Pick<Watched<KubernetesObject>, 'get'>
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly engines: Pick<Watched<KubernetesObject>, 'get'>
  readonly deployments: Pick<Watched<Deployment>, 'get'>
  readonly budgets: Pick<Watched<Live>, 'get'>
  /** A node by its name, as far as nodes can be seen. */
  readonly findNode: (name: string) => KubernetesObject | undefined
  /** The pods of a pool. */
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
  readonly now: () => Date
  /** Tells of a change of the number of workers. */
  readonly onDecision: (decision: Decision) => void
  /** Tells that another pod went than the one that was drained. */
  readonly onWrongVictim: () => void
  /** Tells that a worker takes jobs, so many seconds after its pod was made. */
  readonly onStarted: (seconds: number) => void
  readonly gauges: Pick<PoolGauges, 'note' | 'forget'>
}

/** What was seen of a pool at one moment, and decided. */
interface Look {
  readonly pool: WorkerPool
  readonly pods: readonly PoolPod[]
  readonly workers: ReturnType<typeof liveWorkers>
  readonly queueReachable: boolean
  readonly demand: Demand | null
  readonly engines: Engines
  readonly rules: Rules
  readonly pausedUntil: string | null
  readonly deployment: Deployment | undefined
  /** Workers that the Deployment asks for. */
  readonly replicas: number
  readonly now: Date
  readonly memory: PoolMemory
  readonly outcome: ReturnType<typeof outcomeFor>
  readonly plan: DrainPlan
}

/** While something is under way it is looked at so often. */
const BUSY_MS = 1000
/** The status tells of what was written after so long at the latest. */
const TOLD_MS = 1000
/** A worker that is ready and has not been heard of is looked for so often. */
const UNHEARD_MS = 5000

/** Brings the workers of one pool from what they are to what they should be. Returns when to look again. */
export function createPoolReconcile(parts: PoolParts) {
  const memories = new Map<string, PoolMemory>()
  const takeSteps = createSteps(parts)

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
    const { memory, outcome, pods, now } = look
    const { wrote, refusal } = await carryOut(look).then(
      (done) => ({ wrote: done, refusal: null }),
      (error) => ({ wrote: false, refusal: refusalOf(error, failures) }),
    )
    if (outcome.decision.direction !== 'None') parts.onDecision(outcome.decision)
    memory.scaling = outcome.memory
    memory.desired = outcome.decision.to
    memory.pods = new Map(pods.map((pod) => [pod.name, pod]))
    memory.lookedAt = now.getTime()
    memory.untold = [...memory.untold, { decision: outcome.decision, at: now }].slice(-MOST_DECISIONS)
    if (wrote) memory.owesSince ??= now.getTime()
    const waitMs = refusal ? 0 : untilTold(look, wrote)
    if (waitMs > 0) return { againMs: waitMs }
    await tell(look, key, refusal?.message ?? null)
    if (refusal) throw refusal
    return { againMs: againAfter(look) }
  }

  /** All that there is to see of a pool now, and what is to be done about it. */
  async function lookAt(pool: WorkerPool, key: string): Promise<Look> {
    const { demand: everything, workers: reports } = await parts.sample()
    const now = parts.now()
    const pods = parts.podsOf(pool).map(readPod)
    const workers = liveWorkers(reports ?? new Map())
    const deployment = parts.deployments.get(`${pool.metadata.namespace}/${workersName(pool)}`)
    const memory = memories.get(key) ?? firstMemory(pool, deployment, now)
    memories.set(key, memory)
    noteVictims(pool, memory, pods)
    noteStarts(memory, pods, now)

    const demand = everything && demandFor(pool.spec.engines, everything)
    const engines = findEngines(pool, parts.engines)
    const rules = findRules(pool, parts.policies)
    const pausedUntil = pausedAt(pool, now)
    const outcome = outcomeFor({ pool, demand, rules, engines, pausedUntil, memory, now })
    const replicas = deployment?.spec.replicas ?? 0
    const plan = planDrain({
      pods,
      workers,
      target: outcome.decision.to,
      replicas,
      shrinking: isShrinking(deployment, memory, now),
      budget: 'rules' in rules ? budgetAt(rules.rules, now) : null,
      now: now.getTime(),
      ...pool.spec.drain,
    })
    const queueReachable = reports !== null
    const seen = { pool, pods, workers, queueReachable, demand, engines, rules, pausedUntil, deployment, replicas, now }
    return { ...seen, memory, outcome, plan }
  }

  /** Resolves to whether an object was written. */
  async function carryOut(look: Look): Promise<boolean> {
    await takeSteps(look)
    return 'list' in look.engines ? applyObjects(look, look.engines.list) : false
  }

  async function tell(look: Look, key: string, refusal: string | null): Promise<void> {
    const { pool, engines, rules, memory, outcome } = look
    const status = presentStatus({
      ...look,
      refusal,
      bounds: outcome.bounds,
      decision: outcome.decision,
      decided: memory.untold,
      enginesMissing: 'missing' in engines ? engines.missing : null,
      rulesMissing: 'missing' in rules ? rules.missing : null,
      cost: countTiers(pool, parts.podsOf(pool), parts.findNode),
      selector: `${POOL_LABEL}=${pool.metadata.name}`,
    })
    parts.gauges.note(key, status)
    await writeStatus(pool, status)
    const told = memory.untold
    memory.untold = []
    memory.owesSince = null
    for (const { decision } of told) await tellDecision(pool, decision)
    if (refusal !== null) await parts.record(pool, warning('Refused', refusal))
  }

  async function applyObjects(look: Look, engines: readonly Engine[]): Promise<boolean> {
    const { pool, plan, deployment, memory, replicas } = look
    const wroteDeployment = await parts.applyOnce(
      DEPLOYMENTS,
      renderDeployment(pool, engines, plan.replicas),
      deployment,
    )
    const budget = parts.budgets.get(`${pool.metadata.namespace}/${workersName(pool)}`)
    const wroteBudget = await parts.applyOnce(BUDGETS, renderBudget(pool), budget)
    if (plan.replicas < replicas) {
      memory.expected += replicas - plan.replicas
      memory.loweredAt = parts.now().getTime()
    } else if (plan.replicas > replicas) memory.expected = 0
    return wroteDeployment || wroteBudget
  }

  /** Which pods went since the last look, while marked ones were to go. */
  function noteVictims(pool: WorkerPool, memory: PoolMemory, pods: readonly PoolPod[]): void {
    const now = new Map(pods.map((pod) => [pod.name, pod]))
    for (const before of memory.pods.values()) {
      const gone = !before.deleting && (now.get(before.name)?.deleting ?? true)
      if (!gone || memory.expected === 0) continue
      memory.expected--
      if (before.markedAt !== null || !before.started) continue
      parts.onWrongVictim()
      parts.record(pool, warning('WrongVictim', `${before.name} was removed instead of a drained worker.`))
    }
  }

  /** Which workers are ready that were not at the last look. The times of pods are whole seconds. */
  function noteStarts(memory: PoolMemory, pods: readonly PoolPod[], now: Date): void {
    for (const { name, ready, createdAt } of pods) {
      const before = memory.pods.get(name)
      const isNews = before === undefined ? createdAt + 1000 > memory.lookedAt : !before.started
      if (ready && isNews) parts.onStarted(Math.max(0, now.getTime() - createdAt) / 1000)
    }
  }

  async function tellDecision(pool: WorkerPool, decision: Decision): Promise<void> {
    const { from, to, direction, reason } = decision
    if (direction === 'None') return
    await parts.record(pool, { type: 'Normal', reason: `Scale${direction}`, message: `${from} → ${to}: ${reason}` })
  }

  async function writeStatus(pool: WorkerPool, status: object): Promise<void> {
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(status)), pool.status)) return
    const { namespace, name } = pool.metadata
    await parts.client.apply(workerPools.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
  }
}

/** In ms: first comes what other pools wait for, and what follows from a write is told of together with it. */
function untilTold({ pods, plan, memory, now }: Look, wrote: boolean): number {
  if (memory.owesSince === null) return 0
  const followed = pods.filter(({ deleting }) => !deleting).length === plan.replicas
  return followed && !wrote ? 0 : memory.owesSince + TOLD_MS - now.getTime()
}

/** In ms. */
function againAfter({ pods, workers, queueReachable, rules, pausedUntil, outcome, plan, now }: Look): number {
  const underWay = plan.waitsFor !== null || plan.mark.length > 0 || plan.replicas !== outcome.decision.to
  if (underWay) return BUSY_MS
  // Who has just become ready is heard of soon.
  const unheard = queueReachable && pods.some(({ name, ready, deleting }) => ready && !deleting && !workers.has(name))
  const next = untilNextLook(rules, pausedUntil, now)
  return unheard ? Math.min(UNHEARD_MS, next) : next
}
