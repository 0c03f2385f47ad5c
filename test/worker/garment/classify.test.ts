import { describe, expect, it } from 'vitest'
import { categoryFromWords, categoryOfOutline, guessPresentation, isWorn } from '../../../worker/garment/classify.ts'

describe('categoryFromWords', () => {
  it.each([
    ['Cotton tee', 'tops'],
    ['Langarmshirt', 'tops'],
    ['Sweat à capuche', 'tops'],
    ['Camiseta de algodón', 'tops'],
    ['Maglietta a righe', 'tops'],
    ['Overhemd blauw', 'tops'],
    ['Jeans slim', 'bottoms'],
    ['Minirock', 'bottoms'],
    ['Jupe plissée', 'bottoms'],
    ['Calça jeans', 'bottoms'],
    ['Zwarte broek', 'bottoms'],
    ['Vestido midi', 'one-pieces'],
    ['Jurk met print', 'one-pieces'],
    ['Lederjacke', 'outerwear'],
    ['Giacca in pelle', 'outerwear'],
  ])('reads %s as %s', (title, category) => {
    expect(categoryFromWords({ title })).toBe(category)
  })

  it('takes the head noun of a compound in its own language', () => {
    expect(categoryFromWords({ title: 'Shirt dress' })).toBe('one-pieces')
    expect(categoryFromWords({ title: 'Dress shirt' })).toBe('tops')
    expect(categoryFromWords({ title: 'Robe chemise' })).toBe('one-pieces')
    expect(categoryFromWords({ title: 'Blusenkleid' })).toBe('one-pieces')
  })

  it('does not take a piece that is only shown along for the product', () => {
    expect(categoryFromWords({ title: 'Sommerkleid mit Jacke' })).toBe('one-pieces')
    expect(categoryFromWords({ title: 'Pullover for your jeans' })).toBe('tops')
  })

  it('trusts the caller first, the title second and the description last', () => {
    expect(categoryFromWords({ classifications: { category: 'bottoms' }, title: 'T-Shirt' })).toBe('bottoms')
    expect(categoryFromWords({ title: 'T-Shirt', description: 'Goes with every skirt' })).toBe('tops')
    expect(categoryFromWords({ title: 'Summer 24', description: 'A light dress' })).toBe('one-pieces')
  })

  it('says nothing when the words name no garment', () => {
    expect(categoryFromWords({ title: 'Coffee mug', description: null })).toBeNull()
    expect(categoryFromWords({ classifications: { category: 'hats' } })).toBeNull()
    expect(categoryFromWords({ title: 'constructor __proto__' })).toBeNull()
  })
})

it('an outline alone suggests the category of its kind', () => {
  expect(['top', 'dress', 'skirt', 'trousers'].map((kind) => categoryOfOutline(kind as 'top'))).toEqual([
    'tops',
    'one-pieces',
    'bottoms',
    'bottoms',
  ])
})

it('a garment counts as worn only when both models are sure of a person', () => {
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

  it('takes short sleeves that hang for a mannequin', () => {
    expect(shirt([28, 27])).toBe('ghost_mannequin')
  })

  it('takes spread sleeves, long sleeves and turned garments for laid out flat', () => {
    expect(shirt([36, 22])).toBe('flat_lay')
    expect(shirt([32, 58])).toBe('flat_lay')
    expect(shirt([28, 27], 5)).toBe('flat_lay')
  })
})
