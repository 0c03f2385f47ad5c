import { distance } from '../raster/vector.ts'
import { type BodyFrame, halfWidthAt } from './body-frame.ts'

/** Width of the hips in px: as measured, within what the distance of the hip joints allows, for hands and skirts widen a mask. */
export function hipWidth(body: BodyFrame): number {
  const measured = halfWidthAt(body, 1.1, 0) + halfWidthAt(body, 1.1, 1)
  const joints = distance(...body.joints.hip)
  return Math.min(Math.max(measured, 1.5 * joints), Math.max(2.2 * joints, 0.9 * body.unit))
}
