import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { flowTimes, rowWeights, stepsBetween } from '../../../../worker/engines/fashn-vton/schedule.ts'

const SCHEDULES = new URL('../../../fixtures/fashn-vton/schedules.json', import.meta.url)

describe('the schedule of a rectified flow', async () => {
  const published: Record<string, number[]> = JSON.parse(await readFile(SCHEDULES, 'utf8'))

  it.each(Object.entries(published))('of %s steps matches the reference times to six digits', (steps, times) => {
    const found = flowTimes(Number(steps), 1.5)
    expect(found).toHaveLength(times.length)
    // The published ones were computed in 32 bits.
    for (const [k, time] of found.entries()) expect(Math.abs(time - times[k])).toBeLessThanOrEqual(5e-7)
  })

  it('covers the full range, without guidance in its last step', () => {
    const steps = stepsBetween(flowTimes(4, 1.5), 1)
    expect(steps.reduce((sum, { length }) => sum + length, 0)).toBeCloseTo(1, 12)
    expect(steps.map(({ guided }) => guided)).toEqual([true, true, true, false])
    expect(stepsBetween(flowTimes(1, 1.5), 1).map(({ guided }) => guided)).toEqual([false])
    expect(stepsBetween(flowTimes(2, 1.5), 0).map(({ guided }) => guided)).toEqual([true, true])
  })

  it('weights conditional and unconditional rows so that they sum to one step', () => {
    expect(rowWeights({ time: 0, length: 0.5, guided: true }, 1.5)).toEqual([0.75, -0.25])
    expect(rowWeights({ time: 0, length: 0.5, guided: false }, 1.5)).toEqual([0.5])
  })
})
