import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import { axisAt, bothSides, outwards, type Side, type Sides } from '../../../../vision/body/keypoints.ts'
import type { UpperGarment } from '../../../../vision/garment/garment.ts'
import type { Plane, Point } from '../../../../vision/raster/plane.ts'
import { interpolate, resample } from '../../../../vision/raster/polyline.ts'
import { distanceToEdge } from '../../../../vision/raster/ray.ts'
import { add, between, distance, dot, move, perpendicular, scale, subtract } from '../../../../vision/raster/vector.ts'
import { ARMPIT, HEM_SAG, NECK_LEVEL, NECK_RISE, NECK_WIDTH, SHOULDER_BOW, SHOULDER_LIFT } from '../tuning.ts'
import type { Fit, FitInput } from './size.ts'

export interface TorsoPlacement {
  readonly source: readonly Point[]
  readonly target: readonly Point[]
  readonly torso: readonly Point[]
  readonly armpits: Sides<Point>
  readonly neckCorners: Sides<Point>
  readonly neckline: readonly Point[]
  readonly hemCorners: Sides<Point>
}

/** Matching points of the torso piece: neckline, shoulder lines, armholes, sides, hem and axis. */
export function placeTorso(input: FitInput, fit: Fit): TorsoPlacement {
  const { body, garment } = input
  const armpits = bothSides((side) => placeArmpit(body, garment, { fit, side }))
  const neckCorners = placeNeckCorners(input, fit)
  const neckChord = { from: cornersOf(garment), to: neckCorners }
  const collar = resample(garment.neckline, 9).slice(1, -1)
  const pairs = [
    ...pairUp(cornersOf(garment), neckCorners),
    ...pairUp(collar, carryAlongChord(collar, neckChord)),
    ...bothSides((side) => [
      ...pairShoulder(input, { fit, side, corner: neckCorners[side] }),
      ...pairArmhole(garment, { side, tip: fit.tips[side], armpit: armpits[side] }),
      ...pairSide(garment, { fit, side, armpit: armpits[side] }),
    ]).flat(),
    ...pairHem(input, fit),
    ...pairAxis(input, fit),
  ]
  return {
    source: pairs.map(([from]) => from),
    target: pairs.map(([, to]) => to),
    torso: outlineTorso(garment),
    armpits,
    neckCorners,
    neckline: carryAlongChord(resample(garment.neckline, 61), neckChord),
    hemCorners: bothSides((side) => fit.edgeAt(garment.landmarks[side].hem.y, side)),
  }
}

type Pair = readonly [from: Point, to: Point]

function pairUp(from: readonly Point[], to: readonly Point[]): Pair[] {
  return from.map((point, i) => [point, to[i]])
}

function cornersOf({ landmarks }: UpperGarment): Sides<Point> {
  return [landmarks[0].neck, landmarks[1].neck]
}

function placeArmpit(body: BodyFrame, garment: UpperGarment, { fit, side }: { fit: Fit; side: Side }): Point {
  const row = garment.landmarks[side].armpit.y
  const natural = fit.fractionAt(row)
  const fraction = Math.min(Math.max(natural, garment.sleeved ? ARMPIT.sleeved : ARMPIT.sleeveless), ARMPIT.max)
  // Above a sleeved armpit the body's half width is that of the shoulders.
  const half = fit.halfWidthAt(natural >= ARMPIT.sleeved ? row : fit.rowAt(ARMPIT.sleeved), side)
  return move(axisAt(body, fraction), outwards(body, side), half)
}

// On the slope from neck to shoulder, both on nearly the same level: hair on one side makes the mask higher there.
function placeNeckCorners({ mask, body, garment }: FitInput, fit: Fit): Sides<Point> {
  const span = distance(...fit.tips)
  const middle = between(...fit.tips, 0.5)
  const natural = (fit.across * distance(...cornersOf(garment))) / 2
  const half = Math.min(Math.max(natural, NECK_WIDTH.min * body.unit), NECK_WIDTH.max * span)
  const expected = NECK_RISE.slope * body.unit * (1 - half / (span / 2)) + NECK_RISE.offset * body.unit
  const heights = bothSides((side) => {
    const inside = add(move(middle, outwards(body, side), half), scale(body.down, 0.1 * body.unit))
    const up = distanceToEdge(mask, inside, { direction: scale(body.down, -1), reach: 0.42 * body.unit })
    return up === null ? expected : up - 0.1 * body.unit
  })
  const level = NECK_LEVEL.lower * Math.min(...heights) + NECK_LEVEL.higher * Math.max(...heights)
  return bothSides((side) => {
    const height = heights[side] + NECK_LEVEL.evened * (level - heights[side])
    return move(move(middle, outwards(body, side), half), body.down, -height)
  })
}

