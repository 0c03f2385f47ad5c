import type { Plane, Point } from '../raster/plane.ts'
import { arcLengths, interpolate, pointAt } from '../raster/polyline.ts'
import { distanceToEdge } from '../raster/ray.ts'
import { dot, perpendicular, scale, subtract, unit } from '../raster/vector.ts'
import type { BodyFrame, Side } from './body-frame.ts'
import { roundJoints } from './bone-line.ts'
import { outerSide } from './keypoints.ts'
import { EXPECTED_ARM } from './tuning.ts'

/** One arm as a line of bones with a width on each side. Every array has one entry per sample. */
export interface ArmProfile {
  /** Distance from the shoulder joint, in px. */
  readonly along: Float64Array
  /** Positions on the bones, with the elbow rounded. */
  readonly points: readonly Point[]
  /** Unit vectors across the arm, towards the side of the shoulder tip (see `outerSide`). */
  readonly normals: readonly Point[]
  /** Distance from the bone to the outer and the inner edge of the arm, in px. */
  readonly outer: Float64Array
  readonly inner: Float64Array
  /** False where the mask shows no outer edge; the width is then the expected one. */
  readonly outerMeasured: readonly boolean[]
  /** Shoulder joint to wrist and shoulder joint to elbow along the bones, in px. */
  readonly length: number
  readonly upperLength: number
}

const SAMPLES = 33

/** Radius of an average arm at `share` of the way from shoulder (0) to wrist (1), in units of the upper arm's radius. */
export function expectedArmRadius(share: number): number {
  return interpolate(EXPECTED_ARM.shares, EXPECTED_ARM.radii, share)
}

/** Bones and widths of one arm, from the shoulder joint to the wrist, in 33 equal steps. */
export function measureArm(mask: Plane, body: BodyFrame, side: Side): ArmProfile {
  const bones = [body.joints.shoulder[side], body.joints.elbow[side], body.joints.wrist[side]]
  const lengths = arcLengths(bones)
  const length = lengths[2]
  const along = Float64Array.from({ length: SAMPLES }, (_, i) => (length * i) / (SAMPLES - 1))
  const points = roundJoints(Array.from(along, (way) => pointAt(bones, lengths, way)))
  const normals = normalsOf(points, outerSide(body, side))
  const reach = 1.7 * body.armRadius[side]
  const measuredOuter = points.map((p, i) => distanceToEdge(mask, p, { direction: normals[i], reach }))
  const measuredInner = points.map((p, i) => distanceToEdge(mask, p, { direction: scale(normals[i], -1), reach }))
  const expected = along.map((way) => expectedArmRadius(way / Math.max(1e-6, length)) * body.armRadius[side])
  return {
    along,
    points,
    normals,
    outer: smoothRadii(measuredOuter, expected),
    // Where cloth hides the inner edge, assume the distance of the outer edge.
    inner: smoothRadii(
      measuredInner.map((radius, i) => radius ?? measuredOuter[i]),
      expected,
    ),
    outerMeasured: measuredOuter.map((radius) => radius !== null),
    length,
    upperLength: lengths[1],
  }
}

function normalsOf(points: readonly Point[], outside: Point): Point[] {
  const last = points.length - 1
  const normals = points.map((_, i) =>
    perpendicular(unit(subtract(points[Math.min(i + 1, last)], points[Math.max(i - 1, 0)]))),
  )
  return dot(normals[0], outside) < 0 ? normals.map((normal) => scale(normal, -1)) : normals
}

function smoothRadii(measured: readonly (number | null)[], expected: Float64Array): Float64Array {
  const radii = expected.map((radius, i) => {
    const value = measured[i]
    return value === null ? radius : Math.min(Math.max(value, 0.6 * radius), 1.5 * radius)
  })
  return smooth(radii, 1.5)
}

// Gaussian with sigma in samples. The end values are replicated.
function smooth(values: Float64Array, sigma: number): Float64Array {
  const reach = Math.ceil(3 * sigma)
  const last = values.length - 1
  return values.map((_, i) => {
    let sum = 0
    let weights = 0
    for (let k = -reach; k <= reach; k++) {
      const weight = Math.exp(-(k * k) / (2 * sigma * sigma))
      sum += weight * values[Math.min(Math.max(i + k, 0), last)]
      weights += weight
    }
    return sum / weights
  })
}
