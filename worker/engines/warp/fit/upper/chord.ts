import type { Point } from '../../../../vision/raster/plane.ts'
import { dot, move, perpendicular, subtract } from '../../../../vision/raster/vector.ts'

/** A straight line between two landmarks, and its target. */
export interface ChordPair {
  readonly from: readonly [Point, Point]
  readonly to: readonly [Point, Point]
  /** Extra scale of the curve's height over its chord, relative to the chord's scale. */
  readonly height?: number
}

/** Moves a curve along with its two landmarks: position along the chord and height over it stay in proportion. */
export function carryAlongChord(curve: readonly Point[], { from, to, height = 1 }: ChordPair): Point[] {
  const chord = subtract(from[1], from[0])
  const squared = Math.max(1e-9, dot(chord, chord))
  const normal = perpendicular(chord)
  const newChord = subtract(to[1], to[0])
  const newNormal = perpendicular(newChord)
  return curve.map((point) => {
    const offset = subtract(point, from[0])
    const onChord = move(to[0], newChord, dot(offset, chord) / squared)
    return move(onChord, newNormal, (height * dot(offset, normal)) / squared)
  })
}
