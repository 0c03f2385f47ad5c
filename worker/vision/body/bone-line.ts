import type { Point } from '../raster/plane.ts'
import { between } from '../raster/vector.ts'

/** Rounds the joints of a line of bones, because elbows and knees bend gradually. The end points do not move. */
export function roundJoints(points: readonly Point[]): Point[] {
  let rounded = [...points]
  for (let round = 0; round < 3; round++)
    rounded = rounded.map((p, i) =>
      i === 0 || i === rounded.length - 1 ? p : between(p, between(rounded[i - 1], rounded[i + 1], 0.5), 0.5),
    )
  return rounded
}
