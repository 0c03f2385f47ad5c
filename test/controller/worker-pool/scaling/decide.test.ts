import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ScalingRules } from '../../../../controller/scaling-policy/resource.ts'
import {
  type DecideInput,
  type Demand,
  decide,
  emptyMemory,
  replicasFor,
} from '../../../../controller/worker-pool/scaling/decide.ts'
import { anyDemand, anyRules, scalingRules } from '../scaling-rules.ts'

const START = new Date('2026-05-04T12:00:00Z')
const NOTHING: Demand = { waiting: 0, inFlight: 0, oldestWaitSeconds: 0, secondsPerJob: 2 }

const ONE_SLOT = { slotsPerReplica: 1, startSeconds: 0 }

describe('a decision', () => {
  it('follows the backlog per slot', () => {
    const rules = scalingRules({ bounds: { max: 20 }, target: { backlogPerSlot: 2 } })
    expect(replicasFor({ ...NOTHING, waiting: 7, inFlight: 1 }, { rules, slotsPerReplica: 2, startSeconds: 0 })).toBe(2)
    expect(replicasFor({ ...NOTHING, waiting: 9 }, { rules, slotsPerReplica: 2, startSeconds: 0 })).toBe(3)
  })

  it('follows the target drain time', () => {
    const rules = scalingRules({ bounds: { max: 20 }, target: { drainWithinSeconds: 30 } })
    expect(replicasFor({ ...NOTHING, waiting: 60 }, { rules, ...ONE_SLOT })).toBe(4)
    expect(replicasFor({ ...NOTHING, waiting: 60, inFlight: 30 }, { rules, ...ONE_SLOT })).toBe(6)
  })

  it('follows the longest wait, and scales faster as it grows', () => {
    const rules = scalingRules({ bounds: { max: 20 }, target: { oldestWaitSeconds: 20 } })
    const demand = { ...NOTHING, waiting: 20, inFlight: 2 }
    expect(replicasFor(demand, { rules, ...ONE_SLOT })).toBe(4)
    expect(replicasFor({ ...demand, oldestWaitSeconds: 15 }, { rules, ...ONE_SLOT })).toBe(10)
    // What is late has a slot of its own.
    expect(replicasFor({ ...NOTHING, waiting: 3, oldestWaitSeconds: 25 }, { rules, ...ONE_SLOT })).toBe(3)
  })

  it('asks for no more slots than there are jobs, however late and long the jobs are', () => {
    const oldestWait = scalingRules({ bounds: { max: 90 }, target: { oldestWaitSeconds: 15 } })
    const drain = scalingRules({ bounds: { max: 90 }, target: { drainWithinSeconds: 10 } })
    const late = { ...NOTHING, oldestWaitSeconds: 14, secondsPerJob: 30 }
    for (const rules of [oldestWait, drain]) {
      expect(replicasFor({ ...late, waiting: 1 }, { rules, ...ONE_SLOT })).toBe(1)
      expect(replicasFor({ ...late, waiting: 3, inFlight: 2 }, { rules, ...ONE_SLOT })).toBe(5)
      expect(replicasFor({ ...late, waiting: 3 }, { rules, ...ONE_SLOT, slotsPerReplica: 2 })).toBe(2)
    }
  })

  it('asks for no more workers because of a wait that the start of a worker causes', () => {
    const rules = scalingRules({ bounds: { max: 20 }, target: { oldestWaitSeconds: 15 } })
    const workersAfter = (oldestWaitSeconds: number) =>
      replicasFor(
        { waiting: 6, inFlight: 0, oldestWaitSeconds, secondsPerJob: 5 },
        { rules, ...ONE_SLOT, startSeconds: 90 },
      )
    expect([0, 14, 60, 90].map(workersAfter)).toEqual([2, 2, 2, 2])
    // The start takes longer than it did, or the workers are too few.
    expect([95, 100, 500].map(workersAfter)).toEqual([3, 6, 6])
  })

  it('keeps idle workers on top of demand', () => {
    const rules = scalingRules({ bounds: { max: 20, idleBuffer: 2 }, target: { backlogPerSlot: 1 } })
    expect(replicasFor({ ...NOTHING, waiting: 3 }, { rules, ...ONE_SLOT })).toBe(5)
    expect(replicasFor(NOTHING, { rules, ...ONE_SLOT })).toBe(0)
  })

  it('starts the first worker at once', () => {
    const rules = scalingRules({ bounds: { max: 5 }, target: { backlogPerSlot: 4 } })
    const run = simulate(rules, 0)
    expect(run.look({ ...NOTHING, waiting: 1 })).toMatchObject({ from: 0, to: 1, direction: 'Up' })
  })

  it('by the GPU policy gives each of two jobs an hour apart a worker, for less than 0.45 worker-hours until both are done', async () => {
    const { pools } = parse(await readFile('charts/drape/values-gpu.yaml', 'utf8'))
    const run = simulate(scalingRules(pools.gpu.scaling), 0)
    let [workerSeconds, most] = [0, 0]
    for (let second = 0; second < 3695; second++) {
      // Each job starts after 90 s and takes 5.
      const age = second % 3600
      const waiting = age < 90 ? { waiting: 1, oldestWaitSeconds: age } : {}
      const { to } = run.look({ ...NOTHING, inFlight: age >= 90 && age < 95 ? 1 : 0, secondsPerJob: 5, ...waiting })
      run.wait(1)
      workerSeconds += to
      most = Math.max(most, to)
    }
    expect(most).toBe(1)
    expect(workerSeconds / 3600).toBeLessThan(0.45)
  })

  it('reports the limiting bound', () => {
    const rules = scalingRules({ bounds: { min: 1, max: 3 }, target: { backlogPerSlot: 1 } })
    const run = simulate(rules, 0)
    expect(run.look({ ...NOTHING, waiting: 9 })).toMatchObject({ to: 3, limitedBy: ['bounds.max'] })
    const held = { to: 3, direction: 'None', reason: 'Limited by bounds.max.', limitedBy: ['bounds.max'] }
    expect(run.look({ ...NOTHING, waiting: 9 })).toMatchObject(held)
    const asked = { direction: 'None', reason: 'The demand requires this number.', limitedBy: [] }
    expect(simulate(rules, 3).look({ ...NOTHING, waiting: 3 })).toMatchObject(asked)
    expect(simulate(rules, 1).look({ ...NOTHING, waiting: 1 })).toMatchObject(asked)
  })

  it('reports whether a bound or the demand requires more', () => {
    const rules = scalingRules({ bounds: { min: 2, max: 9 }, target: { backlogPerSlot: 1 } })
    const reasonFor = (demand: Demand) => simulate(rules, 0).look(demand).reason
    expect(reasonFor(NOTHING)).toBe('bounds.min requires 2.')
    expect(reasonFor({ ...NOTHING, waiting: 2 })).toBe('The demand requires 2: 2 waiting, 0 running.')
    expect(reasonFor({ ...NOTHING, inFlight: 1 })).toBe('The demand requires 2: 0 waiting, 1 running.')
    expect(reasonFor({ ...NOTHING, waiting: 4 })).toBe('The demand requires 4: 4 waiting, 0 running.')
  })

  it('scales down in steps after a full window of low demand', () => {
    const rules = scalingRules({
      bounds: { min: 1, max: 10 },
      target: { backlogPerSlot: 1 },
      scaleDown: { stabilizationSeconds: 120, maxReplicas: 2, periodSeconds: 60 },
    })
    const run = simulate(rules, 0)
    run.look({ ...NOTHING, waiting: 6 })
    expect(run.wait(60).look(NOTHING)).toMatchObject({
      to: 6,
      limitedBy: ['bounds.min', 'scaleDown.stabilizationSeconds'],
    })
    expect(run.wait(61).look(NOTHING)).toMatchObject({ from: 6, to: 4, direction: 'Down' })
    expect(run.wait(30).look(NOTHING)).toMatchObject({ to: 4, limitedBy: ['bounds.min', 'scaleDown.maxReplicas'] })
    expect(run.wait(30).look(NOTHING)).toMatchObject({ from: 4, to: 2 })
    expect(run.wait(60).look(NOTHING)).toMatchObject({ from: 2, to: 1 })
  })

  it('scales to zero only after the idle time without jobs', () => {
    const rules = scalingRules({
      bounds: { max: 4 },
      target: { backlogPerSlot: 1 },
      scaleDown: { stabilizationSeconds: 0 },
      zero: { idleSeconds: 100 },
    })
    const run = simulate(rules, 3)
    expect(run.look(NOTHING)).toMatchObject({ to: 1, limitedBy: ['zero.idleSeconds'] })
    expect(run.wait(90).look({ ...NOTHING, inFlight: 1 })).toMatchObject({ to: 1 })
    expect(run.wait(10).look(NOTHING)).toMatchObject({ to: 1, limitedBy: ['zero.idleSeconds'] })
    expect(run.wait(99).look(NOTHING)).toMatchObject({ to: 1 })
    expect(run.wait(1).look(NOTHING)).toMatchObject({ from: 1, to: 0, direction: 'Down' })
  })

  it('limits the workers added per period', () => {
    const rules = scalingRules({
      bounds: { max: 50 },
      target: { backlogPerSlot: 1 },
      scaleUp: { maxReplicas: 10, periodSeconds: 60 },
    })
    const run = simulate(rules, 0)
    expect(run.look({ ...NOTHING, waiting: 25 })).toMatchObject({ to: 10, limitedBy: ['scaleUp.maxReplicas'] })
    expect(run.wait(30).look({ ...NOTHING, waiting: 25 })).toMatchObject({ to: 10 })
    expect(run.wait(20).look({ ...NOTHING, waiting: 25 })).toMatchObject({
      to: 10,
      reason: 'Waits for scaleUp.maxReplicas.',
    })
    expect(run.wait(10).look({ ...NOTHING, waiting: 25 })).toMatchObject({ to: 20 })
    expect(run.wait(60).look({ ...NOTHING, waiting: 25 })).toMatchObject({ to: 25, limitedBy: [] })
  })

  it('scales up after lasting demand, and to the lower bound at once', () => {
    const rules = scalingRules({
      bounds: { min: 2, max: 50 },
      target: { backlogPerSlot: 1 },
      scaleUp: { stabilizationSeconds: 30 },
    })
    const run = simulate(rules, 0)
    expect(run.look({ ...NOTHING, waiting: 9 })).toMatchObject({ to: 2, limitedBy: ['scaleUp.stabilizationSeconds'] })
    run.wait(20).look({ ...NOTHING, waiting: 5 })
    expect(run.wait(20).look({ ...NOTHING, waiting: 9 })).toMatchObject({ to: 5 })
  })

  it('limits the workers removed per period, in any number of steps', () => {
    const rules = scalingRules({
      bounds: { max: 50 },
      target: { backlogPerSlot: 1 },
      scaleDown: { stabilizationSeconds: 0, maxReplicas: 4, periodSeconds: 60 },
    })
    const run = simulate(rules, 20)
    const look = (waiting: number) => run.wait(10).look({ ...NOTHING, waiting }).to
    expect([look(18), look(10), look(17), look(10), look(10)]).toEqual([18, 16, 17, 17, 17])
    expect([look(10), look(10), look(10)]).toEqual([17, 15, 13])
  })

  it('waits a full window after the controller starts', () => {
    const target = { backlogPerSlot: 1 }
    const window = { stabilizationSeconds: 1 }
    const up = simulate(scalingRules({ bounds: { max: 9 }, target, scaleUp: window }), 0)
    expect(up.look({ ...NOTHING, waiting: 9 })).toMatchObject({
      to: 0,
      reason: 'Waits for scaleUp.stabilizationSeconds.',
    })
    const down = simulate(scalingRules({ bounds: { min: 1, max: 9 }, target, scaleDown: window }), 3)
    expect(down.look(NOTHING)).toMatchObject({ to: 3, reason: 'Waits for scaleDown.stabilizationSeconds.' })
  })

  it('never exceeds a hard cap, and exceeds a soft cap only for the lower bound', () => {
    const rules = (mode: string) =>
      scalingRules({ bounds: { min: 4, max: 50 }, target: { backlogPerSlot: 1 }, cost: { hourlyCap: 3, mode } })
    const busy = { ...NOTHING, waiting: 20 }
    const hard = simulate(rules('Hard'), 0, { hourlyCost: 1 }).look(busy)
    expect(hard).toMatchObject({ to: 3, limitedBy: ['cost.hourlyCap'] })
    const soft = simulate(rules('Soft'), 0, { hourlyCost: 1 }).look(busy)
    expect(soft).toMatchObject({ to: 4, limitedBy: ['cost.hourlyCap'] })
    const cheap = simulate(rules('Hard'), 0, { hourlyCost: 0.5 })
    expect(cheap.look(busy)).toMatchObject({ to: 6, limitedBy: ['cost.hourlyCap'] })
    // Where the cap allows just the lower bound, the bound holds it.
    expect(simulate(rules('Hard'), 4, { hourlyCost: 0.75 }).look(NOTHING)).toMatchObject({
      to: 4,
      limitedBy: ['bounds.min'],
    })
  })

  it('scales to a lowered maximum or hard cap at once, and to a soft cap at its pace', () => {
    const rules = (more: object) =>
      scalingRules({ bounds: { max: 50 }, target: { backlogPerSlot: 1 }, scaleDown: { maxReplicas: 2 }, ...more })
    const busy = { ...NOTHING, waiting: 100 }
    const cut = (more: object) => simulate(rules(more), 20, { hourlyCost: 1 })
    const maximum = { bounds: { max: 5 } }
    expect(cut(maximum).look(busy)).toMatchObject({ to: 5, reason: 'bounds.max allows 5.' })
    expect(cut({ cost: { hourlyCap: 5, mode: 'Hard' } }).look(busy)).toMatchObject({ to: 5 })
    expect(cut({ cost: { hourlyCap: 5, mode: 'Soft' } }).look(busy)).toMatchObject({ to: 18 })
    const hours = { name: 'noon', start: '11:00', end: '13:00', max: 4 }
    expect(cut({ schedules: [hours] }).look(busy)).toMatchObject({ to: 4, reason: 'schedule noon allows 4.' })
    // A maximum needs no demand.
    expect(cut(maximum).look(null)).toMatchObject({ to: 5, limitedBy: ['bounds.max'] })
  })

  it('holds while demand is unknown, and falls back when that lasts', () => {
    const rules = (fallback: unknown) =>
      scalingRules({ bounds: { max: 9 }, target: { backlogPerSlot: 1 }, sampling: { staleSeconds: 60 }, fallback })
    const run = (fallback: unknown) => {
      const made = simulate(rules(fallback), 0)
      made.look({ ...NOTHING, waiting: 5 })
      expect(made.wait(60).look(null)).toMatchObject({ to: 5, limitedBy: [] })
      return made.wait(1).look(null)
    }
    expect(run({})).toMatchObject({ to: 5, direction: 'None', limitedBy: ['fallback'] })
    expect(run({ mode: 'Static', replicas: 2 })).toMatchObject({ to: 2, direction: 'Down' })
    expect(run({ mode: 'HoldOrHigher', replicas: 2 })).toMatchObject({ to: 5 })
    const unread = simulate(rules({ mode: 'HoldOrHigher' }), 0)
      .wait(61)
      .look(null)
    expect(unread).toMatchObject({ to: 0, direction: 'None' })
    expect(run({ mode: 'HoldOrHigher', replicas: 12 })).toMatchObject({ to: 9, limitedBy: ['fallback', 'bounds.max'] })
  })
})

