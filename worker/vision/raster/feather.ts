import { gaussianBlur } from './filter.ts'
import { createPlane, type Mask, type Plane } from './plane.ts'

/**
 * Gaussian blur of a mask or of a sparse plane. Its cost is proportional to the bounding box of the non-zero values.
 */
export function featherMask(mask: Mask | Plane, sigma: number): Plane {
  const out = createPlane(mask)
  const box = boundsWithMargin(mask, Math.ceil(3 * sigma) + 1)
  if (!box) return out
  const part = createPlane(box)
  for (let row = 0; row < box.height; row++) {
    const from = (box.y + row) * mask.width + box.x
    for (let column = 0; column < box.width; column++) part.data[row * box.width + column] = mask.data[from + column]
  }
  const soft = gaussianBlur(part, sigma).data
  for (let row = 0; row < box.height; row++)
    out.data.set(soft.subarray(row * box.width, (row + 1) * box.width), (box.y + row) * mask.width + box.x)
  return out
}

function boundsWithMargin(
  { width, height, data }: Mask | Plane,
  margin: number,
): { x: number; y: number; width: number; height: number } | null {
  let left = width
  let right = -1
  let top = -1
  let bottom = -1
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (!data[i]) continue
      if (x < left) left = x
      if (x > right) right = x
      if (top < 0) top = y
      bottom = y
    }
  }
  if (right < 0) return null
  const x = Math.max(0, left - margin)
  const y = Math.max(0, top - margin)
  return {
    x,
    y,
    width: Math.min(width, right + margin + 1) - x,
    height: Math.min(height, bottom + margin + 1) - y,
  }
}
