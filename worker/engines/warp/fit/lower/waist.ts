import { type BodyFrame, halfWidthAt } from '../../../../vision/body/body-frame.ts'
import { axisAt, bothSides, outwards, type Sides } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import type { Point } from '../../../../vision/raster/plane.ts'
import { nearestStep } from '../../../../vision/raster/statistics.ts'
import { move } from '../../../../vision/raster/vector.ts'
import { OVER_HIPS, WAIST_SAG, WAISTBAND } from '../tuning.ts'
import type { WornWaist } from './fitting.ts'

const FROM = 0.5
const STEP = 0.02
const ROWS = 56

export function findWornWaist({ along, across, top, lower }: Parts): WornWaist {
  const tops = new Float64Array(ROWS)
  const lowers = new Float64Array(ROWS)
  const all = new Float64Array(ROWS)
  for (let i = 0; i < along.data.length; i++) {
    if (Math.abs(across.data[i]) >= 0.22) continue
    const row = nearestStep(along.data[i], FROM, STEP)
    if (row < 0 || row >= ROWS) continue
    all[row]++
    tops[row] += top.data[i]
    lowers[row] += lower.data[i]
  }
  const first = lowers.findIndex((count, row) => count > 0.5 * all[row] && all[row] > 0)
  const last = tops.findLastIndex((count, row) => count > 0.45 * all[row] && all[row] > 0)
  return {
    lowerTop: first < 0 ? 0 : FROM + STEP * first,
    topHem: last < 0 ? 0.9 : FROM + STEP * last,
  }
}

/**
 * The row of the new waistband: as high as the product's rise requires, and at least as high as the worn waistband, to
 * hide it, also where the top ends in it.
 */
export function chooseWaist(natural: number, { lowerTop, topHem }: WornWaist): number {
  const isSeen = lowerTop > 0
  const isBelowTop = isSeen && lowerTop - topHem < WAISTBAND.gap
  const worn = isSeen ? (isBelowTop ? Math.min(lowerTop, topHem) : lowerTop) - WAISTBAND.over : natural
  const highest = isSeen ? Math.min(WAISTBAND.min, worn) : WAISTBAND.min
  return Math.min(Math.max(Math.min(natural, worn, topHem - WAISTBAND.over), highest), WAISTBAND.max)
}

/** The waistband's corners on the person. */
export function waistCorners(body: BodyFrame, fraction: number): Sides<Point> {
  return bothSides((side) =>
    move(axisAt(body, fraction), outwards(body, side), OVER_HIPS * halfWidthAt(body, fraction, side)),
  )
}

/** The front of the waistband from corner to corner: the lower half of an ellipse, as seen from chest height. */
export function waistCurve([left, right]: Sides<Point>, { down, unit }: BodyFrame): Point[] {
  return Array.from({ length: 13 }, (_, i) => {
    const t = i / 12
    const straight = { x: left.x + (right.x - left.x) * t, y: left.y + (right.y - left.y) * t }
    return move(straight, down, WAIST_SAG * unit * (1 - (2 * t - 1) ** 2))
  })
}
