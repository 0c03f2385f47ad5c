import { describe, expect, it } from 'vitest'
import {
  type DrainInput,
  type LiveWorker,
  type PoolPod,
  planDrain,
} from '../../../../controller/worker-pool/workers/drain.ts'

const NOW = 1_000_000_000

describe('removing workers', () => {
  it('selects workers that are not ready, then the longest idle, never a busy worker', () => {
    const plan = planDrain(
      situation({
        target: 1,
        pods: [pod('busy'), pod('idle'), pod('longest-idle'), pod('starting', { ready: false, started: false })],
        workers: { busy: working(1), idle: idle(10), 'longest-idle': idle(60) },
      }),
    )
    expect(plan.fence).toEqual(['starting', 'longest-idle', 'idle'])
    expect(plan).toMatchObject({ replicas: 4, waitsFor: '3 workers that drain' })
  })

  it('selects busy workers last, youngest first, if the pool allows it', () => {
    const pods = [pod('old', { createdAt: NOW - 9000 }), pod('young', { createdAt: NOW - 1000 }), pod('idle')]
    const workers = { old: working(1), young: working(1), idle: idle(1) }
    expect(planDrain(situation({ target: 1, pods, workers, removeBusy: true })).fence).toEqual(['idle', 'young'])
    expect(planDrain(situation({ target: 1, pods, workers }))).toMatchObject({
      fence: ['idle'],
      waitsFor: '1 busy or silent workers',
    })
  })

  it('marks drained workers, and lowers replicas once marks are visible', () => {
    const fenced = { fencedAt: NOW - 5000 }
    const workers = { a: drained(fenced.fencedAt), b: draining(1, fenced.fencedAt), c: idle(1) }
    const first = planDrain(situation({ target: 1, pods: [pod('a', fenced), pod('b', fenced), pod('c')], workers }))
    expect(first).toMatchObject({ mark: ['a'], replicas: 3, fence: [] })
    const marked = [pod('a', { ...fenced, markedAt: NOW - 2000 }), pod('b', fenced), pod('c')]
    expect(planDrain(situation({ target: 1, pods: marked, workers }))).toMatchObject({ mark: [], replicas: 2 })
  })

  it('restores deletion costs changed by another writer, and waits for the marks again', () => {
    const fenced = { fencedAt: NOW - 9000, markedAt: NOW - 5000 }
    const workers = { a: drained(fenced.fencedAt), b: working(1), c: idle(1) }
    const waitsFor = '1 workers whose pod-deletion-cost was changed'
    const undercut = [pod('a', fenced), pod('b', { costChanged: true }), pod('c')]
    expect(planDrain(situation({ target: 2, pods: undercut, workers }))).toMatchObject({
      restore: ['b'],
      mark: ['a'],
      replicas: 3,
      waitsFor,
    })
    const unmarked = [pod('a', { ...fenced, costChanged: true }), pod('b'), pod('c')]
    expect(planDrain(situation({ target: 2, pods: unmarked, workers }))).toMatchObject({
      restore: [],
      mark: ['a'],
      replicas: 3,
      waitsFor,
    })
    // No pod is to be removed: the cost makes no difference.
    expect(planDrain(situation({ target: 3, pods: undercut, workers })).restore).toEqual([])
  })

  it('does not lower the replicas while a marked worker is silent', () => {
    const pods = [pod('a', { fencedAt: NOW - 9000, markedAt: NOW - 5000 }), pod('b')]
    expect(planDrain(situation({ target: 1, pods, workers: { b: idle(1) } })).replicas).toBe(2)
  })

  it('ignores a response to an earlier request', () => {
    const pods = [pod('a', { fencedAt: NOW - 500 }), pod('b')]
    const plan = planDrain(situation({ target: 1, pods, workers: { a: drained(NOW - 60_000), b: idle(1) } }))
    expect(plan).toMatchObject({ mark: [], replicas: 2 })
  })

  it('removes no worker while an unready worker may have a job', () => {
    const pods = [pod('a', { fencedAt: NOW - 9000, markedAt: NOW - 5000 }), pod('b', { ready: false }), pod('c')]
    const workers = { a: drained(NOW - 9000), b: working(1), c: idle(1) }
    expect(planDrain(situation({ target: 2, pods, workers }))).toMatchObject({
      replicas: 3,
      waitsFor: '1 workers that are not ready and may have jobs',
    })
  })

  it('selects another worker when one does not respond in time', () => {
    const pods = [pod('deaf', { fencedAt: NOW - 15_001 }), pod('other')]
    const workers = { deaf: idle(90), other: idle(10) }
    expect(planDrain(situation({ target: 1, pods, workers }))).toMatchObject({ refuse: ['deaf'], fence: ['other'] })
    const after = [pod('deaf', { refusedAt: NOW - 1000 }), pod('other', { fencedAt: NOW - 1000 })]
    expect(planDrain(situation({ target: 0, pods: after, workers })).fence).toEqual([])
  })

  it('never selects a silent worker that was ready', () => {
    expect(planDrain(situation({ target: 0, pods: [pod('a'), pod('b')], workers: {} })).fence).toEqual([])
  })

  it('releases workers that are needed again, least drained first', () => {
    const pods = [
      pod('marked', { fencedAt: NOW - 9000, markedAt: NOW - 4000 }),
      pod('fresh', { fencedAt: NOW - 100 }),
      pod('c'),
    ]
    const workers = { marked: drained(NOW - 9000), fresh: draining(1, NOW - 100), c: idle(1) }
    expect(planDrain(situation({ target: 2, pods, workers }))).toMatchObject({ release: ['fresh'], replicas: 2 })
    expect(planDrain(situation({ target: 3, pods, workers }))).toMatchObject({ release: ['marked', 'fresh'] })
  })

  it('selects never ready before unready workers, and unready before the longest idle', () => {
    const pods = [pod('idle'), pod('unready', { ready: false }), pod('starting', { ready: false, started: false })]
    const workers = { idle: idle(600), unready: idle(60) }
    const budget = { name: 'one', maxDraining: 1 }
    expect(planDrain(situation({ target: 0, pods, workers, budget })).fence).toEqual(['starting'])
    expect(planDrain(situation({ target: 0, pods: pods.slice(0, 2), workers, budget })).fence).toEqual(['unready'])
  })

  it('does not skip a worker that was never ready, whatever its response', () => {
    const pods = [pod('starting', { ready: false, started: false, fencedAt: NOW - 60_000 }), pod('b')]
    expect(planDrain(situation({ target: 1, pods, workers: { starting: idle(1), b: idle(1) } })).refuse).toEqual([])
  })

  it('skips a worker without a timely response, even if unready or silent', () => {
    const fenced = { fencedAt: NOW - 60_000 }
    const pods = [pod('unready', { ...fenced, ready: false }), pod('silent', fenced), pod('c')]
    const plan = planDrain(situation({ target: 1, pods, workers: { unready: idle(1), c: idle(1) } }))
    expect(plan.refuse).toEqual(['unready', 'silent'])
  })

  it('selects an unready worker with a job after an idle worker', () => {
    const pods = [pod('busy', { ready: false }), pod('idle')]
    const budget = { name: 'one', maxDraining: 1 }
    const workers = { busy: working(1), idle: idle(1) }
    expect(planDrain(situation({ target: 0, pods, workers, budget, removeBusy: true })).fence).toEqual(['idle'])
  })

  it('releases a busy worker before a marked one that was fenced later', () => {
    const marked = pod('marked', { fencedAt: NOW - 4000, markedAt: NOW - 3000 })
    const pods = [marked, pod('busy', { fencedAt: NOW - 9000 }), pod('c')]
    const workers = { marked: drained(NOW - 4000), busy: draining(1, NOW - 9000), c: idle(1) }
    expect(planDrain(situation({ target: 2, pods, workers })).release).toEqual(['busy'])
  })

  it('releases no marked worker that the cluster may be deleting', () => {
    const gone = { fencedAt: NOW - 9000, markedAt: NOW - 4000 }
    const pods = [pod('a', gone), pod('b', gone), pod('fresh', { fencedAt: NOW - 100 }), pod('d')]
    const workers = {
      a: drained(NOW - 9000),
      b: drained(NOW - 9000),
      fresh: draining(1, NOW - 100),
      d: idle(1),
    }
    const lowered = situation({ target: 3, pods, workers, replicas: 2 })
    expect(planDrain(lowered)).toMatchObject({ release: ['fresh'], refuse: [], mark: [], replicas: 2 })
    const raised = situation({ target: 4, pods, workers, replicas: 4, shrinking: true })
    expect(planDrain(raised)).toMatchObject({ release: ['fresh'], replicas: 4, waitsFor: '2 workers that drain' })
    const settled = planDrain({ ...raised, shrinking: false })
    expect(settled).toMatchObject({ release: ['a', 'b', 'fresh'], waitsFor: null })
  })

  it('limits draining workers by the disruption budget, and names that budget', () => {
    const pods = ['a', 'b', 'c', 'd'].map((name) => pod(name))
    const workers = { a: idle(40), b: idle(30), c: idle(20), d: idle(10) }
    const budget = { name: 'a-few', maxDraining: 2 }
    const first = planDrain(situation({ target: 0, pods, workers, budget }))
    expect(first).toMatchObject({ fence: ['a', 'b'], replicas: 4, waitsFor: 'budget a-few' })
    const fenced = { fencedAt: NOW - 5000, markedAt: NOW - 3000 }
    const going = situation({
      target: 0,
      budget,
      pods: [pod('a', fenced), pod('b', fenced), pod('c'), pod('d')],
      workers: { ...workers, a: drained(fenced.fencedAt), b: drained(fenced.fencedAt) },
    })
    expect(planDrain(going)).toMatchObject({ fence: [], replicas: 2 })
    expect(planDrain(situation({ target: 0, pods: pods.slice(2), workers, budget }))).toMatchObject({
      fence: ['c', 'd'],
      waitsFor: '2 workers that drain',
    })
    const none = situation({ target: 3, pods, workers, budget: { name: 'none', maxDraining: 0 } })
    expect(planDrain(none)).toMatchObject({ fence: [], replicas: 4, waitsFor: 'budget none' })
  })

  it('selects busy workers above a ceiling, despite pool and budget protection', () => {
    const pods = [pod('old', { createdAt: NOW - 9000 }), pod('young', { createdAt: NOW - 1000 }), pod('idle')]
    const workers = { old: working(1), young: working(1), idle: idle(1) }
    const budget = { name: 'none', maxDraining: 0 }
    const plan = planDrain(situation({ target: 1, ceiling: 1, pods, workers, budget }))
    expect(plan).toMatchObject({ fence: ['idle', 'young'], replicas: 3, waitsFor: '2 workers that drain' })
    expect(planDrain(situation({ target: 0, ceiling: 2, pods, workers }))).toMatchObject({ fence: ['idle'] })
  })

  it('lowers replicas without a pod at once', () => {
    expect(
      planDrain(situation({ target: 1, pods: [pod('a')], workers: { a: working(1) }, replicas: 5 })),
    ).toMatchObject({
      replicas: 1,
      fence: [],
    })
  })
})

