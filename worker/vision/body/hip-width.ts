import { distance } from '../raster/vector.ts'
import { type BodyFrame, halfWidthAt } from './body-frame.ts'
import { HIPS } from './tuning.ts'

/** Width of the hips in px. Limited by the distance of the hip joints, because hands and skirts widen the mask. */
export function hipWidth(body: BodyFrame): number {
  const measured = halfWidthAt(body, HIPS.at, 0) + halfWidthAt(body, HIPS.at, 1)
  const joints = distance(...body.joints.hip)
  return Math.min(Math.max(measured, HIPS.min * joints), Math.max(HIPS.max * joints, HIPS.units * body.unit))
}
