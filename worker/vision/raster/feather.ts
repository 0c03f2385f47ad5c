import { boundsOf, cropPlane, windowAround } from './crop.ts'
import { gaussianBlur } from './filter.ts'
import { createPlane, type Mask, type Plane } from './plane.ts'
import { clamp } from './statistics.ts'

/** Gaussian blur of a mask or of a sparse plane. Its cost is proportional to the bounding box of the non-zero values. */
export function featherMask(mask: Mask | Plane, sigma: number): Plane {
  const out = createPlane(mask)
  const bounds = boundsOf(mask)
  if (!bounds) return out
  const { x, y, width, height } = bounds
  const corners = [bounds, { x: x + width, y: y + height }]
  const window = windowAround(corners, Math.ceil(3 * sigma) + 1, mask)
  const soft = gaussianBlur(cropPlane(mask, window), sigma).data
  for (let row = 0; row < window.height; row++)
    out.data.set(soft.subarray(row * window.width, (row + 1) * window.width), (window.y + row) * mask.width + window.x)
  return out
}

/**
 * A mask with an outline without steps: where its blur by `sigma` is 0.5. The edge is as soft as after a blur by `softness`. Details smaller
 * than `sigma` vanish.
 */
export function smoothOutline(mask: Mask, { sigma, softness }: { sigma: number; softness: number }): Plane {
  const plane = featherMask(mask, sigma)
  const steeper = sigma / softness
  for (let i = 0; i < plane.data.length; i++) plane.data[i] = clamp(0.5 + steeper * (plane.data[i] - 0.5))
  return plane
}
