import { type BoneField, FAR } from '../../../../vision/body/bone-field.ts'
import { bothSides, type Sides } from '../../../../vision/body/keypoints.ts'
import type { LegProfile } from '../../../../vision/body/leg-profile.ts'
import type { Mask, Size } from '../../../../vision/raster/plane.ts'
import { interpolate, pointAt } from '../../../../vision/raster/polyline.ts'
import { REACHED } from '../tuning.ts'

const ROWS = 24
// Min share of a row's cloth behind an arm, over its visible cloth, of a hidden row.
const HIDDEN = 0.1

/**
 * Distance in px by which worn cloth (`lower`, without the pixels that `arms` hides) extends outwards from each leg's bones, interpolated
 * behind an arm; 0 where no cloth is visible.
 */
export function measureReach(
  lower: Mask,
  { legs, fields, arms }: { legs: Sides<LegProfile>; fields: Sides<BoneField>; arms: Mask },
): Sides<(way: number) => number> {
  return bothSides((side) => {
    const rows = collectRows(lower, { leg: legs[side], field: fields[side], other: fields[1 - side], arms })
    const seen = rows.flatMap(({ hidden }, row) => (hidden ? [] : [row]))
    if (seen.length === 0) return () => 0
    const knots = seen.map((row) => ((row + 0.5) / ROWS) * legs[side].length)
    const reaches = seen.map((row) => reachOf(rows[row].distances))
    return (way) => interpolate(knots, reaches, way)
  })
}

function reachOf(distances: readonly number[]): number {
  if (distances.length < 4) return 0
  return distances.toSorted((a, b) => a - b)[Math.floor(REACHED * (distances.length - 1))]
}

interface Row {
  readonly distances: readonly number[]
  /** True if an arm is before the cloth's outer half. */
  readonly hidden: boolean
}

// Distances of the outermost pixels on the leg's outer side, by row along the bones.
function collectRows(
  lower: Mask,
  { leg, field, other, arms }: { leg: LegProfile; field: BoneField; other: BoneField; arms: Mask },
): Row[] {
  const rows = Array.from({ length: ROWS }, () => ({ distances: [] as number[], hidden: 0 }))
  for (let i = 0; i < lower.data.length; i++) {
    const distance = field.distance.data[i]
    if (!lower.data[i] || distance >= FAR || other.distance.data[i] < distance) continue
    const row = Math.floor((field.along.data[i] / leg.length) * ROWS)
    if (row < 0 || row >= ROWS || !isOutside(i, lower, { leg, way: field.along.data[i] })) continue
    if (arms.data[i]) rows[row].hidden++
    else rows[row].distances.push(distance)
  }
  // A row has as many pixels near the bone as far from it: only the outer half shows the edge.
  return rows.map(({ distances, hidden }) => {
    const middle = distances.toSorted((a, b) => a - b)[distances.length >> 1] ?? 0
    return { distances: distances.filter((distance) => distance >= middle), hidden: hidden > HIDDEN * distances.length }
  })
}

/** Whether a pixel is on the outer side of a leg's bones at `way` px from the hip. */
export function isOutside(i: number, { width }: Size, { leg, way }: { leg: LegProfile; way: number }): boolean {
  const bone = pointAt(leg.points, leg.along, way)
  const normal = pointAt(leg.normals, leg.along, way)
  return ((i % width) - bone.x) * normal.x + (Math.floor(i / width) - bone.y) * normal.y > 0
}
