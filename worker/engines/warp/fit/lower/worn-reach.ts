import { type BoneField, FAR } from '../../../../body/bone-field.ts'
import { bothSides, type Sides } from '../../../../body/keypoints.ts'
import type { LegProfile } from '../../../../body/leg-profile.ts'
import type { Mask, Size } from '../../../../raster/plane.ts'
import { interpolate, pointAt } from '../../../../raster/polyline.ts'
import { REACHED } from '../tuning.ts'

const ROWS = 24

/**
 * Distance in px by which worn cloth (`lower`, without the pixels that `arms` hides) extends outwards from each leg's bones; 0 where no
 * cloth is visible.
 */
export function measureReach(
  lower: Mask,
  { legs, fields, arms }: { legs: Sides<LegProfile>; fields: Sides<BoneField>; arms: Mask },
): Sides<(way: number) => number> {
  return bothSides((side) => {
    const rows = collectRows(lower, { leg: legs[side], field: fields[side], other: fields[1 - side], arms })
    const knots = rows.map((_, row) => ((row + 0.5) / ROWS) * legs[side].length)
    const reaches = rows.map((distances) => {
      if (distances.length < 4) return 0
      return distances.toSorted((a, b) => a - b)[Math.floor(REACHED * (distances.length - 1))]
    })
    return (way) => interpolate(knots, reaches, way)
  })
}

// Distances of the outermost pixels on the leg's outer side, by row along the bones.
function collectRows(
  lower: Mask,
  { leg, field, other, arms }: { leg: LegProfile; field: BoneField; other: BoneField; arms: Mask },
): number[][] {
  const rows: number[][] = Array.from({ length: ROWS }, () => [])
  for (let i = 0; i < lower.data.length; i++) {
    const distance = field.distance.data[i]
    if (!lower.data[i] || arms.data[i] || distance >= FAR || other.distance.data[i] < distance) continue
    const row = Math.floor((field.along.data[i] / leg.length) * ROWS)
    if (row < 0 || row >= ROWS || !isOutside(i, lower, { leg, way: field.along.data[i] })) continue
    rows[row].push(distance)
  }
  // A row has as many pixels near the bone as far from it: only the outer half shows the edge.
  return rows.map((distances) => {
    const middle = distances.toSorted((a, b) => a - b)[distances.length >> 1] ?? 0
    return distances.filter((distance) => distance >= middle)
  })
}

function isOutside(i: number, { width }: Size, { leg, way }: { leg: LegProfile; way: number }): boolean {
  const bone = pointAt(leg.points, leg.along, way)
  const normal = pointAt(leg.normals, leg.along, way)
  return ((i % width) - bone.x) * normal.x + (Math.floor(i / width) - bone.y) * normal.y > 0
}
