import type { WorkerPool } from '../resource.ts'
import { canBeFenced, type DrainInput, type DrainPlan, type PoolPod, planDrain, removalOrder } from './drain.ts'

/**
 * Plans the drain while there are pods with an outdated template. Creates additional workers first, then fences as many outdated
 * workers as `maxUnavailable` permits; each is deleted after it has finished its jobs. Additional workers never exceed the ceiling.
 * As with a Deployment, 1 worker may be missing if no additional worker fits.
 */
export function planRollout(
  input: DrainInput,
  { template, limits }: { template: string | null; limits: WorkerPool['spec']['rollout'] },
): DrainPlan {
  const alive = input.pods.filter(({ deleting }) => !deleting)
  // A sick worker is replaced anyway.
  const isOld = (pod: PoolPod) => pod.template !== template && !input.replaced?.has(pod.name)
  const old = template === null || input.target === 0 ? [] : alive.filter(isOld)
  if (old.length === 0) return planDrain(input)
  const room = input.ceiling === null ? Number.POSITIVE_INFINITY : Math.max(0, input.ceiling - input.target)
  const surge = Math.min(portionOf(limits.maxSurge, input.target, Math.ceil), old.length, room)
  const unavailable = portionOf(limits.maxUnavailable, input.target, Math.floor)
  const target = input.target + surge
  const exchanges = old.length - surge
  // The last workers leave by lower replicas, and the cluster deletes pods that are not ready first.
  const isEarly = exchanges === 0 && (alive.length < target || alive.some((pod) => !pod.ready && !isOld(pod)))
  const leaving = isEarly
    ? old.filter(({ fencedAt }) => fencedAt !== null)
    : mayLeave(old, alive, input, input.target - Math.max(unavailable, surge === 0 ? 1 : 0))
  const names = new Set(leaving.map(({ name }) => name))
  const plan = planDrain({
    ...input,
    target,
    ...(exchanges > 0 || isEarly
      ? { exchanged: { names, max: exchanges } }
      : { replaced: new Set([...(input.replaced ?? []), ...names]) }),
  })
  return { ...plan, waitsFor: plan.waitsFor ?? `${old.length} workers of an earlier template` }
}

/** The pods that are leaving, plus more while there are more ready workers than `floor` and the budget permits. */
function mayLeave(old: readonly PoolPod[], alive: readonly PoolPod[], input: DrainInput, floor: number): PoolPod[] {
  const isAvailable = ({ ready, fencedAt }: PoolPod) => ready && fencedAt === null
  const leaving = old.filter(({ fencedAt }) => fencedAt !== null)
  const staying = old.filter((pod) => pod.fencedAt === null && canBeFenced(pod, input))
  let spare = alive.filter(isAvailable).length - floor
  let allowed =
    (input.budget?.maxDraining ?? Number.POSITIVE_INFINITY) - alive.filter((pod) => pod.fencedAt !== null).length
  for (const pod of removalOrder(staying, { ...input, removeBusy: true }, 0)) {
    if (allowed <= 0 || (isAvailable(pod) && spare <= 0)) continue
    allowed--
    if (isAvailable(pod)) spare--
    leaving.push(pod)
  }
  return leaving
}

/** An absolute number, or a percentage of the workers. */
function portionOf(portion: number | string, workers: number, round: (value: number) => number): number {
  return typeof portion === 'number' ? portion : round((Number.parseInt(portion, 10) / 100) * workers)
}
