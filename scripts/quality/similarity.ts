import { gaussianBlur } from '../../worker/vision/raster/filter.ts'
import { type Bitmap, createPlane, type Mask, type Plane } from '../../worker/vision/raster/plane.ts'

// Window and constants that keep quotients finite (Wang et al. 2004, section III-C).
const SIGMA = 1.5
const C1 = (0.01 * 255) ** 2
const C2 = (0.03 * 255) ** 2

/**
 * Structural similarity of two bitmaps of the same size within the region, 1 if they are equal: the mean of the map of Wang,
 * Bovik, Sheikh and Simoncelli 2004, "Image quality assessment: from error visibility to structural similarity", on luma
 * (BT.601).
 */
export function structuralSimilarity(a: Bitmap, b: Bitmap, region: Mask): number {
  const [x, y] = [lumaOf(a), lumaOf(b)]
  const [mx, my] = [mean(x), mean(y)]
  const [xx, yy, xy] = [mean(product(x, x)), mean(product(y, y)), mean(product(x, y))]
  let sum = 0
  let n = 0
  for (let i = 0; i < region.data.length; i++) {
    if (!region.data[i]) continue
    const [p, q] = [mx.data[i], my.data[i]]
    const covariance = xy.data[i] - p * q
    const variances = xx.data[i] - p * p + yy.data[i] - q * q
    sum += ((2 * p * q + C1) * (2 * covariance + C2)) / ((p * p + q * q + C1) * (variances + C2))
    n++
  }
  return sum / Math.max(1, n)
}

function mean(plane: Plane): Plane {
  return gaussianBlur(plane, SIGMA)
}

function lumaOf({ width, height, channels, data }: Bitmap): Plane {
  const luma = createPlane({ width, height })
  for (let i = 0, k = 0; i < luma.data.length; i++, k += channels)
    luma.data[i] = 0.299 * data[k] + 0.587 * data[k + 1] + 0.114 * data[k + 2]
  return luma
}

function product(a: Plane, b: Plane): Plane {
  const out = createPlane(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] * b.data[i]
  return out
}
