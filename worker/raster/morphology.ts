import { distanceTo } from './distance.ts'
import { type Mask, maskWhere, type Plane } from './plane.ts'

// Up to this radius it is cheaper to stamp discs than to measure the distance of every pixel.
const STAMPED_RADIUS = 32

/** Grows the set pixels by a disc of `radius` px (Euclidean). */
export function dilate(mask: Mask, radius: number): Mask {
  if (radius < 0.5) return mask
  if (radius <= STAMPED_RADIUS) return stampDiscs(mask, radius)
  const distance = distanceTo(mask).data
  return maskWhere(mask, (i) => distance[i] <= radius + 0.25)
}

/** Shrinks the set pixels by a disc of `radius` px; outside of the picture counts as set. */
export function erode(mask: Mask, radius: number): Mask {
  if (radius < 0.5) return mask
  return invert(dilate(invert(mask), radius))
}

/** Erosion, then dilation: removes specks thinner than the disc. */
export function open(mask: Mask, radius: number): Mask {
  return dilate(erode(mask, radius), radius)
}

/** Dilation, then erosion: closes gaps thinner than the disc. */
export function close(mask: Mask, radius: number): Mask {
  return erode(dilate(mask, radius), radius)
}

export function invert({ width, height, data }: Mask): Mask {
  const out = new Uint8Array(data.length)
  for (let i = 0; i < out.length; i++) out[i] = data[i] ^ 1
  return { width, height, data: out }
}

/** Largest (`direction` 1) or smallest (−1) value in a (2·radius + 1) square window, whole pixels. */
export function extreme(plane: Plane, radius: number, direction: 1 | -1): Plane {
  const { width, height } = plane
  const rows = new Float32Array(plane.data.length)
  const out = new Float32Array(plane.data.length)
  const pick = direction === 1 ? Math.max : Math.min
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let best = plane.data[y * width + x]
      for (let k = Math.max(0, x - radius); k <= Math.min(width - 1, x + radius); k++)
        best = pick(best, plane.data[y * width + k])
      rows[y * width + x] = best
    }
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let best = rows[y * width + x]
      for (let k = Math.max(0, y - radius); k <= Math.min(height - 1, y + radius); k++)
        best = pick(best, rows[k * width + x])
      out[y * width + x] = best
    }
  }
  return { width, height, data: out }
}

// A row's run of set pixels grows into a shorter or longer run in every row that the disc reaches.
function stampDiscs(mask: Mask, radius: number): Mask {
  const { width, height, data } = mask
  const out = new Uint8Array(data.length)
  const reach = Math.floor(radius + 0.25)
  const halves = Int32Array.from({ length: 2 * reach + 1 }, (_, k) =>
    Math.floor(Math.sqrt(Math.max(0, (radius + 0.25) ** 2 - (k - reach) ** 2))),
  )
  for (let y = 0; y < height; y++) {
    const row = y * width
    const first = Math.max(0, y - reach)
    const last = Math.min(height - 1, y + reach)
    for (let x = 0; x < width; x++) {
      if (!data[row + x]) continue
      const from = x
      while (x < width && data[row + x]) x++
      for (let v = first; v <= last; v++) {
        const half = halves[v - y + reach]
        out.fill(1, v * width + Math.max(0, from - half), v * width + Math.min(width, x + half))
      }
    }
  }
  return { width, height, data: out }
}
