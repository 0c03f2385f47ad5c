import type { Point } from '../../raster/plane.ts'

/** A value for the picture's left side (the right arm of a person who faces the camera) and one for its right side. */
export type Sides<T> = readonly [left: T, right: T]

/**
 * The person's own ruler. Positions are px of the analysed picture. A point p has the coordinates
 * F = (p − shoulders) · down / trunk (0 at the shoulder joints, 1 at the hip joints) and X = (p − shoulders) · right / unit.
 */
export interface BodyFrame {
  readonly joints: {
    readonly shoulder: Sides<Point>
    readonly elbow: Sides<Point>
    readonly wrist: Sides<Point>
    readonly hip: Sides<Point>
    readonly knee: Sides<Point>
    /** Middle of the knuckles of little and index finger. */
    readonly knuckles: Sides<Point>
  }
  readonly shoulders: Point
  readonly hips: Point
  /** Unit vectors: from the shoulders to the hips, and at a right angle to it towards the picture's right. */
  readonly down: Point
  readonly right: Point
  readonly shoulderWidth: number
  readonly trunk: number
  /** The length every other length is a multiple of: max(shoulder width, 0.55 trunk). */
  readonly unit: number
  readonly facing: boolean
  readonly armRadius: Sides<number>
  readonly shoulderTip: Sides<Point>
  /** Half width of the torso in px at F = `fractions[i]`. */
  readonly fractions: Float64Array
  readonly halfWidths: Sides<Float64Array>
}
