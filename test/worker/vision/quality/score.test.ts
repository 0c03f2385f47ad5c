import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fitWeights, qualitiesUnseen, rankCorrelation, readRatings } from '../../../../scripts/photos/fit.ts'
import { DEFECTS, damage } from '../../../../scripts/quality/defects.ts'
import { readPairNames } from '../../../../scripts/quality/pair.ts'
import { type Seen, seeDefects, soundResult } from '../../../../scripts/quality/ranking.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import { describeProduct } from '../../../../worker/vision/quality/product.ts'
import { judgeResult, PREVIEW, qualityOf } from '../../../../worker/vision/quality/score.ts'
import { sharedModels } from '../../../support/vision.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')
/** Of the half that the weights were not fitted on. */
const PAIRS = ['mia-tee', 'ben-long']
/** Share of the colour of the wall in pale skin: about ΔE 10 remain. */
const PALE = 0.5

describe('the score of a result', () => {
  let models: Models
  let seen: Seen[]

  beforeAll(async () => {
    models = await sharedModels()
    seen = await seeDefects(FIXTURES, { models, isWanted: ({ person }) => PAIRS.includes(person) })
  })

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

  it('reports a missing arm of which the skin is nearly as pale as the wall', async () => {
    const [name] = (await readPairNames(FIXTURES)).filter(({ person, truth }) => person === PAIRS[0] && truth)
    const sound = await soundResult(FIXTURES, name, models)
    const stub = sound && damage(sound, 'stub arm')
    const product = sound && describeProduct(sound.garment)
    if (!stub || !product) throw new Error(`nothing to judge of ${name.person}`)
    const wall = stub.image.data
    const isGone = (k: number) => wall[k] !== sound.image.data[k]
    const data = sound.photo.data.map((value, k) => (isGone(k) ? value + PALE * (wall[k] - value) : value))
    expect(judgeResult({ ...stub, photo: { ...sound.photo, data } }, product)?.fault).toBe('a limb is missing')
  })

  it('is high for the ground truth', () => {
    for (const { signs } of seen.filter(({ defect }) => defect === null)) expect(qualityOf(signs)).toBeGreaterThan(0.6)
  })
})

describe('the quality of a preview', () => {
  it('ranks results as people rate them, for people whose results it was not fitted on', async () => {
    const rated = await readRatings()
    const ratings = rated.map(({ rating }) => rating)
    const qualities = qualitiesUnseen(rated)
    expect(rankCorrelation(qualities, ratings)).toBeGreaterThan(0.6)
    const isWorst = (_: number, k: number) => ratings[k] === 1
    const lowestGood = qualities.filter((_, k) => ratings[k] >= 4).toSorted((a, b) => a - b)
    const limit = lowestGood[Math.floor(0.05 * lowestGood.length)]
    const worst = qualities.filter(isWorst)
    expect(worst.filter((quality) => quality < limit).length / worst.length).toBeGreaterThan(0.7)
  })

  it('is that of the fit', async () => {
    const rated = await readRatings()
    for (const [k, weight] of fitWeights(rated).entries()) expect(weight).toBeCloseTo(Object.values(PREVIEW)[k], 1)
  })
})
