import { distanceTo } from './distance.ts'
import { invert, maskWhere } from './mask.ts'
import { createMask, type Mask } from './plane.ts'
import { findRuns } from './runs.ts'

// Up to this radius it is cheaper to stamp discs than to measure the distance of every pixel.
const STAMPED_RADIUS = 128

/** Grows the set pixels by a disc of `radius` px (Euclidean). */
export function dilate(mask: Mask, radius: number): Mask {
  if (radius < 0.5) return mask
  if (radius <= STAMPED_RADIUS) return stampDiscs(mask, radius, 1)
  const distance = distanceTo(mask).data
  return maskWhere(mask, (i) => distance[i] <= radius + 0.25)
}

/** Shrinks the set pixels by a disc of `radius` px. Pixels outside the bitmap count as set. */
export function erode(mask: Mask, radius: number): Mask {
  if (radius < 0.5) return mask
  return radius <= STAMPED_RADIUS ? stampDiscs(mask, radius, 0) : invert(dilate(invert(mask), radius))
}

/** Erosion, then dilation: removes specks thinner than the disc. */
export function open(mask: Mask, radius: number): Mask {
  return dilate(erode(mask, radius), radius)
}

/** Dilation, then erosion: closes gaps thinner than the disc. */
export function close(mask: Mask, radius: number): Mask {
  return erode(dilate(mask, radius), radius)
}

// Each run of pixels with this value becomes a run, shorter or longer, in every row that the disc reaches.
function stampDiscs(mask: Mask, radius: number, value: 0 | 1): Mask {
  const { width, height } = mask
  const out = createMask(mask)
  if (value === 0) out.data.fill(1)
  const reach = Math.floor(radius + 0.25)
  const halves = Int32Array.from({ length: 2 * reach + 1 }, (_, k) =>
    Math.floor(Math.sqrt(Math.max(0, (radius + 0.25) ** 2 - (k - reach) ** 2))),
  )
  const runs = findRuns(mask, value)
  for (let y = 0; y < height; y++) {
    let above = runs.firstOfRow[Math.max(0, y - 1)]
    let below = runs.firstOfRow[y + 1]
    for (let r = runs.firstOfRow[y]; r < runs.firstOfRow[y + 1]; r++) {
      const from = runs.from[r]
      const to = runs.to[r]
      while (above < runs.firstOfRow[y] && runs.to[above] < to) above++
      while (y < height - 1 && below < runs.firstOfRow[y + 2] && runs.to[below] < to) below++
      // If a row above contains the whole run, that row's own, wider discs reach as far.
      const isAbove = above < runs.firstOfRow[y] && runs.from[above] <= from
      const isBelow = y < height - 1 && below < runs.firstOfRow[y + 2] && runs.from[below] <= from
      const last = isBelow ? y : Math.min(height - 1, y + reach)
      for (let v = isAbove ? y : Math.max(0, y - reach); v <= last; v++) {
        const half = halves[v - y + reach]
        out.data.fill(value, v * width + Math.max(0, from - half), v * width + Math.min(width, to + half))
      }
    }
  }
  return out
}
