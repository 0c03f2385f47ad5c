import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { CatVtonManifest } from '../../../../worker/engines/catvton/manifest.ts'
import { cumulativeAlphas, ddimSteps } from '../../../../worker/engines/catvton/schedule.ts'

const FIXTURES = new URL('../../../fixtures/catvton/', import.meta.url)
const readJson = async (name: string) => JSON.parse(await readFile(new URL(name, FIXTURES), 'utf8'))

describe('the schedule of CatVTON', async () => {
  const { sampling }: CatVtonManifest = await readJson('engine/engine.json')
  const reference: Record<string, [time: number, sample: number, seen: number, fresh: number][]> =
    await readJson('schedule.json')

  // Worked out by hand from the published betas.
  it.each([
    [0, 0.99915],
    [1, 0.998296],
    [21, 0.980381],
    [481, 0.302296],
    [981, 0.0057755],
  ])('keeps this share of the image after training step %i: %d', (step, share) => {
    expect(cumulativeAlphas(sampling.schedule)[step]).toBeCloseTo(share, 6)
  })

  it.each(Object.entries(reference))('has DDIM weights to six digits in %s steps', (count, rows) => {
    const steps = ddimSteps(Number(count), sampling)
    expect(steps.map(({ time }) => time)).toEqual(rows.map(([time]) => time))
    for (const [i, { sample, seen, fresh }] of steps.entries())
      for (const [k, value] of [sample, seen, fresh].entries())
        expect(Math.abs(value - rows[i][k + 1])).toBeLessThanOrEqual(5e-7)
  })

  it('ends at training step 1 with leading spacing', () => {
    const times = ddimSteps(50, sampling).map(({ time }) => time)
    expect([times[0], times[1], times.at(-1)]).toEqual([981, 961, 1])
  })

  it('adds no noise without eta, and ends at the image when the last alpha is 1', () => {
    for (const { fresh } of ddimSteps(20, { ...sampling, eta: 0 })) expect(fresh).toBe(0)
    const schedule = { ...sampling.schedule, finalAlphaIsOne: true }
    const last = ddimSteps(20, { ...sampling, schedule }).at(-1)
    // What is left of a sample x that is √ᾱ of the image and √(1 − ᾱ) of the noise seen in it.
    const alpha = cumulativeAlphas(schedule)[1]
    expect(last?.sample).toBeCloseTo(1 / Math.sqrt(alpha), 9)
    expect(last?.seen).toBeCloseTo(-Math.sqrt((1 - alpha) / alpha), 9)
    expect(last?.fresh).toBe(0)
  })
})
