import { describe, expect, it } from 'vitest'
import { ciede2000, type Lab } from '../../../../worker/vision/raster/colour-difference.ts'

// Of the test data published with the formula (Sharma, Wu and Dalal 2005, table 1): two colours and their difference.
const PUBLISHED: readonly (readonly [Lab, Lab, number])[] = [
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
  [[50, -1.1848, -84.8006], [50, 0, -82.7485], 1],
  [[50, 0, 0], [50, -1, 2], 2.3669],
  [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
  [[50, 2.5, 0], [50, 0, -2.5], 4.3065],
  [[50, 2.5, 0], [73, 25, -18], 27.1492],
  [[50, 2.5, 0], [58, 24, 15], 19.4535],
  [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
  [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
]

describe('the CIEDE2000 color difference', () => {
  it.each(PUBLISHED)('of %j and %j matches the published value', (a, b, difference) => {
    expect(ciede2000(a, b)).toBeCloseTo(difference, 4)
    expect(ciede2000(b, a)).toBeCloseTo(difference, 4)
  })

  it('of equal colors is 0', () => {
    expect(ciede2000([40, 10, -20], [40, 10, -20])).toBe(0)
  })
})
