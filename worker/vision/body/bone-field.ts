import { createPlane, type Plane, type Point, type Size } from '../raster/plane.ts'
import { arcLengths } from '../raster/polyline.ts'

/** Distance to a line of bones as two planes over the bitmap. Both planes are `FAR` where the line is not near. */
export interface BoneField {
  /** px to the nearest point on the line. */
  readonly distance: Plane
  /** px along the line from its start to that point. */
  readonly along: Plane
}

/** Larger than every distance in a bitmap. */
export const FAR = 1e6

/** The field of a chain of joints, up to a distance of `reach` px. */
export function measureNearness(size: Size, { chain, reach }: { chain: readonly Point[]; reach: number }): BoneField {
  const field = { distance: createPlane(size, FAR), along: createPlane(size, FAR) }
  const ways = arcLengths(chain)
  for (let s = 0; s + 1 < chain.length; s++) drawSegment(field, { from: chain[s], to: chain[s + 1], ways, s, reach })
  return field
}

function drawSegment(
  { distance, along }: BoneField,
  { from: a, to: b, ways, s, reach }: { from: Point; to: Point; ways: Float64Array; s: number; reach: number },
): void {
  const { width, height } = distance
  const dx = b.x - a.x
  const dy = b.y - a.y
  const perLength = 1 / Math.max(1e-6, dx * dx + dy * dy)
  const left = Math.max(0, Math.floor(Math.min(a.x, b.x) - reach))
  const right = Math.min(width - 1, Math.ceil(Math.max(a.x, b.x) + reach))
  const bottom = Math.min(height - 1, Math.ceil(Math.max(a.y, b.y) + reach))
  for (let y = Math.max(0, Math.floor(Math.min(a.y, b.y) - reach)); y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const t = Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) * perLength))
      const far = Math.sqrt((x - a.x - t * dx) ** 2 + (y - a.y - t * dy) ** 2)
      const i = y * width + x
      if (far > reach || far >= distance.data[i]) continue
      distance.data[i] = far
      along.data[i] = ways[s] + t * (ways[s + 1] - ways[s])
    }
  }
}
