import { isDeepStrictEqual } from 'node:util'
import type { PoolRegistry } from '../../api/shared/pool-registry.ts'
import { type Engine, engines as engineResource } from '../engine/resource.ts'
import type { ApplyOnce, Live } from '../runtime/apply-once.ts'
import type { Client } from '../runtime/client.ts'
import type { RecordEvent } from '../runtime/events.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { type ScalingPolicy, type ScalingRules, scalingPolicies } from '../scaling-policy/resource.ts'
import { type Decision, decide, emptyMemory, type Outcome, type ScalingMemory } from './decide.ts'
import { demandFor } from './demand.ts'
import { BUDGETS, DEPLOYMENTS, POOL_LABEL, renderBudget, renderDeployment, workersName } from './deployment.ts'
import { type DrainPlan, type PoolPod, planDrain } from './drain.ts'
import type { PoolGauges } from './gauges.ts'
import { annotationsFor, liveWorkers, PODS, type Pod, readPod } from './pods.ts'
import { type WorkerPool, workerPools } from './resource.ts'
import type { Sample } from './sampler.ts'
import { budgetAt, isTimeZone } from './schedule.ts'
import { presentStatus } from './status.ts'
import { countTiers, highestCost } from './tiers.ts'

/** A Deployment as far as it is looked at here. */
export interface Deployment extends Live {
  readonly spec: { readonly replicas?: number }
  readonly status?: { readonly observedGeneration?: number }
}

export interface PoolParts {
  readonly client: Client
  readonly applyOnce: ApplyOnce
  readonly record: RecordEvent
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

/** What is remembered of a pool between two looks; all of it may be lost. */
interface PoolMemory {
  scaling: ScalingMemory
  /** Workers there should be, as decided last. */
  desired: number
  pods: ReadonlyMap<string, PoolPod>
  /** When that was; ms since 1970. */
  lookedAt: number
  /** Marked pods that have still to go since the replicas were lowered. */
  expected: number
  /** When the replicas were lowered last, as far as is known (ms since 1970). */
  loweredAt: number
}

/** While something is under way it is looked at so often. */
const BUSY_MS = 1000
/** For so long after the replicas were lowered pods may be chosen by what they were then. */
const LOWERING_SETTLES_MS = 3000

/** Brings the workers of one pool from what they are to what they should be. Returns when to look again. */
export function createPoolReconcile(parts: PoolParts) {
  const memories = new Map<string, PoolMemory>()

  return async (key: string): Promise<Done | undefined> => {
    const found = parts.pools.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      memories.delete(key)
      parts.gauges.forget(key)
      return undefined
    }
    const read = workerPools.read(found)
    if ('problems' in read) return void (await parts.record(found, warning('InvalidSpec', read.problems)))
    return reconcilePool(read.object, key)
  }

  async function reconcilePool(pool: WorkerPool, key: string): Promise<Done> {
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
    const engines = findEngines(pool)
    const rules = findRules(pool)
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
    await act({ pool, plan, pods, workers })
    if ('list' in engines) await applyObjects({ pool, engines: engines.list, plan, deployment, memory, replicas })
    if (outcome.decision.direction !== 'None') await tellDecision(pool, outcome.decision)
    memory.scaling = outcome.memory
    memory.desired = outcome.decision.to
    memory.pods = new Map(pods.map((pod) => [pod.name, pod]))
    memory.lookedAt = now.getTime()
    const status = presentStatus({
      ...{ pool, pods, workers, demand, plan, pausedUntil, now },
      queueReachable: reports !== null,
      bounds: outcome.bounds,
      decision: outcome.decision,
      enginesMissing: 'missing' in engines ? engines.missing : null,
      rulesMissing: 'missing' in rules ? rules.missing : null,
      cost: countTiers(pool, parts.podsOf(pool), parts.findNode),
      selector: `${POOL_LABEL}=${pool.metadata.name}`,
    })
    parts.gauges.note(key, status)
    await writeStatus(pool, status)
    const sampling = 'rules' in rules ? rules.rules.sampling.intervalSeconds * 1000 : 5 * BUSY_MS
    const underWay = plan.waitsFor !== null || plan.mark.length > 0 || plan.replicas !== outcome.decision.to
    return { againMs: underWay ? BUSY_MS : sampling }
  }