function pairShoulder(
  { mask, body, garment }: FitInput,
  { fit, side, corner }: { fit: Fit; side: Side; corner: Point },
): Pair[] {
  const { neck, shoulder } = garment.landmarks[side]
  const line = resample(garment.sides[side].shoulder, 5).slice(1, -1)
  const chord = { from: [neck, shoulder], to: [corner, fit.tips[side]], height: SHOULDER_BOW } as const
  const placed = carryAlongChord(line, chord).map((point) => liftToEdge(point, { mask, body }))
  return [[shoulder, fit.tips[side]], ...pairUp(line, placed)]
}

// A shoulder line below the mask's edge would leave a strip of the worn garment uncovered.
function liftToEdge(point: Point, { mask, body }: { mask: Plane; body: BodyFrame }): Point {
  const inside = move(point, body.down, 0.1 * body.unit)
  const up = distanceToEdge(mask, inside, { direction: scale(body.down, -1), reach: 0.25 * body.unit })
  if (up === null) return point
  const lift = Math.min(
    Math.max(up - 0.1 * body.unit + SHOULDER_LIFT.over * body.unit, 0),
    SHOULDER_LIFT.max * body.unit,
  )
  return move(point, body.down, -lift)
}

function pairArmhole(
  { landmarks, sides }: UpperGarment,
  { side, tip, armpit }: { side: Side; tip: Point; armpit: Point },
): Pair[] {
  const { shoulder, armpit: from } = landmarks[side]
  const { armhole } = sides[side]
  const curve = armhole
    ? resample(armhole, 7).slice(1, -1)
    : [between(shoulder, from, 0.33), between(shoulder, from, 0.66)]
  return [...pairUp(curve, carryAlongChord(curve, { from: [shoulder, from], to: [tip, armpit] })), [from, armpit]]
}

// The armpit's position does not depend on its row alone; its correction fades out downwards along the side.
function pairSide(
  { landmarks, sides }: UpperGarment,
  { fit, side, armpit }: { fit: Fit; side: Side; armpit: Point },
): Pair[] {
  const correction = subtract(armpit, fit.edgeAt(landmarks[side].armpit.y, side))
  // Enough points for waist, hips and the worn top's hem at any garment length.
  const points = Math.max(8, Math.round(9 * (fit.hem - fit.fractionAt(landmarks[side].armpit.y))))
  const line = resample(sides[side].side, points + 1).slice(1)
  return line.map((point, i) => {
    const rest = 1 - (i + 1) / line.length
    return [point, move(fit.edgeAt(point.y, side), correction, rest * rest)]
  })
}

function pairHem({ body, garment }: FitInput, fit: Fit): Pair[] {
  const [left, right] = [garment.landmarks[0].hem, garment.landmarks[1].hem]
  const line = [...garment.sides[0].hem, ...garment.sides[1].hem].sort((a, b) => a.x - b.x)
  const xs = line.map((p) => p.x)
  const ys = line.map((p) => p.y)
  const ends = [fit.edgeAt(left.y, 0), fit.edgeAt(right.y, 1)] as const
  return [0.2, 0.35, 0.5, 0.65, 0.8].map((share) => {
    const straight = between(left, right, share)
    const y = interpolate(xs, ys, straight.x)
    // Seen from chest height a hem is the lower half of an ellipse.
    const sag = HEM_SAG * body.unit * (1 - (2 * share - 1) ** 2)
    return [{ x: straight.x, y }, move(between(...ends, share), body.down, (y - straight.y) * fit.down + sag)]
  })
}

function pairAxis({ garment }: FitInput, fit: Fit): Pair[] {
  return [0.45, 0.62, 0.8].map((share) => {
    const y = fit.shoulderRow + share * (fit.hemRow - fit.shoulderRow)
    const [left, right] = bothSides((side) => fit.outlineHalfWidthAt(y, side))
    return [{ x: garment.axis, y }, between(fit.edgeAt(y, 0), fit.edgeAt(y, 1), left / Math.max(1e-6, left + right))]
  })
}

function outlineTorso({ sides, landmarks }: UpperGarment): Point[] {
  const half = (side: Side) => {
    const { shoulder, armhole, side: seam, hem } = sides[side]
    return [...shoulder, ...(armhole ?? [landmarks[side].shoulder, landmarks[side].armpit]), ...seam, ...hem]
  }
  return [...half(0), ...half(1).reverse()]
}

/** A straight line between two landmarks, and its target. */
interface ChordPair {
  readonly from: readonly [Point, Point]
  readonly to: readonly [Point, Point]
  /** Extra scale of the curve's height over its chord, relative to the chord's scale. */
  readonly height?: number
}

/** Moves a curve along with its two landmarks: position along the chord and height over it stay in proportion. */
function carryAlongChord(curve: readonly Point[], { from, to, height = 1 }: ChordPair): Point[] {
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
