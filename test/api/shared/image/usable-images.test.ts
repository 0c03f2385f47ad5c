import { describe, expect, it } from 'vitest'
import { usableImages } from '../../../../api/shared/generations/generation.ts'

describe('the images of a product that an engine can work from', () => {
  const choose = (types: readonly (string | null)[], accepted: readonly string[]) =>
    usableImages(
      types.map((type, order) => ({
        sourceUrl: 'https://shop.example/a.jpg',
        order,
        classifications: type ? { type } : null,
      })),
      accepted,
    ).map(({ order }) => order)

  it('are garments alone first, then other classified images, then unclassified ones', () => {
    const types = [null, 'on_model', 'ghost_mannequin', 'on_model', 'flat_lay', 'detail']
    expect(choose(types, ['flat_lay', 'ghost_mannequin', 'on_model'])).toEqual([2, 4, 1, 3, 0])
    expect(choose(types, ['flat_lay', 'ghost_mannequin'])).toEqual([2, 4, 0])
    expect(choose(types, ['on_model'])).toEqual([1, 3, 0])
  })

  it('are found whatever the letter case, and an unknown type counts as none', () => {
    expect(choose(['ON_MODEL', 'Flat_Lay', 'cut-out'], ['flat_lay', 'on_model'])).toEqual([1, 0, 2])
    expect(choose(['ON_MODEL', 'cut-out'], ['flat_lay'])).toEqual([1])
  })
})