describe('any decision', () => {
  it('keeps the bounds, and never moves in the wrong direction', () => {
    fc.assert(
      fc.property(anyRules, fc.nat(60), anyHistory, (rules, replicas, history) => {
        const run = simulate(rules, replicas, { hourlyCost: 1 })
        for (const { seconds, demand } of history) {
          const { from, to, direction } = run.wait(seconds).look(demand)
          const { min, max } = run.bounds()
          if (direction === 'Up') expect(to).toBeLessThanOrEqual(Math.max(max, 0))
          if (direction === 'Down') expect(to).toBeGreaterThanOrEqual(Math.min(min, from))
          if (direction === 'None') expect(to).toBe(from)
          else expect(direction).toBe(to > from ? 'Up' : 'Down')
        }
      }),
      { numRuns: 500 },
    )
  })

  it('never has fewer workers for more demand', () => {
    fc.assert(
      fc.property(
        anyRules,
        fc.nat(60),
        anyHistory,
        anyDemand,
        fc.record({ waiting: fc.nat(50), inFlight: fc.nat(9), oldestWaitSeconds: fc.nat(60) }),
        (rules, replicas, history, demand, more) => {
          const run = simulate(rules, replicas, { hourlyCost: 1 })
          for (const { seconds, demand: before } of history) run.wait(seconds).look(before)
          const larger = {
            waiting: demand.waiting + more.waiting,
            inFlight: demand.inFlight + more.inFlight,
            oldestWaitSeconds: demand.oldestWaitSeconds + more.oldestWaitSeconds,
            secondsPerJob: demand.secondsPerJob,
          }
          expect(run.ask(larger).to).toBeGreaterThanOrEqual(run.ask(demand).to)
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('removes no worker within the window after one was added', () => {
    fc.assert(
      fc.property(anyRules, fc.nat(60), anyHistory, (rules, replicas, history) => {
        // The bounds, which a cost cap may move, go before the window; demand alone must not.
        const run = simulate({ ...rules, cost: undefined }, Math.min(replicas, rules.bounds.max))
        let lastUp = Number.NEGATIVE_INFINITY
        for (const { seconds, demand } of history) {
          const { direction } = run.wait(seconds).look(demand)
          if (direction === 'Up') lastUp = run.at()
          if (direction === 'Down')
            expect(run.at() - lastUp).toBeGreaterThanOrEqual(rules.scaleDown.stabilizationSeconds * 1000)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('never removes the last worker before the idle time without jobs', () => {
    fc.assert(
      fc.property(anyRules, fc.nat(10), anyHistory, (rules, replicas, history) => {
        const run = simulate({ ...rules, cost: undefined }, replicas)
        let idleSince: number | null = null
        for (const { seconds, demand } of history) {
          const { from, to } = run.wait(seconds).look(demand)
          const idle = demand.waiting + demand.inFlight === 0
          idleSince = idle ? (idleSince ?? run.at()) : null
          if (from > 0 && to === 0) {
            expect(idleSince).not.toBeNull()
            expect(run.at() - (idleSince ?? 0)).toBeGreaterThanOrEqual(rules.zero.idleSeconds * 1000)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})

/** Twenty looks, seconds to minutes apart: 500 histories are 10,000 decisions. */
const anyHistory = fc.array(fc.record({ seconds: fc.constantFrom(1, 5, 30, 120, 700), demand: anyDemand }), {
  minLength: 20,
  maxLength: 20,
})

/** A pool that does at once what was decided, under a clock that is stepped. */
function simulate(rules: ScalingRules, replicas: number, { hourlyCost = 0 }: { hourlyCost?: number } = {}) {
  let now = START.getTime()
  let memory = emptyMemory(START)
  let current = replicas
  let bounds = { min: rules.bounds.min, max: rules.bounds.max }
  const input = (demand: Demand | null): DecideInput => ({
    demand,
    rules,
    slotsPerReplica: 1,
    startSeconds: 0,
    hourlyCost,
    replicas: current,
    memory,
    now: new Date(now),
  })
  const run = {
    wait: (seconds: number) => {
      now += seconds * 1000
      return run
    },
    look: (demand: Demand | null) => {
      const outcome = decide(input(demand))
      memory = outcome.memory
      bounds = outcome.bounds
      current = outcome.decision.to
      return outcome.decision
    },
    /** What would be decided, without doing it. */
    ask: (demand: Demand) => decide(input(demand)).decision,
    at: () => now,
    bounds: () => bounds,
  }
  return run
}
