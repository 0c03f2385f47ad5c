import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { handsOf } from '../../../../scripts/quality/measure.ts'
import { type Pair, type PairName, readPair } from '../../../../scripts/quality/pair.ts'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import { completeHands } from '../../../../worker/vision/body/hand-mask.ts'
import { countSet, subset } from '../../../../worker/vision/raster/mask.ts'
import { dress, partsOf, personIn } from '../../../support/vision.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')

const figureOf = async (person: string): Promise<Pair['figure']> =>
  (await readPair(FIXTURES, { person, garment: 'jeans_blue', part: 'lower' })).figure

async function handsIn(bitmap: Pair['figure']['bitmap']) {
  const person = await personIn(bitmap)
  const body = measureBody(person)
  return { body, person, whole: completeHands(person) }
}

describe('hands', () => {
  it('adds missing fingertips to the person mask, and no background', async () => {
    const figure = await figureOf('sue-check')
    const { person, whole } = await handsIn(figure.bitmap)
    const hands = handsOf(figure)
    const missed = (mask: typeof person.mask) => countSet(subset(hands, (i) => mask.data[i] <= 0.5))
    expect(missed(person.mask)).toBeGreaterThan(50)
    expect(missed(whole.mask)).toBeLessThan(0.2 * missed(person.mask))
    const added = subset(figure.person, (i) => whole.mask.data[i] > 0.5 && person.mask.data[i] <= 0.5)
    expect(countSet(added)).toBeGreaterThan(50)
    const grown = countSet(subset(added, (i) => figure.person.data[i] === 1)) / countSet(added)
    const all = whole.mask.data.reduce((sum, value, i) => sum + +(value > 0.5 && person.mask.data[i] <= 0.5), 0)
    expect(countSet(added) / all).toBeGreaterThan(0.85)
    expect(grown).toBe(1)
  })

  it('does not change a mask that contains the hands', async () => {
    const { person, whole } = await handsIn((await figureOf('oli-tee')).bitmap)
    let added = 0
    for (let i = 0; i < whole.mask.data.length; i++) added += +(whole.mask.data[i] > 0.5 && person.mask.data[i] <= 0.5)
    expect(added).toBeLessThan(40)
  })

  it('separates a shaded palm from the shorts behind it', async () => {
    const figure = await figureOf('dan-shorts')
    const { whole } = await handsIn(figure.bitmap)
    const { skin } = await partsOf(figure.bitmap, whole)
    const hands = handsOf(figure)
    expect(countSet(subset(hands, (i) => skin.data[i] === 1)) / countSet(hands)).toBeGreaterThan(0.98)
  })

  it.each<PairName>([
    { person: 'dan-shorts', garment: 'jeans_blue', part: 'lower' },
    { person: 'sue-check', garment: 'dress_blue', part: 'both' },
  ])('keep every pixel: $person in $garment', async (name) => {
    const { figure, garment } = await readPair(FIXTURES, name)
    const { change } = await dress({ person: figure.bitmap, garment: garment.bitmap })
    expect(countSet(subset(handsOf(figure), (i) => change.data[i] > 0))).toBe(0)
  })
})
