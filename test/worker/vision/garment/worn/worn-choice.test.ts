import { describe, expect, it } from 'vitest'
import { chooseGarment } from '../../../../../worker/vision/garment/worn/worn-choice.ts'
import { LABELS, type Label } from '../../../../../worker/vision/person/parse.ts'

type Lab = readonly [number, number, number]

const WHITE: Lab = [90, 0, 0]
const NAVY: Lab = [20, 5, -20]
const SHADED_NAVY: Lab = [14, 4, -17]
const RED: Lab = [45, 60, 40]

/** Rows of 10 px, ten of each label in its colour. */
function wearing(...pieces: readonly (readonly [Label, Lab])[]) {
  const size = { width: 10, height: 10 * pieces.length }
  const rows = pieces.flatMap((piece) => new Array<typeof piece>(100).fill(piece))
  return {
    labels: { ...size, data: Uint8Array.from(rows, ([label]) => LABELS.indexOf(label)) },
    lab: { ...size, channels: 3 as const, data: Float32Array.from(rows.flatMap(([, colour]) => colour)) },
  }
}

describe('the garment that is cut off a person', () => {
  it.each([
    ['a T-shirt over trousers', wearing(['top', WHITE], ['bottom', NAVY]), null, 'tops', ['top'], null],
    ['the trousers of the category', wearing(['top', WHITE], ['bottom', NAVY]), 'bottoms', 'bottoms', ['bottom'], null],
    ['an open jacket over a top', wearing(['outer', NAVY], ['top', WHITE]), null, 'outerwear', ['outer'], 'top'],
    [
      'one sweater with two labels',
      wearing(['top', NAVY], ['outer', SHADED_NAVY]),
      'tops',
      'tops',
      ['top', 'outer'],
      null,
    ],
    [
      'a dress with a label of a skirt',
      wearing(['dress', RED], ['skirt', RED]),
      'one-pieces',
      'one-pieces',
      ['skirt', 'dress'],
      null,
    ],
  ] as const)('is %s', (_, photo, category, chosen, labels, inside) => {
    expect(chooseGarment(photo, category)).toEqual({ category: chosen, labels, inside })
  })

  it.each([
    ['a top under a jacket', wearing(['outer', NAVY], ['top', WHITE]), 'tops', 'Another garment covers'],
    ['a dress under a jacket', wearing(['dress', RED], ['outer', NAVY]), 'one-pieces', 'Another garment covers'],
    ['a dress that nobody wears', wearing(['hair', NAVY]), 'one-pieces', 'wears no garment'],
  ] as const)('is refused if it is %s', (_, photo, category, message) => {
    expect(() => chooseGarment(photo, category)).toThrow(message)
  })
})
