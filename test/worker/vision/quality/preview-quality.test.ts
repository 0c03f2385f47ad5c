import { describe, expect, it } from 'vitest'
import { fitWeights, qualitiesUnseen, rankCorrelation, readRatings } from '../../../../scripts/photos/fit.ts'
import { findStrain, PREVIEW, worstStrain } from '../../../../worker/vision/quality/preview-quality.ts'
import { drawPerson, labelsOf } from '../body/drawn-person.ts'

describe('the quality of a preview', () => {
  it('counts the coat of a photo, and the skin and the background that a result adds', () => {
    const { photo, drawn } = drawPerson()
    const { width } = photo
    const isPerson = (i: number) => Object.values(drawn).some((mask) => mask.data[i] === 1)
    const before = labelsOf(photo, (i) => (isPerson(i) ? 'outer' : 'background'))
    const after = labelsOf(photo, (i) => (isPerson(i) ? (i % width < 200 ? 'arms' : 'background') : 'background'))
    const { skin, background, outer } = findStrain(before, after)
    expect(outer).toBeCloseTo(1, 5)
    expect(skin + background).toBeCloseTo(1, 5)
    expect(skin).toBeGreaterThan(0.1)
    expect(findStrain(after, after)).toEqual({ skin: 0, background: 0, outer: 0 })
  })

  it('is lowered most by the part with the largest weighted burden', () => {
    expect(worstStrain({ skin: 0.04, background: 0.02, outer: 0 })).toBe('skin')
    expect(worstStrain({ skin: 0.04, background: 0.03, outer: 0 })).toBe('background')
    expect(worstStrain({ skin: 0.04, background: 0.03, outer: 0.2 })).toBe('outer')
  })

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
