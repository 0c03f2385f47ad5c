import { shorten, wholeSeconds } from '../../runtime/conditions.ts'
import type { KubernetesObject } from '../../runtime/resource.ts'
import type { WorkerPool } from '../resource.ts'
import {
  type AvoidedNode,
  MAX_KIND_LENGTH,
  MAX_REASON_LENGTH,
  MAX_SICK_WORKERS,
  type SickWorker,
} from '../status/status-schema.ts'
import type { DrainInput, DrainPlan, LiveWorker, PoolPod } from './drain.ts'
import { findNodeProblem, type NodeProblem } from './node-problems.ts'
import type { Pod } from './pods.ts'

/** The sick workers of a pool, by their own reports: workers whose device keeps failing. */
export interface SickWorkers {
  /** Newest first, including replaced workers. */
  readonly records: readonly SickWorker[]
  readonly avoided: readonly AvoidedNode[]
  /** Accelerator problems by node of the pool's workers. */
  readonly problems: ReadonlyMap<string, NodeProblem>
  /** Pods to replace. */
  readonly replaced: ReadonlySet<string>
  /** Pods that stay on avoided nodes, so that no other pod gets their device. */
  readonly held: ReadonlySet<string>
}

export function findSickWorkers({
  pool,
  before,
  pods,
  workers,
  findNode,
  now,
}: {
  pool: WorkerPool
  before: readonly SickWorker[]
  pods: readonly Pod[]
  workers: ReadonlyMap<string, LiveWorker>
  findNode: (name: string) => KubernetesObject | undefined
  now: Date
}): SickWorkers {
  const { windowSeconds, avoidSeconds } = pool.spec.sickNodes
  const sick = pods.flatMap(({ metadata, spec }) => {
    const { sick: sickness } = workers.get(metadata.name) ?? {}
    return sickness && metadata.deletionTimestamp === undefined ? [{ ...metadata, node: spec?.nodeName, sickness }] : []
  })
  const known = new Set(before.map(keyOf))
  const found = sick.map(
    ({ name, node, sickness }): SickWorker => ({
      ...{
        name,
        reason: shorten(sickness.reason, MAX_KIND_LENGTH),
        message: shorten(sickness.message, MAX_REASON_LENGTH),
      },
      ...(node !== undefined && { node }),
      at: wholeSeconds(new Date(sickness.since)),
    }),
  )
  const current = new Set(found.map(keyOf))
  const oldest = now.getTime() - Math.max(windowSeconds, avoidSeconds) * 1000
  const records = [...found.filter((record) => !known.has(keyOf(record))), ...before]
    .filter((record) => Date.parse(record.at) > oldest || current.has(keyOf(record)))
    .slice(0, MAX_SICK_WORKERS)
  const problems = findProblems(pods, findNode)
  const avoided = findAvoided(records, { pool, problems, now })
  const isHeld = ({ node }: { node?: string }) => avoided.some(({ name }) => name === node)
  const namesOf = (some: readonly { name: string }[]) => new Set(some.map(({ name }) => name))
  return {
    records,
    avoided,
    problems,
    replaced: namesOf(sick.filter((pod) => !isHeld(pod))),
    held: namesOf(sick.filter(isHeld)),
  }
}

/** The records that the last pass did not have. */
export function newRecords(before: readonly SickWorker[], after: readonly SickWorker[]): readonly SickWorker[] {
  const known = new Set(before.map(keyOf))
  return after.filter((record) => !known.has(keyOf(record)))
}

/** A worker can become sick again after a restart of its container. */
function keyOf({ name, at }: SickWorker): string {
  return `${name} ${at}`
}

function findProblems(pods: readonly Pod[], findNode: (name: string) => KubernetesObject | undefined) {
  const names = new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))
  return new Map(
    [...names].flatMap((name) => {
      const problem = findNodeProblem(findNode(name))
      return problem ? [[name, problem] as const] : []
    }),
  )
}

/** A node whose own conditions report a failing accelerator is avoided after its first sick worker. */
function findAvoided(
  records: readonly SickWorker[],
  { pool, problems, now }: { pool: WorkerPool; problems: SickWorkers['problems']; now: Date },
): AvoidedNode[] {
  const { maxWorkers, windowSeconds, avoidSeconds } = pool.spec.sickNodes
  const byNode = Map.groupBy(records, ({ node }) => node)
  return [...byNode].flatMap(([name, ofNode]) => {
    if (name === undefined) return []
    const times = ofNode.map(({ at }) => Date.parse(at))
    const newest = Math.max(...times)
    const count = times.filter((time) => time > newest - windowSeconds * 1000).length
    const until = newest + avoidSeconds * 1000
    return (count >= maxWorkers || problems.has(name)) && until > now.getTime()
      ? [{ name, until: wholeSeconds(new Date(until)), workers: count }]
      : []
  })
}

/**
 * The plan for all pods except the held ones, which exist in addition to the desired workers. Held pods do no work, so they do not
 * count for a maximum of workers, but they cost money: a hard cost cap counts them, and holds as many as leave room for one worker.
 * The others are replaced. A pool that needs no workers holds none.
 */
export function planAround(
  { held, costCeiling }: { held: ReadonlySet<string>; costCeiling: number },
  input: DrainInput,
  planOthers: (input: DrainInput) => DrainPlan,
): { plan: DrainPlan; heldCount: number } {
  // A worker that still finishes jobs must not be selected by the cluster, which would happen to a pod that is not ready.
  const isIdle = ({ name }: PoolPod) => input.workers.get(name)?.jobs === 0
  const holdable = input.pods.filter((pod) => held.has(pod.name) && !pod.deleting && isIdle(pod))
  // A pod that is already leaving is held last.
  const inOrder = holdable.sort((a, b) => Number(a.fencedAt !== null) - Number(b.fencedAt !== null))
  const kept = input.target === 0 ? [] : inOrder.slice(0, Math.max(0, costCeiling - 1))
  // Without a ceiling there is no cost cap.
  const ceiling = input.ceiling === null ? null : Math.max(0, Math.min(input.ceiling, costCeiling - kept.length))
  const excess = holdable.filter((pod) => !kept.includes(pod)).map(({ name }) => name)
  const plan = planOthers({
    ...input,
    pods: input.pods.filter((pod) => !kept.includes(pod)),
    replaced: new Set([...(input.replaced ?? []), ...excess]),
    target: Math.min(input.target, ceiling ?? input.target),
    replicas: Math.max(0, input.replicas - kept.length),
    ceiling,
  })
  return { plan: { ...plan, replicas: plan.replicas + kept.length }, heldCount: kept.length }
}
