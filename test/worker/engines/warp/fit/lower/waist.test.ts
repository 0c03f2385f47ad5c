import { expect, it } from 'vitest'
import { chooseWaist } from '../../../../../../worker/engines/warp/fit/lower/waist.ts'

it.each([
  ['follows the rise of the product where no worn waistband is visible', { lowerTop: 0, topHem: 0.9 }, 0.75, 0.75],
  ['hides a worn waistband that is higher', { lowerTop: 0.7, topHem: 0.9 }, 0.75, 0.67],
  ['hides even a worn waistband above the natural range', { lowerTop: 0.56, topHem: 0.7 }, 0.75, 0.53],
  ['reaches under a top that ends in the worn waistband', { lowerTop: 0.56, topHem: 0.54 }, 0.75, 0.51],
  ['leaves the bare belly below a short top', { lowerTop: 0.62, topHem: 0.45 }, 0.75, 0.59],
  ['does not raise a product to the hem of a top without a visible waistband', { lowerTop: 0, topHem: 0.4 }, 0.75, 0.6],
])('%s', (_, worn, natural, waist) => {
  expect(chooseWaist(natural, worn)).toBeCloseTo(waist)
})
