import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFECTS } from '../../../scripts/quality/defects.ts'
import { type Seen, seeDefects } from '../../../scripts/quality/ranking.ts'
import { type Models, openModels } from '../../../worker/inference/models.ts'
import { qualityOf } from '../../../worker/quality/score.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures')
/** Of the half that the weights were not fitted on. */
const PAIRS = ['mia-tee', 'ben-long']

describe('the score of a result', () => {
  let models: Models
  let seen: Seen[]

  beforeAll(async () => {
    models = await openModels('worker/models')
    seen = await seeDefects(FIXTURES, { models, isWanted: ({ person }) => PAIRS.includes(person) })
  })
  afterAll(() => models.release())

  it.each(Object.keys(DEFECTS))('is lower with a defect: %s', (defect) => {
    const damaged = seen.filter((entry) => entry.defect === defect)
    expect(damaged.length).toBeGreaterThan(0)
    for (const { pair, signs } of damaged) {
      const truth = seen.find((entry) => entry.pair === pair && entry.defect === null)
      if (!truth) throw new Error(`no truth of ${pair}`)
      expect(qualityOf(signs)).toBeLessThan(qualityOf(truth.signs))
    }
  })

  it('reports a missing arm, and no fault for the ground truth', () => {
    const stubs = seen.filter(({ defect }) => defect === 'stub arm')
    expect(stubs.length).toBeGreaterThan(0)
    for (const { fault } of stubs) expect(fault).toBe('a limb is missing')
    for (const { pair, fault } of seen.filter(({ defect }) => defect === null)) expect(fault, pair).toBeNull()
  })

  it('is high for the ground truth', () => {
    for (const { signs } of seen.filter(({ defect }) => defect === null)) expect(qualityOf(signs)).toBeGreaterThan(0.6)
  })
})
