import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Arrival, type SimulateOptions, simulate } from '../../../controller/worker-pool/simulate.ts'
import { createRandom } from '../../faults/support/random.ts'
import { scalingRules } from './scaling-rules.ts'

const OPTIONS: Omit<SimulateOptions, 'rules' | 'arrivals'> = {
  seconds: 3600,
  secondsPerJob: 5,
  slotsPerReplica: 1,
  startSeconds: 20,
  hourlyCost: 1,
  startsAt: new Date('2026-05-04T08:00:00Z'),
}

describe('a simulation', () => {
  it('reports cost and wait of a single job', () => {
    const rules = scalingRules({ bounds: { max: 5 }, target: { backlogPerSlot: 1 }, zero: { idleSeconds: 100 } })
    const { waits, decisions, cost } = simulate({ ...OPTIONS, rules, arrivals: [{ second: 10, jobs: 1 }] })
    expect(waits).toEqual([20])
    expect(decisions.map(({ second, decision: { from, to } }) => [second, from, to])).toEqual([
      [10, 0, 1],
      // Five minutes after the last look that saw the job.
      [330, 1, 0],
    ])
    expect(cost).toBeCloseTo(320 / 3600, 5)
  })

  it('of Poisson demand at the target reverses at most once in 10 minutes', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const rules = scalingRules({
        bounds: { min: 1, max: 40 },
        target: { backlogPerSlot: 1 },
        scaleDown: { stabilizationSeconds: 600 },
      })
      const arrivals = poisson(createRandom(seed), { seconds: 3600, jobsPerSecond: 2 })
      const { turns, waits } = simulate({ ...OPTIONS, rules, arrivals })
      expect(turns, `seed ${seed}`).toBeLessThanOrEqual(6)
      expect(waits.length).toBe(arrivals.reduce((sum, { jobs }) => sum + jobs, 0))
    }
  })

  it('of the GPU policy and a job an hour starts one worker for each job', async () => {
    const { pools } = parse(await readFile('charts/drape/values-gpu.yaml', 'utf8'))
    const rules = scalingRules(pools.gpu.scaling)
    const arrivals = [0, 3600].map((second) => ({ second, jobs: 1 }))
    const { workers, waits } = simulate({ ...OPTIONS, rules, arrivals, seconds: 3601, startSeconds: 90 })
    expect(waits).toEqual([90, 90])
    const workerSeconds = workers.reduce((sum, count) => sum + count, 0)
    expect(workerSeconds / 3600).toBeLessThan(0.45)
  })

  it('is deterministic', () => {
    const rules = scalingRules({ bounds: { max: 9 }, target: { oldestWaitSeconds: 10 } })
    const arrivals = poisson(createRandom(7), { seconds: 600, jobsPerSecond: 0.5 })
    expect(simulate({ ...OPTIONS, rules, arrivals })).toEqual(simulate({ ...OPTIONS, rules, arrivals }))
  })
})

/** Knuth, The Art of Computer Programming, vol. 2, 3.4.1. */
function poisson(
  random: ReturnType<typeof createRandom>,
  { seconds, jobsPerSecond }: { seconds: number; jobsPerSecond: number },
): Arrival[] {
  return Array.from({ length: seconds }, (_, second) => {
    let jobs = -1
    for (let product = 1; product > Math.exp(-jobsPerSecond); product *= random.next()) jobs++
    return { second, jobs }
  }).filter(({ jobs }) => jobs > 0)
}
