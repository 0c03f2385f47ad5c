import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPair } from '../../../../scripts/quality/pair.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import { findPerson } from '../../../../worker/vision/person/find-person.ts'
import { drawHands } from '../../../../worker/vision/person/hand-area.ts'
import { countSet, maskWhere, subset } from '../../../../worker/vision/raster/plane.ts'

let models: Models
beforeAll(async () => {
  models = await openModels('worker/models')
})
afterAll(() => models.release())

describe('hands', () => {
  it('are segmented in front of a black top with all fingers, without cloth', async () => {
    const { figure } = await readPair('test/fixtures', { person: 'liv-black', garment: 'tee_white', part: 'top' })
    const person = await findPerson(figure.bitmap, models)
    if (!person || !figure.hands) throw new Error('no person was found')
    const { hands } = figure
    const shown = drawHands(figure.bitmap, person.hands)
    const found = maskWhere(shown, (i) => shown.data[i] > 0.5)
    expect(person.hands).toHaveLength(2)
    expect(countSet(subset(hands, (i) => found.data[i] === 1)) / countSet(hands)).toBeGreaterThan(0.9)
    expect(countSet(subset(found, (i) => figure.parts.top.data[i] === 1)) / countSet(found)).toBeLessThan(0.03)
  })
})
