import type { Client } from '../runtime/client.ts'
import { eventsOfChanges } from '../runtime/condition-events.ts'
import { warning } from '../runtime/events.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import { refusalOf } from '../runtime/refusal.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import type { Done } from '../runtime/work-queue.ts'
import { type Applied, type ApplyParts, createApply, replaceWaiting, reportSick } from './apply.ts'
import { type Changes, findChanges } from './changes.ts'
import { createDivision } from './demand/pool-capacity.ts'
import type { Sample } from './demand/sampler.ts'
import { type Observation, observe, type PoolObjects } from './observe.ts'
import { type PoolPlan, planPool } from './plan.ts'
import { firstMemory, type PoolMemory } from './pool-memory.ts'
import { withApplied, withPlan, withStatus } from './remember.ts'
import { type WorkerPool, workerPools } from './resource.ts'
import { countTiers } from './scaling/cost-tiers.ts'
import type { Decision } from './scaling/decide.ts'
import { untilNextSample } from './scaling/outcome.ts'
import type { PoolGauges } from './status/gauges.ts'
import { NOTABLE_CONDITIONS } from './status/pool-conditions.ts'
import { presentStatus } from './status/status.ts'
import type { PoolStatus } from './status/status-schema.ts'
import { untilStatusWrite } from './status/status-writes.ts'
import { workersName } from './template/replica-set.ts'
import { POOL_LABEL, type StartPhases } from './workers/pods.ts'

export interface PoolParts extends PoolObjects, ApplyParts {
  readonly client: Client
  readonly reportInvalid: ReportInvalid
  readonly sample: () => Promise<Sample>
  readonly pools: Pick<Watched<KubernetesObject>, 'get' | 'list'>
  /** Called on a change of the number of workers. */
  readonly onDecision: (decision: Decision) => void
  /** Called when a pod other than a drained one was removed. */
  readonly onWrongVictim: () => void
  /** Called when a worker has become ready, with the seconds since its pod was created and, if known, the phases. */
  readonly onStarted: (seconds: number, pool: WorkerPool, phases: StartPhases | null) => void
  readonly gauges: Pick<PoolGauges, 'note' | 'forget'>
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
  const apply = createApply(parts)
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
    const sample = await parts.sample()
    const now = parts.now()
    const before = recall(pool, key, now)
    const share = sample.demand ? divide(sample.demand).get(key) : undefined
    const seen = observe(parts, { pool, sample, share, memory: before, now })
    const changes = findChanges(before, seen)
    const plan = planPool(seen, before)
    let memory = withPlan(before, seen, changes, plan)
    memories.set(key, memory)
    // A memory that was dropped meanwhile stays dropped.
    const isCurrent = () => memories.get(key) === memory
    const remember = (next: PoolMemory) => {
      if (isCurrent()) memories.set(key, next)
      memory = next
    }
    noteChanges(parts, pool, changes)
    await reportSick(parts, seen, memory)
    remember({ ...memory, sickWorkers: seen.sick.records })
    const { refusal, ...applied } = await apply({ seen, plan, memory, isCurrent }).then(
      (done) => ({ ...done, refusal: null }),
      (error) => ({ ...NOTHING_APPLIED, refusal: refusalOf(error, failures) }),
    )
    remember(withApplied(memory, seen, plan, applied))
    if (applied.replicas !== null) await replaceWaiting(parts, pool, plan)
    await noteDecision(parts, pool, plan.outcome.decision)
    const waitMs = refusal ? 0 : untilReported(seen, plan, { memory, wrote: applied.wrote })
    if (waitMs > 0) return { againMs: waitMs }
    const status = statusFor(parts, { seen, plan, memory, refusal: refusal?.message ?? null })
    await report(parts, { pool, key, status, refusal: refusal?.message ?? null })
    const writeMs = untilStatusWrite(pool.status, status, memory.statusWrittenAt, now)
    if (writeMs === 0) await writeStatus(parts, pool, status)
    remember(withStatus(memory, writeMs, parts.now()))
    if (refusal) throw refusal
    return { againMs: Math.min(writeMs > 0 ? writeMs : Number.POSITIVE_INFINITY, untilNextReconcile(seen, plan)) }
  }

  function recall(pool: WorkerPool, key: string, now: Date): PoolMemory {
    const known = memories.get(key)
    if (known !== undefined && known.uid === pool.metadata.uid) return known
    return firstMemory(pool, parts.replicaSets.get(`${pool.metadata.namespace}/${workersName(pool)}`), now)
  }
}