function situation({
  workers,
  ...rest
}: { target: number; pods: readonly PoolPod[]; workers: Record<string, LiveWorker> } & Partial<
  Omit<DrainInput, 'workers'>
>): DrainInput {
  const defaults = {
    replicas: rest.pods.length,
    shrinking: false,
    budget: null,
    ceiling: null,
    acknowledgeSeconds: 15,
    removeBusy: false,
    now: NOW,
  }
  return { ...defaults, ...rest, workers: new Map(Object.entries(workers)) }
}

function pod(name: string, changes: Partial<PoolPod> = {}): PoolPod {
  const times = { createdAt: NOW - 100_000, fencedAt: null, markedAt: null, refusedAt: null, template: null }
  return { name, ready: true, started: true, deleting: false, ...times, ...changes }
}

function working(jobs: number): LiveWorker {
  return { state: 'taking', fence: null, jobs, idleSince: null }
}

function idle(seconds: number): LiveWorker {
  return { state: 'taking', fence: null, jobs: 0, idleSince: NOW - seconds * 1000 }
}

function draining(jobs: number, fence: number): LiveWorker {
  return { state: 'draining', fence, jobs, idleSince: null }
}

function drained(fence: number): LiveWorker {
  return { state: 'drained', fence, jobs: 0, idleSince: NOW - 1000 }
}