  function findRules({
    spec,
    metadata,
  }: WorkerPool): { rules: ScalingRules } | { missing: string } | { fixed: number } {
    const { mode, policy, policyRef } = spec.scaling
    if (mode !== 'Auto') return { fixed: spec.replicas ?? 1 }
    if (policy) return knownZones(policy)
    const named = policyRef && parts.policies.get(`${metadata.namespace}/${policyRef.name}`)
    if (!named) return { missing: `There is no ScalingPolicy ${policyRef?.name}.` }
    const read = scalingPolicies.read(named)
    return 'problems' in read ? { missing: read.problems } : knownZones((read.object as ScalingPolicy).spec)
  }

  function findEngines({ spec, metadata }: WorkerPool): { list: Engine[] } | { missing: string } {
    const list: Engine[] = []
    for (const name of spec.engines) {
      const found = parts.engines.get(`${metadata.namespace}/${name}`)
      if (!found) return { missing: `There is no Engine ${name}.` }
      const read = engineResource.read(found)
      if ('problems' in read) return { missing: `Engine ${name}: ${read.problems}` }
      const ready = read.object.status?.conditions.find(({ type }) => type === 'Ready')
      if (ready?.status !== 'True')
        return { missing: `Engine ${name} is not ready: ${ready?.message ?? 'not looked at yet'}` }
      list.push(read.object)
    }
    return { list }
  }

  /** Tells workers and marks pods, in the order in which each step is safe without the next. */
  async function act({ pool, plan, pods, workers }: Acting): Promise<void> {
    const { namespace } = pool.metadata
    const now = parts.now().getTime()
    const annotate = (name: string, annotations: Record<string, string | null>) =>
      parts.client.patch(PODS, { namespace, name }, { metadata: { annotations } })
    for (const name of plan.refuse) {
      await parts.registry.tell(name, 'take')
      await annotate(name, annotationsFor.refuse(now))
      await parts.record(pool, warning('DrainRefused', `${name} did not answer; another worker is asked.`))
    }
    for (const name of plan.release) {
      await annotate(name, annotationsFor.release())
      await parts.registry.tell(name, 'take')
    }
    for (const name of plan.fence) {
      await annotate(name, annotationsFor.fence(now))
      await parts.registry.tell(name, now)
    }
    // Each by the time at which it is written: from then on the cluster can know it.
    for (const name of plan.mark) await annotate(name, annotationsFor.mark(parts.now().getTime()))
    // Redis may have lost what was said.
    const told = new Set([...plan.refuse, ...plan.release, ...plan.fence])
    for (const { name, fencedAt, deleting, started } of pods) {
      const worker = workers.get(name)
      const knows = worker === undefined ? started || fencedAt === null : worker.fence === fencedAt
      if (deleting || knows || told.has(name)) continue
      await parts.registry.tell(name, fencedAt ?? 'take')
    }
  }

  async function applyObjects({ pool, engines, plan, deployment, memory, replicas }: Applying): Promise<void> {
    await parts.applyOnce(DEPLOYMENTS, renderDeployment(pool, engines, plan.replicas), deployment)
    const budget = parts.budgets.get(`${pool.metadata.namespace}/${workersName(pool)}`)
    await parts.applyOnce(BUDGETS, renderBudget(pool), budget)
    if (plan.replicas < replicas) {
      memory.expected += replicas - plan.replicas
      memory.loweredAt = parts.now().getTime()
    } else if (plan.replicas > replicas) memory.expected = 0
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
    parts.onDecision(decision)
    const { from, to, reason } = decision
    await parts.record(pool, {
      type: 'Normal',
      reason: `Scale${decision.direction}`,
      message: `${from} → ${to}: ${reason}`,
    })
  }

