import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'
import { type Member, type SharedBudget, shareOf } from '../../../controller/worker-pool/budget-share.ts'
import type { Demand } from '../../../controller/worker-pool/decide.ts'
import { PREPARE_QUEUE, sumDemand } from '../../../controller/worker-pool/demand.ts'
import { divideDemand, type PoolCapacity } from '../../../controller/worker-pool/divide.ts'
import { createDivision } from '../../../controller/worker-pool/pool-capacity.ts'
import { createRandom } from '../../faults/support/random.ts'

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
  idleBuffer: 0,
  ...more,
})
const member = (key: string, more: Partial<Member> = {}): Member => ({
  key,
  priority: 0,
  hourlyCost: 1,
  min: 0,
  wanted: 0,
  held: 0,
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

const anyPool = fc.record({
  priority: fc.integer({ min: -2, max: 2 }),
  hourlyCost: fc.constantFrom(0.5, 1, 2.5),
  min: fc.nat(2),
  more: fc.nat(6),
  idleBuffer: fc.nat(1),
  queues: fc.constantFrom(['warp'], ['mock'], ['fashn-vton']),
  perWorker: fc.integer({ min: 1, max: 3 }),
  /** The budgets that the pool counts for. */
  budgets: fc.subarray([0, 1]),
  held: fc.nat(6),
})
const anyBudgets = fc.tuple(fc.double({ min: 0, max: 15, noNaN: true }), fc.double({ min: 0, max: 15, noNaN: true }))
const anyDemand = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20))

type AnyPool = typeof anyPool extends fc.Arbitrary<infer T> ? T : never

interface Pool {
  readonly taker: PoolCapacity
  readonly budgets: readonly number[]
  readonly min: number
  /** Workers that its demand requires. */
  wanted: number
  member: Member
}

