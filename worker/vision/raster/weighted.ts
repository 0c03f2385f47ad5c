import { gaussianBlur } from './filter.ts'
import { createPlane, type Plane } from './plane.ts'

/**
 * Gaussian blur of weighted pixels only (normalised convolution, Knutsson and Westin 1993): blur(values · weight) /
 * blur(weight). `reach` is the blurred weight, 0 to 1; where it is 0 the value is 0.
 */
export function weightedBlur(values: Plane, weight: Plane, sigma: number): { values: Plane; reach: Plane } {
  const product = createPlane(values)
  for (let i = 0; i < product.data.length; i++) product.data[i] = values.data[i] * weight.data[i]
  const sum = gaussianBlur(product, sigma)
  const reach = gaussianBlur(weight, sigma)
  const out = createPlane(values)
  for (let i = 0; i < out.data.length; i++) out.data[i] = sum.data[i] / Math.max(reach.data[i], 1e-3)
  return { values: out, reach }
}
