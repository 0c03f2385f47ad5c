import { createMask, createPlane, type Mask, type Plane, type Point, type Size } from './plane.ts'
import { norm } from './vector.ts'

/** Pixels whose centre is inside the polygon (even-odd rule). */
export function fillPolygon(size: Size, polygon: readonly Point[]): Mask {
  const mask = createMask(size)
  forEachSpan(size, polygon, (y, from, to) => mask.data.fill(1, y * size.width + from, y * size.width + to))
  return mask
}

/** Share of each pixel that the polygon covers, 0 to 1, from `samples` × `samples` points per pixel. */
export function coverPolygon(size: Size, polygon: readonly Point[], samples = 4): Plane {
  const cover = createPlane(size)
  const fine = { width: size.width * samples, height: size.height * samples }
  const scaled = polygon.map(({ x, y }) => ({ x: (x + 0.5) * samples - 0.5, y: (y + 0.5) * samples - 0.5 }))
  const share = 1 / (samples * samples)
  forEachSpan(fine, scaled, (y, from, to) => {
    const row = Math.floor(y / samples) * size.width
    for (let x = from; x < to; x++) cover.data[row + Math.floor(x / samples)] += share
  })
  return cover
}

/** A limb: the union of discs along a chain of points. `radii` in px, one per point, interpolated in between. */
export function fillCapsules(size: Size, chain: readonly Point[], radii: readonly number[]): Mask {
  const mask = createMask(size)
  for (let s = 0; s + 1 < chain.length; s++) fillCapsule(mask, [chain[s], chain[s + 1]], [radii[s], radii[s + 1]])
  return mask
}

/** Pixels on the side of the line through `point` to which `normal`, at right angles to the line, points. */
export function fillBeyond(size: Size, point: Point, normal: Point): Mask {
  const mask = createMask(size)
  for (let y = 0, i = 0; y < size.height; y++) {
    const down = (y - point.y) * normal.y
    for (let x = 0; x < size.width; x++, i++) mask.data[i] = (x - point.x) * normal.x + down > 0 ? 1 : 0
  }
  return mask
}

/** Distance from `point` to the segment, and the position of the nearest point along the segment (0 to 1). */
export function distanceToSegment(point: Point, a: Point, b: Point): { distance: number; along: number } {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const along = Math.min(
    1,
    Math.max(0, ((point.x - a.x) * dx + (point.y - a.y) * dy) / Math.max(1e-6, dx * dx + dy * dy)),
  )
  return { distance: norm(point.x - a.x - along * dx, point.y - a.y - along * dy), along }
}

function fillCapsule(mask: Mask, [a, b]: [Point, Point], [ra, rb]: [number, number]): void {
  const r = Math.max(ra, rb)
  const left = Math.max(0, Math.floor(Math.min(a.x, b.x) - r))
  const right = Math.min(mask.width - 1, Math.ceil(Math.max(a.x, b.x) + r))
  const top = Math.max(0, Math.floor(Math.min(a.y, b.y) - r))
  const bottom = Math.min(mask.height - 1, Math.ceil(Math.max(a.y, b.y) + r))
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const { distance, along } = distanceToSegment({ x, y }, a, b)
      if (distance <= ra + (rb - ra) * along) mask.data[y * mask.width + x] = 1
    }
  }
}

function forEachSpan(
  size: Size,
  polygon: readonly Point[],
  visit: (y: number, from: number, to: number) => void,
): void {
  const top = Math.max(0, Math.ceil(Math.min(...polygon.map((p) => p.y))))
  const bottom = Math.min(size.height - 1, Math.floor(Math.max(...polygon.map((p) => p.y))))
  for (let y = top; y <= bottom; y++) {
    const crossings: number[] = []
    for (let i = 0; i < polygon.length; i++) {
      const a = polygon[i]
      const b = polygon[(i + 1) % polygon.length]
      if (a.y > y === b.y > y) continue
      crossings.push(a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x))
    }
    crossings.sort((p, q) => p - q)
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const from = Math.max(0, Math.ceil(crossings[i]))
      const to = Math.min(size.width, Math.floor(crossings[i + 1]) + 1)
      if (to > from) visit(y, from, to)
    }
  }
}
