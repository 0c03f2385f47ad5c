import { type BodyFrame, halfWidthAt } from '../../../../vision/body/body-frame.ts'
import { hipWidth } from '../../../../vision/body/hip-width.ts'
import { axisAt, bothSides, outwards, type Side, type Sides } from '../../../../vision/body/keypoints.ts'
import { besideLeg, type LegProfile } from '../../../../vision/body/leg-profile.ts'
import type { Skirt } from '../../../../vision/garment/garment.ts'
import type { Point } from '../../../../vision/raster/plane.ts'
import { interpolate, resample } from '../../../../vision/raster/polyline.ts'
import { between, distance, dot, move, subtract } from '../../../../vision/raster/vector.ts'
import { fillPatch } from '../patch.ts'
import { NATURAL_WAIST, OVER_HIPS, SKIRT_KNEES, SKIRT_SAG, SKIRT_SWING, SKIRT_WIDTH, WAIST, WORN } from '../tuning.ts'
import { nameSides } from '../upper/landmarks.ts'
import type { LowerInput, LowerPlacement } from './fitting.ts'
import { widthAtRow } from './garment-width.ts'
import { chooseWaist, waistCorners, waistCurve } from './waist.ts'

const ROWS = 30
const COLUMNS = 17

/** One grid from waist to hem around both legs: follows the hips, then falls as the skirt is cut. */
export function placeSkirt(
  garment: Skirt,
  input: LowerInput,
): Pick<LowerPlacement, 'pieces' | 'waist' | 'covered' | 'landmarks'> {
  const { body, legs } = input
  const waist = chooseWaist(NATURAL_WAIST, input.worn)
  const corners = waistCorners(body, waist)
  const scale = scaleOf(garment, body)
  const [top, bottom] = [mean(garment.waist), mean(garment.hem)]
  const longest = dot(subtract(ankleLevel(legs), body.shoulders), body.down) / body.trunk
  const end = Math.min(waist + (scale * (bottom - top)) / body.trunk, longest)
  const edges = bothSides((side) => {
    const widths = Array.from({ length: ROWS }, (_, i) => {
      const share = i / (ROWS - 1)
      const cloth = (WORN.skirt * scale * widthAtRow(garment.sides, top + share * (bottom - top))) / 2
      return halfWidth(waist + share * (end - waist), { body, legs, side, cloth })
    })
    return smooth(widths).map((width, i) => {
      const centre = middleAt(waist + (i / (ROWS - 1)) * (end - waist), { body, legs })
      return i === 0 ? corners[side] : move(centre, outwards(body, side), width)
    })
  })
  const hems = [edges[0][ROWS - 1], edges[1][ROWS - 1]] as const
  const margins = { left: 0.04, right: 0.04, above: 0.6, below: 0.8 }
  const source = {
    left: atRows(garment.sides[0]),
    right: atRows(garment.sides[1]),
    top: garment.waist,
    bottom: garment.hem,
  }
  const target = {
    left: edges[0],
    right: edges[1],
    top: waistCurve(corners, body),
    bottom: hemCurve(garment, hems, { body, scale }),
  }
  const piece = { source: fillPatch(source, COLUMNS, margins), target: fillPatch(target, COLUMNS, margins) }
  return {
    pieces: [piece],
    waist,
    covered: bothSides((side) => wayAt(legs[side], end, body)),
    landmarks: { ...nameSides('waist', corners), ...nameSides('hem', hems) },
  }
}

// Elastic waists are an unreliable measure of the size, flared hips even more so: use the mean of both.
function scaleOf({ waist, sides }: Skirt, body: BodyFrame): number {
  const hips = hipWidth(body)
  const byWaist = (WAIST.overHips * hips) / (WORN.skirtWaist * distance(waist[0], waist[waist.length - 1]))
  const row = mean(waist) + (WAIST.hipsBelow * body.trunk) / byWaist
  return (byWaist + (OVER_HIPS * hips) / (WORN.skirt * widthAtRow(sides, row))) / 2
}

