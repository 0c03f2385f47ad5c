import type { Sides } from '../../../../vision/body/keypoints.ts'
import type { Point } from '../../../../vision/raster/plane.ts'
import { resample } from '../../../../vision/raster/polyline.ts'
import type { Placement } from './fitting.ts'

/** Names a point of each side by the left and right of the image: `neck_l`, `neck_r`. */
export function nameSides(name: string, [left, right]: Sides<Point>): Record<string, Point> {
  return { [`${name}_l`]: left, [`${name}_r`]: right }
}

/** Positions of the landmarks of a top or dress on the person, in px of the analysed bitmap. */
export function upperLandmarks({
  neckCorners,
  tips,
  armpits,
  hemCorners,
  openFront,
  sleeves,
}: Placement): Record<string, Point> {
  const ends = sleeves.map(({ side, outer, inner }) => {
    const letter = side === 0 ? 'l' : 'r'
    return { [`sleeve_out_${letter}`]: outer[outer.length - 1], [`sleeve_in_${letter}`]: inner[inner.length - 1] }
  })
  return Object.assign(
    {
      ...nameSides('neck', neckCorners),
      ...nameSides('shoulder', tips),
      ...nameSides('armpit', armpits),
      ...nameSides('hem', hemCorners),
    },
    ...ends,
    ...(openFront ?? []).map((edge, side) => nameEdge(edge, side === 0 ? 'l' : 'r')),
  )
}

// From the neck corner to the hem: `front_0_l`, `front_1_l` and so on.
function nameEdge(edge: readonly Point[], letter: 'l' | 'r'): Record<string, Point> {
  return Object.fromEntries(resample(edge, 6).map((point, i) => [`front_${i}_${letter}`, point]))
}