  async function writeStatus(pool: WorkerPool, status: object): Promise<void> {
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(status)), pool.status)) return
    const { namespace, name } = pool.metadata
    await parts.client.apply(workerPools.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
  }
}

interface Acting {
  readonly pool: WorkerPool
  readonly plan: DrainPlan
  readonly pods: readonly PoolPod[]
  readonly workers: ReturnType<typeof liveWorkers>
}

interface Applying {
  readonly pool: WorkerPool
  readonly engines: readonly Engine[]
  readonly plan: DrainPlan
  readonly deployment: Deployment | undefined
  readonly memory: PoolMemory
  readonly replicas: number
}

interface Deciding {
  readonly pool: WorkerPool
  readonly demand: ReturnType<typeof demandFor> | null
  readonly rules: { rules: ScalingRules } | { missing: string } | { fixed: number }
  readonly engines: { list: Engine[] } | { missing: string }
  readonly pausedUntil: string | null
  readonly memory: PoolMemory
  readonly now: Date
}

function outcomeFor({ pool, demand, rules, engines, pausedUntil, memory, now }: Deciding) {
  const { desired: from, scaling } = memory
  const stay = (reason: string, limitedBy: readonly string[]): Omit<Outcome, 'bounds'> & { bounds: null } => ({
    decision: { from, to: from, direction: 'None', reason, limitedBy },
    memory: scaling,
    bounds: null,
  })
  if (pausedUntil !== null) return stay(`Paused: ${pool.spec.paused?.reason}`, ['paused'])
  if ('missing' in engines) return stay(engines.missing, ['engines'])
  if ('missing' in rules) return stay(rules.missing, ['policy'])
  if ('fixed' in rules) {
    const to = rules.fixed
    const direction = to > from ? 'Up' : to < from ? 'Down' : 'None'
    const decision: Decision = { from, to, direction, reason: `spec.replicas asks for ${to}.`, limitedBy: [] }
    return { decision, memory: scaling, bounds: null }
  }
  const { slotsPerReplica } = pool.spec
  const hourlyCost = highestCost(pool)
  return decide({ demand, rules: rules.rules, slotsPerReplica, hourlyCost, replicas: from, memory: scaling, now })
}

function firstMemory(pool: WorkerPool, deployment: Deployment | undefined, now: Date): PoolMemory {
  const desired = pool.status?.desiredReplicas ?? deployment?.spec.replicas ?? 0
  // Another controller may have lowered them just before.
  return {
    scaling: memoryFrom(pool, now),
    desired,
    pods: new Map(),
    lookedAt: now.getTime(),
    expected: 0,
    loweredAt: now.getTime(),
  }
}

/** Whether the cluster may still be taking pods away because the replicas were lowered, even if they were raised since. */
function isShrinking(deployment: Deployment | undefined, memory: PoolMemory, now: Date): boolean {
  const { metadata, status } = deployment ?? {}
  const seen = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
  return !seen || now.getTime() - memory.loweredAt < LOWERING_SETTLES_MS
}

/** What the status tells of the time before this process. */
function memoryFrom(pool: WorkerPool, now: Date): ScalingMemory {
  const changes = (pool.status?.decisions ?? []).map(({ at, from, to }) => ({ at: Date.parse(at), by: to - from }))
  return { ...emptyMemory(now), changes: changes.reverse() }
}

function pausedAt({ spec }: WorkerPool, now: Date): string | null {
  return spec.paused && Date.parse(spec.paused.until) > now.getTime() ? spec.paused.until : null
}

function knownZones(rules: ScalingRules): { rules: ScalingRules } | { missing: string } {
  const unknown = [...rules.schedules, ...rules.budgets].find(({ timeZone }) => !isTimeZone(timeZone))
  return unknown ? { missing: `There is no time zone ${unknown.timeZone}.` } : { rules }
}

function warning(reason: string, message: string) {
  return { type: 'Warning', reason, message } as const
}