// Sampled by height, not by arc length: rows remain level on flared sides.
function atRows(chain: readonly Point[]): Point[] {
  const ascending = chain.toSorted((a, b) => a.y - b.y)
  const ys = ascending.map(({ y }) => y)
  const xs = ascending.map(({ x }) => x)
  const [first, last] = [chain[0].y, chain[chain.length - 1].y]
  return Array.from({ length: ROWS }, (_, i) => {
    const y = first + (i / (ROWS - 1)) * (last - first)
    return { x: interpolate(ys, xs, y), y }
  })
}

// Between the width of hips and legs and that of a wide bell.
function halfWidth(
  fraction: number,
  { body, legs, side, cloth }: { body: BodyFrame; legs: Sides<LegProfile>; side: Side; cloth: number },
): number {
  const centre = middleAt(fraction, { body, legs })
  const outside = outwards(body, side)
  const hips = hipWidth(body) / 2
  const torso = Math.min(OVER_HIPS * halfWidthAt(body, fraction, side), SKIRT_WIDTH.torso * hips)
  const legEdge = Math.max(...legs.map((leg) => legReach(leg, fraction, { body, centre, outside })))
  return Math.max(
    Math.min(Math.max(cloth, fraction < SKIRT_WIDTH.torsoUntil ? torso : 0), SKIRT_WIDTH.max * hips),
    legEdge,
  )
}

// Smoothed, but never narrower than before: the garment must cover everything below it.
function smooth(widths: readonly number[]): number[] {
  let rounded = [...widths]
  for (let round = 0; round < 6; round++)
    rounded = rounded.map((width, i) => {
      if (i === 0 || i === rounded.length - 1) return width
      return Math.max(0.985 * widths[i], (rounded[i - 1] + 2 * width + rounded[i + 1]) / 4)
    })
  return rounded
}

function legReach(
  leg: LegProfile,
  fraction: number,
  { body, centre, outside }: { body: BodyFrame; centre: Point; outside: Point },
): number {
  const way = wayAt(leg, fraction, body)
  if (way <= SKIRT_KNEES.from * leg.length) return 0
  const radius = SKIRT_KNEES.radius * interpolate(leg.along, leg.outer, way)
  return dot(subtract(besideLeg(leg, way, 0), centre), outside) + radius
}

// A skirt hangs from the hips and follows the knees.
function middleAt(fraction: number, { body, legs }: { body: BodyFrame; legs: Sides<LegProfile> }): Point {
  const axis = axisAt(body, fraction)
  if (fraction <= 1) return axis
  const ways = bothSides((side) => wayAt(legs[side], fraction, body))
  const legsMiddle = between(besideLeg(legs[0], ways[0], 0), besideLeg(legs[1], ways[1], 0), 0.5)
  const shift = dot(subtract(legsMiddle, axis), body.right)
  return move(axis, body.right, SKIRT_SWING.share * shift * Math.min(1, (fraction - 1) / SKIRT_SWING.over))
}

/** Distance along a leg's bones to the body coordinate F, in px. */
export function wayAt({ points, along }: LegProfile, fraction: number, body: BodyFrame): number {
  const levels = points.map((point) => dot(subtract(point, body.shoulders), body.down) / body.trunk)
  return fraction <= levels[0] ? 0 : interpolate(levels, along, fraction)
}

// The curve of the product's hem plus that of a round hem seen from above.
function hemCurve(
  { hem }: Skirt,
  [left, right]: Sides<Point>,
  { body, scale }: { body: BodyFrame; scale: number },
): Point[] {
  const line = resample(hem, 17)
  const depth = SKIRT_SAG.depth * distance(left, right)
  return line.map((point, i) => {
    const t = i / 16
    const straight = between(hem[0], hem[hem.length - 1], t)
    const bow = SKIRT_SAG.own * scale * (point.y - straight.y) + depth * (1 - (2 * t - 1) ** 2)
    return move(between(left, right, t), body.down, bow)
  })
}

function ankleLevel([left, right]: Sides<LegProfile>): Point {
  const [a, b] = [left.points[left.points.length - 1], right.points[right.points.length - 1]]
  return a.y < b.y ? a : b
}

function mean(chain: readonly Point[]): number {
  return chain.reduce((sum, { y }) => sum + y, 0) / chain.length
}
