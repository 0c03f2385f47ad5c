import type { Person } from '../person/person.ts'
import type { Plane, Point } from '../raster/plane.ts'
import { arcLengths, interpolate, pointAt } from '../raster/polyline.ts'
import { distanceToEdge } from '../raster/ray.ts'
import { add, dot, move, perpendicular, scale, subtract, unit } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { roundJoints } from './bone-line.ts'
import { outwards, type Side } from './keypoints.ts'
import { EXPECTED_BARE_LEG, EXPECTED_LEG, LEG_BONE, LEG_RATIO, MIN_PRESENT } from './tuning.ts'

/** One leg as a line of bones with a width on each side. Every array has one entry per sample. */
export interface LegProfile {
  /** Distance from the hip joint, in px. */
  readonly along: Float64Array
  readonly points: readonly Point[]
  /** Unit vectors across the leg, away from the other leg. */
  readonly normals: readonly Point[]
  /** Distance from the bone to the outer and the inner edge of the clothed leg, in px. */
  readonly outer: Float64Array
  readonly inner: Float64Array
  /** Hip joint to ankle and hip joint to knee along the bones, in px. */
  readonly length: number
  readonly thigh: number
}

const SAMPLES = 41

/** Radius in px of an average bare leg at `share` of the way from hip (0) to ankle (1). */
export function bareLegRadius(body: BodyFrame, share: number): number {
  return interpolate(EXPECTED_BARE_LEG.shares, EXPECTED_BARE_LEG.radii, share) * body.unit
}

/**
 * Bones and widths of one leg, from the hip joint to the ankle, in 41 equal steps. `loose`: the worn garment hides the width of the
 * leg, as skirts and shorts do.
 */
export function measureLeg(
  person: Person,
  body: BodyFrame,
  { side, loose = false }: { side: Side; loose?: boolean },
): LegProfile {
  const bones = bonesOf(person, body, side)
  const lengths = arcLengths(bones)
  const length = lengths[2]
  const along = Float64Array.from({ length: SAMPLES }, (_, i) => (length * i) / (SAMPLES - 1))
  const points = roundJoints(Array.from(along, (way) => pointAt(bones, lengths, way)))
  const normals = normalsOf(points, outwards(body, side))
  const expected = along.map((way) => interpolate(EXPECTED_LEG.shares, EXPECTED_LEG.radii, way / length) * body.unit)
  const edge = (sign: 1 | -1) =>
    smoothRatios(
      points.map((point, i) =>
        seenEdge(person.mask, point, { direction: scale(normals[i], sign), reach: 1.6 * expected[i] }),
      ),
      { expected, maxRatio: loose ? LEG_RATIO.loose : LEG_RATIO.max },
    )
  return { along, points, normals, outer: edge(1), inner: edge(-1), length, thigh: lengths[1] }
}

/**
 * The point at `way` px along the bones, which continue straight below the ankle, and `offset` px beside the bones (outer side positive).
 */
export function besideLeg({ along, points, normals, length }: LegProfile, way: number, offset: number): Point {
  const shin = unit(subtract(points[points.length - 1], points[points.length - 6]))
  const bone = move(pointAt(points, along, way), shin, Math.max(0, way - length))
  return move(bone, pointAt(normals, along, way), offset)
}

// A leg that leaves the image continues straight. Thigh and shin are each about 0.85 trunks long.
function bonesOf({ landmarks }: Person, { joints, trunk, down }: BodyFrame, side: Side): [Point, Point, Point] {
  const names = side === 0 ? (['rightKnee', 'rightAnkle'] as const) : (['leftKnee', 'leftAnkle'] as const)
  const hip = joints.hip[side]
  const knee = landmarks[names[0]].presence < MIN_PRESENT ? move(hip, down, LEG_BONE * trunk) : joints.knee[side]
  const shin = scale(unit(add(unit(subtract(knee, hip)), down)), LEG_BONE * trunk)
  return [hip, knee, landmarks[names[1]].presence < MIN_PRESENT ? add(knee, shin) : joints.ankle[side]]
}

function normalsOf(points: readonly Point[], outside: Point): Point[] {
  const last = points.length - 1
  return points.map((_, i) => {
    const normal = perpendicular(unit(subtract(points[Math.min(i + 1, last)], points[Math.max(i - 1, 0)])))
    return dot(normal, outside) < 0 ? scale(normal, -1) : normal
  })
}

// Null beyond the image border, too: a cropped leg has no edge there.
function seenEdge(mask: Plane, from: Point, { direction, reach }: { direction: Point; reach: number }): number | null {
  const way = distanceToEdge(mask, from, { direction, reach })
  if (way === null || way === 0) return null
  const { x, y } = move(from, direction, way)
  return x < 2 || y < 2 || x > mask.width - 3 || y > mask.height - 3 ? null : way
}

// Rows without an edge follow their neighbours. Gaussian with sigma 2 samples.
function smoothRatios(
  measured: readonly (number | null)[],
  { expected, maxRatio }: { expected: Float64Array; maxRatio: number },
): Float64Array {
  const seen = measured.flatMap((way, i) =>
    way === null ? [] : [{ i, ratio: Math.min(Math.max(way / expected[i], LEG_RATIO.min), maxRatio) }],
  )
  if (seen.length < 4) return expected
  const knots = seen.map(({ i }) => i)
  const ratios = seen.map(({ ratio }) => ratio)
  const filled = expected.map((_, i) => interpolate(knots, ratios, i))
  return expected.map((radius, i) => {
    let sum = 0
    let weights = 0
    for (let k = -6; k <= 6; k++) {
      const weight = Math.exp(-(k * k) / 8)
      sum += weight * filled[Math.min(Math.max(i + k, 0), filled.length - 1)]
      weights += weight
    }
    return (radius * sum) / weights
  })
}
