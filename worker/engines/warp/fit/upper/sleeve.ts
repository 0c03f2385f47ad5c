import type { ArmProfile } from '../../../../vision/body/arm-profile.ts'
import type { BodyFrame, Side } from '../../../../vision/body/body-frame.ts'
import { outwards, upperArm } from '../../../../vision/body/keypoints.ts'
import type { UpperGarment } from '../../../../vision/garment/garment.ts'
import type { Point } from '../../../../vision/raster/plane.ts'
import { interpolate, pointAt, resample } from '../../../../vision/raster/polyline.ts'
import { add, between, distance, dot, move, scale, subtract, unit } from '../../../../vision/raster/vector.ts'
import type { PointGrid } from '../patch.ts'
import { BELOW_ARMHOLE, CUFF_WIDTH, OVER_SHOULDER, SLEEVE_LENGTH, SLEEVE_TAPER } from '../tuning.ts'
import type { SleevePlacement } from './fitting.ts'
import type { Fit } from './size.ts'
import { sleeveLength } from './sleeve-length.ts'

export interface SleeveInput {
  readonly body: BodyFrame
  readonly garment: UpperGarment
  readonly fit: Fit
  readonly profile: ArmProfile
  /** Length of the longer arm in the photo, in px. */
  readonly armLength: number
  readonly side: Side
  readonly armpit: Point
}

const ROWS = 30
const COLUMNS = 9

// The grid extends beyond the outline to include the product's own soft edge.
const BEYOND_OUTER = 0.06
const BEYOND_INNER = 0.03

/** One sleeve as a ruled grid between its outer and inner edge; null if the garment has no sleeve on this side. */
export function placeSleeve(input: SleeveInput): SleevePlacement | null {
  const { garment, profile, side } = input
  const { sleeve } = garment.sides[side]
  if (!sleeve) return null
  const { long, length } = chooseLength(input, sleeve.outer)
  const looseness = cuffLooseness(input, { long, length })
  const outer = resample(placeOuter(input, { length, looseness }), ROWS)
  const inner = resample(placeInner(input, { length, looseness }), ROWS)
  const source = ruleGrid(resample(sleeve.outer, ROWS), resample(sleeve.inner, ROWS))
  return { side, source, target: ruleGrid(outer, inner), long, length, profile, outer, inner }
}

function chooseLength(
  { body, fit, profile, armLength, side, armpit }: SleeveInput,
  outline: readonly Point[],
): { long: boolean; length: number } {
  const overShoulder = OVER_SHOULDER * distance(fit.tips[side], body.joints.shoulder[side])
  // A bent arm that points towards the camera is shorter in the photo, and so is its sleeve.
  const shortened = Math.min(1, profile.length / armLength)
  const natural = shortened * ((sleeveLength(outline) * (fit.across + fit.down)) / 2 - overShoulder)
  if (natural > SLEEVE_LENGTH.from * profile.length) return { long: true, length: SLEEVE_LENGTH.end * profile.length }
  // The short wide sleeves of boxy cuts end below their deep armholes.
  const armhole = dot(subtract(armpit, body.joints.shoulder[side]), upperArm(body, side)) + BELOW_ARMHOLE * body.unit
  const covering = Math.max(natural, armhole, SLEEVE_LENGTH.min * profile.length)
  return { long: false, length: Math.min(covering, SLEEVE_LENGTH.from * profile.length) }
}

interface Cuff {
  length: number
  /** Width of the cuff as a multiple of the arm's. */
  looseness: number
}

function cuffLooseness(
  { garment, fit, profile, side }: SleeveInput,
  { long, length }: { long: boolean; length: number },
): number {
  const { sleeveOuter, sleeveInner } = garment.landmarks[side]
  if (!sleeveOuter || !sleeveInner) return CUFF_WIDTH.min
  const arm = radiusAt(profile, 'outer', length) + radiusAt(profile, 'inner', length)
  const cuff = CUFF_WIDTH.seen * fit.across * distance(sleeveOuter, sleeveInner)
  return Math.min(Math.max(cuff / Math.max(1, arm), CUFF_WIDTH.min), long ? CUFF_WIDTH.maxLong : CUFF_WIDTH.maxShort)
}

// From the tip in a curve over the deltoid, then along the arm's outer edge.
function placeOuter({ body, fit, profile, side }: SleeveInput, { length, looseness }: Cuff): Point[] {
  const radii = taper(profile)
  const along = steps(Math.min(0.13 * profile.length, 0.6 * length), length).map((way) => {
    const loose = 1.03 + 0.55 * (looseness - 1) * (way / length)
    return besideBone(profile, way, loose * interpolate(profile.along, radii, way))
  })
  const tip = fit.tips[side]
  const joint = body.joints.shoulder[side]
  const reach = Math.min(1.08 * profile.outer[0], 1.1 * distance(tip, joint) + 0.02 * body.unit)
  const deltoid = move(joint, unit(move(profile.normals[0], upperArm(body, side), -0.55)), reach)
  const control = move(deltoid, subtract(deltoid, between(tip, along[0], 0.5)), 0.25)
  return [...bow(tip, control, along[0]), ...along]
}

