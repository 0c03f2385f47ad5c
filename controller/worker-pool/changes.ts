import { wholeSeconds } from '../runtime/conditions.ts'
import type { Observation } from './observe.ts'
import type { PoolMemory } from './pool-memory.ts'
import type { WorkerStart } from './status/status-schema.ts'
import type { PoolPod } from './workers/drain.ts'
import { hasDownloads, type StartPhases, startPhases } from './workers/pods.ts'

/** What happened to the workers of a pool since its last reconcile. */
export interface Changes {
  readonly removals: Removals
  readonly starts: Starts
}

export function findChanges(memory: PoolMemory, seen: Observation): Changes {
  return { removals: findRemovals(memory, seen), starts: findStarts(memory, seen) }
}

interface Removals {
  /** Names of the pods that were removed instead of marked ones. */
  readonly wrong: readonly string[]
  /** Number of marked pods whose deletion is still pending. */
  readonly expected: number
}

/** Finds pods that were deleted instead of marked ones since the replicas were lowered. */
function findRemovals(memory: PoolMemory, { pods, replicas }: Pick<Observation, 'pods' | 'replicas'>): Removals {
  const now = new Map(pods.map((pod) => [pod.name, pod]))
  const wrong: string[] = []
  let expected = memory.expected
  for (const before of memory.pods.values()) {
    const after = now.get(before.name)
    const isRemoved = !before.deleting && (after?.deleting ?? true)
    if (!isRemoved || expected === 0 || leftForAnotherReason(before, after)) continue
    expected--
    const isMarked = (before.markedAt ?? after?.markedAt ?? null) !== null
    // A sick worker is not ready, so the cluster deletes it first; it has no job to lose.
    const isSick = memory.sickWorkers.some(({ name }) => name === before.name)
    if (!isMarked && !isSick && before.started) wrong.push(before.name)
  }
  // The cluster removes nothing more, also when a pod left for another reason than the lowered replicas.
  const isDone = pods.filter(({ deleting }) => !deleting).length <= replicas
  return { wrong, expected: isDone ? 0 : expected }
}

/** Whether the replicas did not decide about the pod. */
function leftForAnotherReason(before: PoolPod, after: PoolPod | undefined): boolean {
  return [before, after].some((pod) => pod?.interrupted || pod?.disrupted)
}

export interface Start {
  /** Since the creation of the pod. */
  readonly seconds: number
  readonly phases: StartPhases | null
}

interface Starts {
  readonly found: readonly Start[]
  readonly readyPods: ReadonlySet<string>
  readonly last: WorkerStart | undefined
}

/** Finds workers that are ready for the first time. Pod timestamps are whole seconds. */
function findStarts(memory: PoolMemory, { found: objects, pods, workers, now }: Observation): Starts {
  const readyPods = new Set(pods.flatMap(({ name }) => (memory.readyPods.has(name) ? [name] : [])))
  const found: Start[] = []
  let last = memory.lastStart
  for (const { name, ready, createdAt } of pods) {
    if (!ready || readyPods.has(name)) continue
    const pod = objects.find(({ metadata }) => metadata.name === name)
    const downloadSeconds = workers.get(name)?.downloadSeconds
    const isOlder = !memory.pods.has(name) && createdAt + 1000 <= memory.reconciledAt
    // The report with the duration of the download can come after the readiness.
    if (!isOlder && pod && hasDownloads(pod) && downloadSeconds === undefined) continue
    readyPods.add(name)
    if (isOlder) continue
    const phases = pod ? startPhases(pod, downloadSeconds) : null
    if (phases !== null) last = presentStart(name, phases, now)
    found.push({ seconds: Math.max(0, now.getTime() - createdAt) / 1000, phases })
  }
  return { found, readyPods, last }
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