const NOTHING_APPLIED: Applied = { wrote: false, replicas: null }

function noteChanges(parts: PoolParts, pool: WorkerPool, { removals, starts }: Changes): void {
  for (const name of removals.wrong) {
    parts.onWrongVictim()
    parts.record(pool, warning('WrongVictim', `${name} was removed instead of a drained worker.`))
  }
  for (const { seconds, phases } of starts.found) parts.onStarted(seconds, pool, phases)
}

async function noteDecision(parts: PoolParts, pool: WorkerPool, decision: Decision): Promise<void> {
  const { from, to, direction, reason } = decision
  if (direction === 'None') return
  parts.onDecision(decision)
  await parts.record(pool, { type: 'Normal', reason: `Scale${direction}`, message: `${from} → ${to}: ${reason}` })
}

function statusFor(
  parts: PoolParts,
  { seen, plan, memory, refusal }: { seen: Observation; plan: PoolPlan; memory: PoolMemory; refusal: string | null },
): PoolStatus {
  const { pool, engines, rules } = seen
  return presentStatus({
    ...seen,
    refusal,
    plan: plan.drain,
    heldCount: plan.heldCount,
    bounds: plan.outcome.bounds,
    decision: plan.outcome.decision,
    decided: memory.unreported,
    lastStart: memory.lastStart,
    enginesMissing: 'missing' in engines ? engines.missing : null,
    rulesMissing: 'missing' in rules ? rules.missing : null,
    cost: countTiers(pool, seen.found, parts.findNode),
    selector: `${POOL_LABEL}=${pool.metadata.name}`,
  })
}

/** Reports the state of a pool in the gauges, and its changes as events. */
async function report(
  parts: PoolParts,
  { pool, key, status, refusal }: { pool: WorkerPool; key: string; status: PoolStatus; refusal: string | null },
): Promise<void> {
  parts.gauges.note(key, status, pool.spec.engines)
  const changes = eventsOfChanges(pool.status?.conditions ?? [], status.conditions, NOTABLE_CONDITIONS)
  for (const event of changes) await parts.record(pool, event)
  if (refusal !== null) await parts.record(pool, warning('Refused', refusal))
}

async function writeStatus({ client }: PoolParts, pool: WorkerPool, status: PoolStatus): Promise<void> {
  const { namespace, name } = pool.metadata
  await client.apply(workerPools.type, { metadata: { namespace, name }, status }, { subresource: 'status' })
}

/** In ms. Changes that other pools wait for come first; consequences of a write are reported together with it. */
function untilReported(
  { pods, now }: Observation,
  { drain }: PoolPlan,
  { memory, wrote }: { memory: PoolMemory; wrote: boolean },
): number {
  if (memory.unreportedSince === null) return 0
  const followed = pods.filter(({ deleting }) => !deleting).length === drain.replicas
  return followed && !wrote ? 0 : memory.unreportedSince + MAX_STATUS_DELAY_MS - now.getTime()
}

/** In ms. */
function untilNextReconcile(seen: Observation, { drain, heldCount, outcome }: PoolPlan): number {
  const { pods, workers, queueReachable, rules, pausedUntil, template, replicaSet, now } = seen
  const waits = drain.waitsFor !== null || drain.mark.length > 0 || drain.replicas - heldCount !== outcome.decision.to
  const underWay = waits && pausedUntil === null && template !== null
  const isMissing = replicaSet === undefined && template !== null
  if (underWay || isMissing) return BUSY_MS
  // A worker that has just become ready reports soon.
  const silent = queueReachable && pods.some(({ name, ready, deleting }) => ready && !deleting && !workers.has(name))
  const next = untilNextSample(rules, pausedUntil, now)
  return silent ? Math.min(UNREPORTED_MS, next) : next
}
