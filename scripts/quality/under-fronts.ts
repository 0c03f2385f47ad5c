import { subset } from '../../worker/vision/raster/mask.ts'
import type { Mask, Point } from '../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../worker/vision/raster/polygon.ts'

/**
 * Region of the worn garment that an open jacket must hide: excludes the regions between its fronts, below its hem, and beyond its
 * armholes if it is sleeveless. The whole garment if the engine classified the jacket as closed.
 */
export function underFronts(worn: Mask, landmarks: Readonly<Record<string, Point>> = {}): Mask {
  const named = (...names: string[]) => names.map((name) => landmarks[name]).filter((point) => point !== undefined)
  const edge = (side: 'l' | 'r') => named(...Array.from({ length: 6 }, (_, i) => `front_${i}_${side}`))
  const [left, right] = [edge('l'), edge('r')]
  if (left.length === 0 || right.length === 0) return worn
  const opening = fillPolygon(worn, [...left, ...right.toReversed()])
  const [hemLeft, hemRight] = named('hem_l', 'hem_r')
  const chest = named('neck_l', 'shoulder_l', 'armpit_l', 'hem_l', 'hem_r', 'armpit_r', 'shoulder_r', 'neck_r')
  const reached = 'sleeve_out_l' in landmarks ? null : fillPolygon(worn, chest)
  return subset(worn, (i) => {
    const x = i % worn.width
    const share = (x - hemLeft.x) / (hemRight.x - hemLeft.x)
    const hem = hemLeft.y + (hemRight.y - hemLeft.y) * Math.min(Math.max(share, 0), 1)
    return !opening.data[i] && Math.floor(i / worn.width) < hem && reached?.data[i] !== 0
  })
}
