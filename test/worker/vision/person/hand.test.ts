import { describe, expect, it } from 'vitest'
import { readPair } from '../../../../scripts/quality/pair.ts'
import { drawHands } from '../../../../worker/vision/person/hand-area.ts'
import { countSet, maskWhere, subset } from '../../../../worker/vision/raster/mask.ts'
import { personIn } from '../../../support/vision.ts'

describe('hands', () => {
  it('are segmented in front of a black top with all fingers, without cloth', async () => {
    const { figure } = await readPair('test/fixtures', { person: 'liv-black', garment: 'tee_white', part: 'top' })
    const person = await personIn(figure.bitmap)
    if (!figure.hands) throw new Error('the figure has no hands')
    const { hands } = figure
    const shown = drawHands(figure.bitmap, person.hands)
    const found = maskWhere(shown, (i) => shown.data[i] > 0.5)
    expect(person.hands).toHaveLength(2)
    expect(countSet(subset(hands, (i) => found.data[i] === 1)) / countSet(hands)).toBeGreaterThan(0.9)
    expect(countSet(subset(found, (i) => figure.parts.top.data[i] === 1)) / countSet(found)).toBeLessThan(0.03)
  })
})
