import { describe, expect, it } from 'vitest'
import { type LiveWorker, type PoolPod, planDrain } from '../../../controller/worker-pool/workers/drain.ts'
import { createRandom, type Random } from '../../faults/support/random.ts'

// A model of the cluster, the workers and Redis around the real plan: each step of a plan may be the last before the controller
// is killed, and what it knew is gone with it.

const SCALE_DOWNS = 10_000
const TICK_MS = 500
/** The cluster acts on replicas as they were up to so long ago. */
const LAG_TICKS = 4
const SETTLES_MS = 3000

describe('10,000 scale-downs, with kills of the controller, Redis, the workers and the API server', () => {
  it('remove no worker with a job', () => {
    const random = createRandom(20_260_501)
    let [removed, removedBusy, scaleDowns, unfinished] = [0, 0, 0, 0]
    while (scaleDowns < SCALE_DOWNS) {
      const cluster = new Cluster(random, random.between(1, 12))
      for (let round = 0; round < 50; round++) {
        const target = random.between(0, 12)
        if (target < cluster.replicas) scaleDowns++
        for (let tick = 0; tick < random.between(1, 60); tick++) cluster.tick(target)
        if (cluster.replicas !== target) unfinished++
      }
      removed += cluster.removed
      removedBusy += cluster.removedBusy
    }
    expect(removedBusy).toBe(0)
    // The proof is worth something only when workers really go.
    expect(removed).toBeGreaterThan(SCALE_DOWNS / 2)
    expect(unfinished).toBeGreaterThan(0)
  })
})

interface SimulatedPod {
  pod: PoolPod
  /** The last word that the worker read: which request to drain it follows. It keeps to it when Redis has lost it. */
  fence: number | null
  jobs: number
  idleSince: number
  /** Its last report; lost with Redis. */
  report: LiveWorker | null
  reportedAt: number
}

class Cluster {
  replicas: number
  removed = 0
  removedBusy = 0
  private now = 1_000_000
  /** What the ReplicaSet controller knows of the replicas, and for how many ticks it has known nothing newer. */
  private known: number
  private lag = 0
  private loweredAt = 0
  private names = 0
  private pods: SimulatedPod[] = []
  /** Words to workers; lost with Redis. */
  private readonly words = new Map<string, number | 'take'>()
  private readonly random: Random
  private readonly removeBusy: boolean

  constructor(random: Random, replicas: number) {
    this.random = random
    this.replicas = replicas
    this.known = replicas
    this.removeBusy = random.chance(0.5)
  }

  tick(target: number): void {
    this.now += TICK_MS
    // Between the scale-down and the removal, the controller cannot observe a worker that is no longer ready, has started or did not get its fence.
    if (this.lag === 0 && this.random.chance(0.02)) this.words.clear()
    if (this.random.chance(0.02)) for (const each of this.pods) each.report = null
    for (const each of this.pods) this.live(each)
    if (this.random.chance(0.7)) this.control(target)
    this.reconcileReplicas()
  }

  /** A worker goes on with its jobs and, now and then, reads its word and reports. */
  private live(each: SimulatedPod): void {
    const { random } = this
    if (!each.pod.started) {
      if (this.lag === 0 && random.chance(0.3)) {
        each.pod = { ...each.pod, ready: true, started: true }
        this.readOrder(each)
      } else return
    }
    if (this.lag === 0 && random.chance(0.02)) each.pod = { ...each.pod, ready: !each.pod.ready }
    if (random.chance(0.5)) {
      this.readOrder(each)
      this.report(each)
    }
    if (each.jobs > 0 && random.chance(0.3)) each.jobs--
    if (each.jobs === 0 && each.fence === null && random.chance(0.3)) each.jobs++
    if (each.jobs > 0) each.idleSince = this.now
    // A report may be as old as the silence after which a worker counts as gone; then it says too little, never too much.
    if (this.now - each.reportedAt > 10_000) each.report = null
  }

  private readOrder(each: SimulatedPod): void {
    const word = this.words.get(each.pod.name)
    if (word !== undefined) each.fence = word === 'take' ? null : word
  }

  private report(each: SimulatedPod): void {
    const state = each.fence === null ? 'taking' : each.jobs === 0 ? 'drained' : 'draining'
    each.report = { state, fence: each.fence, jobs: each.jobs, idleSince: each.jobs === 0 ? each.idleSince : null }
    each.reportedAt = this.now
  }

  private control(target: number): void {
    const workers = new Map(this.pods.flatMap(({ pod, report }) => (report ? [[pod.name, report] as const] : [])))
    const { now, replicas, removeBusy } = this
    const pods = this.pods.map(({ pod }) => pod)
    const shrinking = now - this.loweredAt < SETTLES_MS
    const budget = this.random.chance(0.5) ? { name: 'few', maxDraining: this.random.between(0, 3) } : null
    const plan = planDrain({
      pods,
      workers,
      target,
      replicas,
      shrinking,
      budget,
      ceiling: target % 3 === 0 ? target : null,
      acknowledgeSeconds: 15,
      removeBusy,
      now,
    })
    const word = (name: string, text: number | 'take') => this.words.set(name, text)
    const free = { fencedAt: null, markedAt: null }
    const steps = [
      ...plan.refuse.flatMap((name) => [
        () => word(name, 'take'),
        () => this.annotate(name, { ...free, refusedAt: now }),
      ]),
      ...plan.release.flatMap((name) => [() => this.annotate(name, free), () => word(name, 'take')]),
      ...plan.fence.flatMap((name) => [() => this.annotate(name, { fencedAt: now }), () => word(name, now)]),
      ...plan.mark.map((name) => () => this.annotate(name, { markedAt: now })),
      () => {
        if (plan.replicas < replicas) this.loweredAt = now
        this.replicas = plan.replicas
      },
    ]
    // Fences are repeated each time, because Redis may have lost them.
    for (const { pod } of this.pods)
      if (pod.fencedAt !== null && !plan.release.includes(pod.name)) word(pod.name, pod.fencedAt)
    for (const act of steps) {
      // Killed, or the API server is.
      if (this.random.chance(0.05)) {
        // The next one knows nothing of when the replicas were lowered.
        this.loweredAt = now
        return
      }
      act()
    }
  }

  private annotate(name: string, change: Partial<PoolPod>): void {
    for (const each of this.pods) if (each.pod.name === name) each.pod = { ...each.pod, ...change }
  }

  /** As the ReplicaSet controller does: those not ready go first, then those that are marked. */
  private reconcileReplicas(): void {
    this.lag = this.known === this.replicas || this.lag === LAG_TICKS ? 0 : this.lag + 1
    if (this.lag === 0 || this.random.chance(0.3)) this.known = this.replicas
    while (this.pods.length < this.known) this.add()
    const rank = ({ pod }: SimulatedPod) => (!pod.started ? 0 : !pod.ready ? 1 : pod.markedAt !== null ? 2 : 3)
    const victims = [...this.pods]
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, Math.max(0, this.pods.length - this.known))
    for (const victim of victims) {
      this.removed++
      if (victim.jobs > 0) this.removedBusy++
      this.pods = this.pods.filter((each) => each !== victim)
    }
  }

  private add(): void {
    const name = `pod-${this.names++}`
    const times = { createdAt: this.now, fencedAt: null, markedAt: null, refusedAt: null, template: null }
    const pod = { name, ready: false, started: false, deleting: false, ...times }
    this.pods.push({ pod, fence: null, jobs: 0, idleSince: this.now, report: null, reportedAt: 0 })
  }
}
