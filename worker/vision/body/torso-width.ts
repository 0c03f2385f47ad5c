import type { Plane, Point } from '../raster/plane.ts'
import { distanceToSegment } from '../raster/polygon.ts'
import { interpolate } from '../raster/polyline.ts'
import { isCovered } from '../raster/ray.ts'
import { between, move } from '../raster/vector.ts'
import { axisAt, type BodyKeypoints, bothSides, outwards, type Side, type Sides } from './keypoints.ts'
import { ARM_WEIGHT, EXPECTED_TORSO } from './tuning.ts'

// Rows between the collarbone and the middle of the thighs, as body coordinates F.
const FRACTIONS = Float64Array.from({ length: 33 }, (_, i) => 0.1 + 0.05 * i)

/**
 * Half widths of the torso in px at F = 0.10 to 1.70. Measures each row outwards from the axis to the edge of the mask or
 * to an arm. Rows without a measurement follow their neighbours and the proportions of an average torso.
 */
export function measureTorso(
  mask: Plane,
  keypoints: BodyKeypoints,
  armRadius: Sides<number>,
): { fractions: Float64Array; halfWidths: Sides<Float64Array> } {
  const halfWidths = bothSides((side) => {
    const limbs = limbsOf(keypoints, side, armRadius[side])
    return smoothWidths(
      Array.from(FRACTIONS, (fraction) => measureRow(mask, keypoints, { fraction, side, limbs })),
      keypoints.unit,
    )
  })
  return { fractions: FRACTIONS, halfWidths }
}

interface Limb {
  from: Point
  to: Point
  radius: number
  /** Share of the limb that can belong to the torso. */
  ignored: number
}

interface Measured {
  width: number
  weight: number
}

function limbsOf({ joints }: BodyKeypoints, side: Side, radius: number): Limb[] {
  const wrist = joints.wrist[side]
  const fingers = between(wrist, joints.knuckles[side], 1.8)
  return [
    { from: joints.shoulder[side], to: joints.elbow[side], radius, ignored: 0.28 },
    { from: joints.elbow[side], to: wrist, radius: 0.85 * radius, ignored: -1 },
    { from: wrist, to: fingers, radius: 0.9 * radius, ignored: -1 },
  ]
}

function measureRow(
  mask: Plane,
  keypoints: BodyKeypoints,
  { fraction, side, limbs }: { fraction: number; side: Side; limbs: readonly Limb[] },
): Measured | null {
  const start = axisAt(keypoints, fraction)
  const direction = outwards(keypoints, side)
  const step = Math.max(1, 0.006 * keypoints.unit)
  for (let width = 0.15 * keypoints.unit; width < keypoints.unit; width += step) {
    const point = move(start, direction, width)
    if (!isCovered(mask, point)) return { width, weight: 1 }
    // An arm this close to the axis crosses the body and does not bound the torso.
    if (limbs.some((limb) => isOnLimb(point, limb)))
      return width > 0.33 * keypoints.unit ? { width, weight: ARM_WEIGHT } : null
  }
  return null
}

function isOnLimb(point: Point, { from, to, radius, ignored }: Limb): boolean {
  const { distance, along } = distanceToSegment(point, from, to)
  return distance < radius && along >= ignored
}

function smoothWidths(rows: readonly (Measured | null)[], unit: number): Float64Array {
  const expected = FRACTIONS.map((f) => interpolate(EXPECTED_TORSO.fractions, EXPECTED_TORSO.halfWidths, f) * unit)
  const measured = rows.flatMap((row, i) =>
    row === null ? [] : [{ fraction: FRACTIONS[i], ratio: row.width / expected[i], weight: row.weight }],
  )
  if (measured.length < 4) return expected
  const typical = typicalRatio(measured)
  return FRACTIONS.map((fraction, i) => {
    let sum = 0.25 * typical
    let weights = 0.25
    for (const row of measured) {
      const weight = Math.exp(-(((fraction - row.fraction) / 0.09) ** 2) / 2) * row.weight ** 1.5
      sum += weight * row.ratio
      weights += weight
    }
    return Math.min(Math.max(sum / weights, 0.6), 1.6) * expected[i]
  })
}

// Median in which a visible edge counts four times as much as an arm.
function typicalRatio(measured: readonly { ratio: number; weight: number }[]): number {
  const ratios = measured
    .flatMap(({ ratio, weight }) => new Array<number>(Math.max(1, Math.floor(weight * 4))).fill(ratio))
    .sort((a, b) => a - b)
  return ratios[ratios.length >> 1]
}