describe('demand for pools that share a cost budget', () => {
  const warp = new Map([['warp', jobs(6)]])
  const hard = (hourlyCap: number, members: readonly Member[]): SharedBudget => ({ hourlyCap, mode: 'Hard', members })

  it('goes to a pool outside the budget when a higher priority exhausts the budget', () => {
    const first = taker('first', { queues: ['mock'], priority: 2 })
    const [inside, outside] = [taker('inside', { priority: 1 }), taker('outside', { hourlyCost: 9 })]
    const divided = (cap: number, members = [member('first', { priority: 2 }), member('inside', { priority: 1 })]) => {
      const shares = divideDemand([first, inside, outside], new Map([...warp, ['mock', jobs(5)]]), [hard(cap, members)])
      return [countsOf(shares, 'first', 'mock')[0], countsOf(shares, 'inside')[0], countsOf(shares, 'outside')[0]]
    }
    expect(divided(9)).toEqual([5, 6, 0])
    expect(divided(4)).toEqual([5, 2, 4])
    expect(divided(3)).toEqual([5, 0, 6])
    expect(divided(2)).toEqual([5, 0, 6])
    const stillHolds = [member('first', { priority: 2, held: 5 }), member('inside', { priority: 1 })]
    expect(divided(6, stillHolds)).toEqual([5, 2, 4])
    const paused = [member('first', { priority: Number.POSITIVE_INFINITY, min: 5, held: 5 }), member('inside')]
    expect(divided(6, paused)).toEqual([5, 2, 4])
  })

  it('goes to the higher priority under a hard budget, even while another pool occupies it', () => {
    const members = [member('first', { priority: 1 }), member('other', { held: 4 })]
    const pools = [taker('first', { priority: 1 }), taker('outside', { priority: -1 })]
    const dividedBy = (mode: 'Hard' | 'Soft') =>
      countsOf(divideDemand(pools, warp, [{ hourlyCap: 4, mode, members }]), 'first')[0]
    expect([dividedBy('Hard'), dividedBy('Soft')]).toEqual([6, 0])
  })

  it('waits for no pool while another has room, for any pools and budgets', () => {
    fc.assert(
      fc.property(
        fc.array(anyPool, { minLength: 1, maxLength: 5 }),
        anyBudgets,
        anyDemand,
        fc.array(fc.nat(4), { maxLength: 12 }),
        (some, caps, waiting, order) => {
          const demand = new Map(['warp', 'mock', 'fashn-vton'].map((queue, i) => [queue, jobs(waiting[i])]))
          const pools = some.map(poolOf)
          let shares = new Map() as ReturnType<typeof divideDemand>
          for (let round = 0; round < 12; round++) {
            shares = divideDemand(
              pools.map((pool) => pool.taker),
              demand,
              caps.map((cap, i) => hard(cap, membersOf(pools, i))),
            )
            for (const pool of pools) {
              const required = pool.taker.workersFor(assignedTo(pool, shares))
              const wanted = required === 0 ? 0 : required + pool.taker.idleBuffer
              pool.wanted = Math.max(pool.min, Math.min(pool.taker.maxWorkers, wanted))
            }
            for (const i of [...order, ...pools.keys()]) decide(pools[i % pools.length], pools, caps)
          }
          for (const [queue, all] of demand) {
            const takers = pools.filter(({ taker: { queues } }) => queues.includes(queue))
            if (takers.length === 0) continue
            expect(takers.reduce((sum, pool) => sum + (shares.get(pool.taker.key)?.get(queue)?.waiting ?? 0), 0)).toBe(
              all.waiting,
            )
            const late = takers.filter((pool) => {
              const isServed = pool.taker.workersFor(assignedTo(pool, shares)) <= pool.member.held
              return !isServed && (shares.get(pool.taker.key)?.get(queue)?.waiting ?? 0) > 0
            })
            if (late.length === 0) continue
            for (const pool of takers.filter((each) => !late.includes(each))) {
              const { waiting, ...rest } = assignedTo(pool, shares)
              const withOne = pool.taker.workersFor({ ...rest, waiting: waiting + 1 })
              expect(withOne).toBeGreaterThan(Math.min(pool.taker.maxWorkers, roomOf(pool, pools, caps)))
            }
          }
        },
      ),
      { numRuns: 2000 },
    )
  })

  function poolOf({ min, more, held, budgets, priority, ...rest }: AnyPool, i: number): Pool {
    const { perWorker: count, ...others } = rest
    const about = { priority, hourlyCost: rest.hourlyCost }
    return {
      min,
      budgets,
      wanted: 0,
      taker: taker(`${i}`, { ...others, ...about, maxWorkers: min + more, workersFor: perWorker(count) }),
      member: member(`${i}`, { ...about, min, held: Math.min(held, min + more) }),
    }
  }

  const membersOf = (pools: readonly Pool[], budget: number) =>
    pools.filter(({ budgets }) => budgets.includes(budget)).map((pool) => pool.member)

  /** Lets one pool decide, as it does by itself. */
  function decide(pool: Pool, pools: readonly Pool[], caps: readonly number[]): void {
    const { held } = pool.member
    const asking = { ...pool.member, min: pool.min, wanted: pool.wanted }
    const shares = pool.budgets.map((i) => shareOf(asking, othersOf(pool, pools, i), caps[i]))
    const limits = shares.map(({ workers, room }) => Math.min(workers, Math.max(room, held)))
    const claimed = (count: number) => Math.min(count, ...shares.map(({ workers }) => workers))
    const [min, wanted] = [claimed(pool.min), claimed(pool.wanted)]
    pool.member = { ...pool.member, min, wanted, held: Math.min(pool.wanted, ...limits) }
  }

  function roomOf(pool: Pool, pools: readonly Pool[], caps: readonly number[]): number {
    return Math.min(
      Number.POSITIVE_INFINITY,
      ...pool.budgets.map((i) => shareOf(pool.member, othersOf(pool, pools, i), caps[i]).room),
    )
  }

  function othersOf(pool: Pool, pools: readonly Pool[], budget: number): Member[] {
    return membersOf(pools, budget).filter((other) => other !== pool.member)
  }

  function assignedTo({ taker: { key } }: Pool, shares: ReturnType<typeof divideDemand>): Demand {
    return sumDemand([...(shares.get(key)?.values() ?? [])])
  }
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
    createDivision(
      {
        pools: { list: () => [...pools] },
        policies: { get: () => undefined },
        costBudgets: { list: () => [] },
        podsOf: () => [],
        engines: {
          get: (key) => (engines[key] ? object('Engine', key.slice(5), { status: engines[key] }) : undefined),
        },
        now: () => new Date(),
      },
      new Map(),
    )
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
