import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tilesOfBitmap } from '../../../../worker/vision/person/tiles.ts'

const sizes = fc.record({ width: fc.integer({ min: 1, max: 4000 }), height: fc.integer({ min: 1, max: 4000 }) })

describe('the detection tiles for small people', () => {
  it('are none in an image hardly larger than the detector input', () => {
    expect(tilesOfBitmap({ width: 360, height: 340 })).toEqual([])
  })

  it('are limited in number, and get smaller from set to set', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const sets = tilesOfBitmap(size)
        for (const tiles of sets) expect(tiles.length).toBeLessThanOrEqual(16)
        const sides = sets.map(([tile]) => tile.side)
        expect(sides).toEqual(sides.toSorted((a, b) => b - a))
      }),
    )
  })

  it('contain each person of a third of their side completely', () => {
    fc.assert(
      fc.property(sizes, fc.double({ min: 0, max: 1, noNaN: true }), (size, share) => {
        for (const tiles of tilesOfBitmap(size)) {
          const length = tiles[0].side / 3
          const x = share * Math.max(0, size.width - length)
          const y = share * Math.max(0, size.height - length)
          const holds = tiles.some(({ centre, side }) => {
            const left = centre.x - (side - 1) / 2
            const top = centre.y - (side - 1) / 2
            return left <= x && top <= y && left + side + 1 >= x + length && top + side + 1 >= y + length
          })
          expect(holds).toBe(true)
        }
      }),
    )
  })
})
