import type { Point } from '../../raster/plane.ts'

/** One arm as a line of bones with a width on either side; every list has one entry a sample. */
export interface ArmProfile {
  /** Way from the shoulder joint in px. */
  readonly along: Float64Array
  /** Positions on the bones, the elbow rounded. */
  readonly points: readonly Point[]
  /** Unit vectors across the arm, towards the side that faces away from the trunk at the shoulder. */
  readonly normals: readonly Point[]
  /** Distance from the bone to the arm's outer and inner edge in px. */
  readonly outer: Float64Array
  readonly inner: Float64Array
  /** False where the mask showed no outer edge and the width is the expected one. */
  readonly outerMeasured: readonly boolean[]
  /** Shoulder joint to wrist, and shoulder joint to elbow, along the bones in px. */
  readonly length: number
  readonly upperLength: number
}
