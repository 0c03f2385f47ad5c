import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../../controller/runtime/resource.ts'
import { PREPARE_QUEUE } from '../../../../controller/worker-pool/demand/demand.ts'
import { divideDemand, type PoolCapacity } from '../../../../controller/worker-pool/demand/divide-demand.ts'
import { createDivision } from '../../../../controller/worker-pool/demand/pool-capacity.ts'
import type { Demand } from '../../../../controller/worker-pool/scaling/decide.ts'
import { createRandom } from '../../../faults/support/random.ts'

const jobs = (waiting: number, inFlight = 0): Demand => ({
  waiting,
  inFlight,
  oldestWaitSeconds: waiting > 0 ? 9 : 0,
  secondsPerJob: 2,
})
const perWorker = (count: number) => (demand: Demand) => Math.ceil((demand.waiting + demand.inFlight) / count)
const taker = (key: string, more: Partial<PoolCapacity> = {}): PoolCapacity => ({
  key,
  queues: ['warp'],
  priority: 0,
  hourlyCost: 1,
  maxWorkers: 4,
  workersFor: perWorker(2),
  ...more,
})
const countsOf = (shares: ReturnType<typeof divideDemand>, key: string, queue = 'warp') => {
  const share = shares.get(key)?.get(queue)
  return [share?.waiting ?? 0, share?.inFlight ?? 0]
}

describe('demand that several pools can serve', () => {
  it('goes to a higher priority first, then to the cheapest pool up to its bound', () => {
    const [cheap, dear] = [taker('cheap'), taker('dear', { hourlyCost: 5 })]
    const few = divideDemand([dear, cheap], new Map([['warp', jobs(5, 1)]]))
    expect([countsOf(few, 'cheap'), countsOf(few, 'dear')]).toEqual([
      [5, 1],
      [0, 0],
    ])
    const many = divideDemand([dear, cheap], new Map([['warp', jobs(20, 3)]]))
    expect([countsOf(many, 'cheap'), countsOf(many, 'dear')]).toEqual([
      [5, 3],
      [15, 0],
    ])
    const preferred = divideDemand([{ ...dear, priority: 1 }, cheap], new Map([['warp', jobs(5)]]))
    expect([countsOf(preferred, 'cheap'), countsOf(preferred, 'dear')]).toEqual([
      [0, 0],
      [5, 0],
    ])
  })

  it('reserves room in a shared pool for jobs that only that pool can run', () => {
    const both = taker('both', { queues: ['warp', 'fashn-vton'], hourlyCost: 0.1 })
    const shares = divideDemand(
      [both, taker('cpu')],
      new Map([
        ['warp', jobs(6)],
        ['fashn-vton', jobs(6)],
      ]),
    )
    expect(countsOf(shares, 'both', 'fashn-vton')).toEqual([6, 0])
    expect(countsOf(shares, 'both')).toEqual([2, 0])
    expect(countsOf(shares, 'cpu')).toEqual([4, 0])
  })

  it('is never counted twice and never lost, for any pools', () => {
    const random = createRandom(7)
    const queues = ['warp', 'mock', PREPARE_QUEUE]
    for (let round = 0; round < 200; round++) {
      const pools = Array.from({ length: random.between(1, 5) }, (_, i) =>
        taker(`pool-${i}`, {
          queues: queues.filter((_, n) => n === i % 3 || random.between(0, 1) >= 0.5),
          priority: Math.floor(random.between(0, 2)),
          maxWorkers: Math.floor(random.between(0, 9)),
          workersFor: perWorker(random.between(0.1, 4)),
        }),
      )
      const demand = new Map(queues.map((queue) => [queue, jobs(Math.floor(random.between(0, 50)), 3)]))
      const shares = [...divideDemand(pools, demand).values()]
      for (const [queue, { waiting, inFlight }] of demand) {
        if (!pools.some((pool) => pool.queues.includes(queue))) continue
        const parts = shares.flatMap((share) => share.get(queue) ?? [])
        expect(parts.reduce((sum, part) => sum + part.waiting, 0)).toBe(waiting)
        expect(parts.reduce((sum, part) => sum + part.inFlight, 0)).toBe(inFlight)
      }
    }
  })
})

describe('the pools of a cluster', () => {
  const object = (kind: string, name: string, rest: object) =>
    ({ apiVersion: 'drape.dev/v1alpha1', kind, metadata: { namespace: 'shop', name }, ...rest }) as KubernetesObject
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
  const pool = (name: string, spec: object) =>
    object('WorkerPool', name, {
      spec: {
        ...{ engines: ['warp'], template: { image: 'drape/worker:1', requests: {} } },
        scaling: { mode: 'Auto', policy: { bounds: { min: 0, max: 2 }, target: { backlogPerSlot: 2 } } },
        ...spec,
      },
    })
  const divideBetween = (pools: readonly KubernetesObject[], engines: Readonly<Record<string, object>>) =>
    createDivision({
      pools: { list: () => [...pools] },
      policies: { get: () => undefined },
      engines: {
        get: (key) => (engines[key] ? object('Engine', key.slice(5), { status: engines[key] }) : undefined),
      },
      now: () => new Date(),
    })
  const waitingOf = (divided: ReturnType<ReturnType<typeof divideBetween>>, name: string) =>
    [...(divided.get(`shop/${name}`)?.entries() ?? [])].map(([queue, { waiting }]) => `${queue} ${waiting}`).sort()

  it('share demand by bounds, queues and engine limits', () => {
    const pools = [
      pool('cpu', { queues: ['try-on', 'prepare'] }),
      pool('gpu', { engines: ['fashn-vton', 'warp'], queues: ['try-on'], priority: -1 }),
      pool('unlicensed', { engines: ['warp', 'studio'], queues: ['try-on'], priority: 5 }),
    ]
    const divide = divideBetween(pools, { 'shop/warp': ready, 'shop/fashn-vton': ready })
    const demand = new Map([
      ['warp', jobs(6)],
      ['fashn-vton', jobs(1)],
      [PREPARE_QUEUE, jobs(3)],
    ])
    const divided = divide(demand)
    // Two slots of two jobs each, less the photos.
    expect(waitingOf(divided, 'cpu')).toEqual(['_prepare 3', 'warp 1'])
    expect(waitingOf(divided, 'gpu')).toEqual(['fashn-vton 1', 'warp 5'])
    expect(waitingOf(divided, 'unlicensed')).toEqual(['warp 0'])
    expect(divide(demand)).toBe(divided)
  })
})