// Below the end of a wide worn sleeve the new sleeve narrows gradually.
function taper({ along, outer }: ArmProfile): Float64Array {
  const radii = outer.slice()
  for (let i = 1; i < radii.length; i++)
    radii[i] = Math.max(radii[i], radii[i - 1] - SLEEVE_TAPER * (along[i] - along[i - 1]))
  return radii
}

// From the armpit along the arm's inner edge.
function placeInner(input: SleeveInput, { length, looseness }: Cuff): Point[] {
  const { body, profile, side, armpit } = input
  const direction = upperArm(body, side)
  const level = dot(subtract(armpit, body.joints.shoulder[side]), direction)
  const start = Math.min(Math.max(level, 0.05 * profile.length), 0.8 * length)
  const raised = dot(direction, body.down) < 0 ? 1 : Math.abs(dot(direction, body.right))
  // Loose cloth hangs below a raised arm, and around a hanging arm.
  const slack = Math.min(0.5 + 0.9 * raised, 1.2)
  const along = steps(start + 0.2 * (length - start), length).map((way) => {
    const share = way / length
    const loose = 1.05 + 0.22 * (1 - share) + slack * (looseness - 1) * share
    const point = besideBone(profile, way, -loose * radiusAt(profile, 'inner', way))
    return dot(direction, body.down) < 0 ? point : keepBesideTorso(point, besideBone(profile, way, 0), input)
  })
  return [freeArmpit(input, start, raised), ...along]
}

// The torso's armpit is behind a hanging arm; the arm's sleeve starts at the arm's own inner edge.
function freeArmpit({ body, profile, side, armpit }: SleeveInput, way: number, raised: number): Point {
  const outside = outwards(body, side)
  const armEdge = besideBone(profile, way, -1.15 * radiusAt(profile, 'inner', way))
  const hidden = Math.max(0, dot(subtract(armpit, armEdge), outside))
  return move(armpit, outside, -hidden * (1 - smoothStep((raised - 0.15) / 0.35)))
}

// The sleeve of an arm beside the torso ends at the torso's edge; the sleeve of an arm in front of the torso overlaps it.
function keepBesideTorso(point: Point, bone: Point, { body, fit, side }: SleeveInput): Point {
  const outside = outwards(body, side)
  const offset = subtract(point, body.shoulders)
  const edge = fit.halfWidthAt(fit.rowAt(dot(offset, body.down) / body.trunk), side)
  const overlap = edge - 0.02 * body.unit - dot(offset, outside)
  const beside = smoothStep((dot(subtract(bone, body.shoulders), outside) - edge) / (0.06 * body.unit))
  return overlap > 0 ? move(point, outside, beside * overlap) : point
}

function smoothStep(t: number): number {
  const share = Math.min(Math.max(t, 0), 1)
  return share * share * (3 - 2 * share)
}

function steps(from: number, to: number): number[] {
  return Array.from({ length: 25 }, (_, i) => from + ((to - from) * i) / 24)
}

function radiusAt(profile: ArmProfile, edge: 'outer' | 'inner', way: number): number {
  return interpolate(profile.along, profile[edge], way)
}

/** The point at `way` px along the bones and `offset` px beside them, outer side positive. */
function besideBone({ along, points, normals }: ArmProfile, way: number, offset: number): Point {
  return move(pointAt(points, along, way), pointAt(normals, along, way), offset)
}

// A quadratic Bézier curve without its last point.
function bow(from: Point, control: Point, to: Point): Point[] {
  return Array.from({ length: 7 }, (_, i) => {
    const t = i / 7
    return between(between(from, control, t), between(control, to, t), t)
  })
}

// Straight lines from edge to edge, and an extra row at each end: under the torso's edge, and past the cuff.
function ruleGrid(outer: readonly Point[], inner: readonly Point[]): PointGrid {
  const rows = outer.map((from, row) =>
    Array.from({ length: COLUMNS }, (_, column) =>
      between(from, inner[row], -BEYOND_OUTER + ((1 + BEYOND_OUTER + BEYOND_INNER) * column) / (COLUMNS - 1)),
    ),
  )
  const last = rows.length - 1
  const before = rows[0].map((point, c) => between(point, rows[1][c], -0.25))
  const after = rows[last].map((point, c) => add(point, scale(subtract(point, rows[last - 2][c]), 0.6)))
  return [before, ...rows, after]
}
