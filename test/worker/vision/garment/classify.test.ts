import { describe, expect, it } from 'vitest'
import { categoryOfOutline, guessPresentation, isWorn } from '../../../../worker/vision/garment/classify.ts'

it('each kind of outline has a category', () => {
  expect(['top', 'dress', 'skirt', 'trousers'].map((kind) => categoryOfOutline(kind as 'top'))).toEqual([
    'tops',
    'one-pieces',
    'bottoms',
    'bottoms',
  ])
})

it('a garment is worn only when both models detect a person', () => {
  expect(isWorn({ score: 0.97, presence: 0.999 })).toBe(true)
  expect(isWorn({ score: 0.51, presence: 0.48 })).toBe(false)
  expect(isWorn({ score: 0.2, presence: 0.9 })).toBe(false)
})

describe('guessPresentation', () => {
  const side = (sign: number, cuff: readonly [number, number]) => ({
    neck: { x: 10 * sign, y: 0 },
    shoulder: { x: 22 * sign, y: 4 },
    armpit: { x: 26 * sign, y: 24 },
    hem: { x: 25 * sign, y: 70 },
    sleeveOuter: { x: (cuff[0] + 5) * sign, y: cuff[1] },
    sleeveInner: { x: (cuff[0] - 5) * sign, y: cuff[1] },
  })
  const shirt = (cuff: readonly [number, number], angle = 0) =>
    guessPresentation({ landmarks: [side(-1, cuff), side(1, cuff)], angle })

  it('classifies hanging short sleeves as ghost_mannequin', () => {
    expect(shirt([28, 27])).toBe('ghost_mannequin')
  })

  it('classifies spread sleeves, long sleeves and rotated garments as flat_lay', () => {
    expect(shirt([36, 22])).toBe('flat_lay')
    expect(shirt([32, 58])).toBe('flat_lay')
    expect(shirt([28, 27], 5)).toBe('flat_lay')
  })
})
