import { type BodyFrame, halfWidthAt } from '../../../../vision/body/body-frame.ts'
import { hipWidth } from '../../../../vision/body/hip-width.ts'
import { bothSides, outwards, type Side, type Sides } from '../../../../vision/body/keypoints.ts'
import { besideLeg, type LegProfile } from '../../../../vision/body/leg-profile.ts'
import type { Trousers } from '../../../../vision/garment/garment.ts'
import type { Point } from '../../../../vision/raster/plane.ts'
import { arcLength, interpolate, resample } from '../../../../vision/raster/polyline.ts'
import { between, distance, dot, move, subtract } from '../../../../vision/raster/vector.ts'
import { fillPatch, resampleInTwo } from '../patch.ts'
import {
  BELOW_HIPS,
  COVERING_SEAM,
  CROTCH,
  HIPS_ROW,
  LEG_WIDTH,
  LONG_INSEAM,
  MIN_INSEAM,
  OVER_HIPS,
  OVER_SHOE,
  TROUSER_SAG,
  UNEVEN_INSEAM,
  WORN,
} from '../tuning.ts'
import { nameSides } from '../upper/landmarks.ts'
import type { LowerInput, LowerPlacement, Piece } from './fitting.ts'
import { widthAtRow } from './garment-width.ts'
import { chooseWaist, waistCorners, waistCurve } from './waist.ts'

// Rows of a leg's grid from waist to crotch, and from crotch to hem.
const ROWS = [10, 28] as const
const COLUMNS = 9

/** One grid per leg, each with its half of the hips; the leg nearer to the camera comes last. */
export function placeTrousers(
  garment: Trousers,
  input: LowerInput,
): Pick<LowerPlacement, 'pieces' | 'waist' | 'covered' | 'landmarks'> {
  const { body, legs } = input
  const scale = scaleOf(garment, body)
  const crotch = move(body.hips, body.down, CROTCH * body.unit)
  const rise = scale * (garment.crotch.y - mean(garment.waist))
  const natural = (dot(subtract(crotch, body.shoulders), body.down) - rise) / body.trunk
  const waist = chooseWaist(natural, input.worn)
  const corners = waistCorners(body, waist)
  const covered = bothSides((side) => chooseLength(garment, { leg: legs[side], crotch, scale, body, side }))
  const placed = bothSides((side) => placeLeg(garment, { input, side, crotch, scale, corners, covered: covered[side] }))
  const order: Side[] = knee(legs[0]).y > knee(legs[1]).y ? [1, 0] : [0, 1]
  return {
    pieces: order.map((side) => placed[side]),
    waist,
    covered,
    landmarks: landmarksOf({ placed, corners, crotch }),
  }
}

// The margins of the grids are beyond the hems.
function landmarksOf({ placed, corners, crotch }: { placed: Sides<Piece>; corners: Sides<Point>; crotch: Point }) {
  const hems = bothSides((side) => placed[side].target[placed[side].target.length - 2])
  return {
    ...nameSides('waist', corners),
    crotch,
    ...nameSides('ankle_out', [hems[0][1], hems[1][1]]),
    ...nameSides('ankle_in', [hems[0][hems[0].length - 2], hems[1][hems[1].length - 2]]),
  }
}

function scaleOf({ sides, waist, crotch }: Trousers, body: BodyFrame): number {
  const top = mean(waist)
  const hips = widthAtRow(sides, top + HIPS_ROW * (crotch.y - top))
  return (OVER_HIPS * hipWidth(body)) / (WORN.hips * hips)
}

// Long legs end at the ankle on every figure. Short legs end at the end of their inseam, but never within the bend of the knee.
function chooseLength(
  garment: Trousers,
  { leg, crotch, scale, body, side }: { leg: LegProfile; crotch: Point; scale: number; body: BodyFrame; side: Side },
): number {
  const start = dot(subtract(crotch, leg.points[0]), body.down)
  const share = (scale * inseamOf(garment, side)) / Math.max(1, leg.length - start)
  if (share > LONG_INSEAM) return leg.length + OVER_SHOE * body.unit
  return start + Math.max(MIN_INSEAM, share) * (leg.length - start)
}

// Both legs of trousers are equally long: an inseam that is much longer than the other follows a frayed hem.
function inseamOf({ inseams }: Trousers, side: Side): number {
  const lengths = bothSides((each) => arcLength(inseams[each]))
  return Math.min(lengths[side], UNEVEN_INSEAM * Math.min(...lengths))
}

interface LegInput {
  readonly input: LowerInput
  readonly side: Side
  readonly crotch: Point
  readonly scale: number
  readonly corners: Sides<Point>
  readonly covered: number
}

function placeLeg(garment: Trousers, leg: LegInput): Piece {
  const { side } = leg
  const source = sourceEdges(garment, side)
  const target = targetEdges(garment, leg)
  const margins = { left: 0.05, right: 0.03, above: 0.6, below: 0.8 }
  return { source: fillPatch(source, COLUMNS, margins), target: fillPatch(target, COLUMNS, margins) }
}

// `left` is the outer seam, `right` the middle of the front, then the inseam.
function sourceEdges({ sides, waist, crotch, inseams, hems, axis }: Trousers, side: Side) {
  const outer = resample(sides[side], 160)
  const split = outer.findIndex(({ y }) => y >= crotch.y)
  const half = waist.filter(({ x }) => (side === 0 ? x <= axis : x >= axis))
  const top = side === 0 ? half : half.toReversed()
  const middle = top[top.length - 1]
  return {
    left: resampleInTwo(outer, split, ROWS),
    right: [...resample([middle, crotch], ROWS[0]).slice(0, -1), ...resample(inseams[side], ROWS[1])],
    top,
    bottom: hems[side],
  }
}

function targetEdges(garment: Trousers, { input, side, crotch, scale, corners, covered }: LegInput) {
  const { body, legs } = input
  const profile = legs[side]
  const curve = waistCurve(corners, body)
  const half = curve.slice(0, 7)
  const top = side === 0 ? half : curve.slice(6).toReversed()
  const from = dot(subtract(crotch, profile.points[0]), body.down)
  const width = legWidth(garment, { side, scale, profile, range: [from, covered] })
  const outer = ways(0.02 * profile.length, covered).map((way) =>
    outerPoint(way, { body, profile, side, width, reach: input.reach[side] }),
  )
  const seam = [corners[side], ...outer]
  const inner = ways(1.15 * from, covered).map((way) => innerPoint(way, { body, profile, side, width }))
  const level = dot(crotch, body.down)
  const fine = resample(seam, 160)
  const hem = [outer[outer.length - 1], inner[inner.length - 1]] as const
  return {
    left: resampleInTwo(
      fine,
      fine.findIndex((point) => dot(point, body.down) >= level),
      ROWS,
    ),
    right: [...resample([top[top.length - 1], crotch], ROWS[0]).slice(0, -1), ...resample([crotch, ...inner], ROWS[1])],
    top,
    bottom: sag(hem, body),
  }
}

interface Edge {
  readonly body: BodyFrame
  readonly profile: LegProfile
  readonly side: Side
  /** Width of the cloth as a multiple of the leg's, by distance from the hip. */
  readonly width: (way: number) => number
  /** Distance by which the worn garment extends outwards, by distance from the hip. */
  readonly reach: (way: number) => number
}

function outerPoint(way: number, { body, profile, side, width, reach }: Edge): Point {
  const bone = besideLeg(profile, way, 0)
  const radius = interpolate(profile.along, profile.outer, way)
  const f = dot(subtract(bone, body.shoulders), body.down) / body.trunk
  const beside = dot(subtract(bone, body.shoulders), outwards(body, side))
  // A hand beside the hip widens the mask: limit the width by that of the torso, which excludes arms. Further down legs stand apart.
  const torso = Math.min(halfWidthAt(body, f, side), 0.54 * hipWidth(body))
  const hip = Math.min(radius, Math.max(torso - beside, 0.12 * body.unit))
  const onLeg = Math.min(1, Math.max(0, (f - BELOW_HIPS.from) / BELOW_HIPS.over))
  const loose = LEG_WIDTH.outerSlack + LEG_WIDTH.outer * (width(way) - 1)
  const natural = (hip + (radius - hip) * onLeg) * loose + 0.008 * body.unit
  // Slightly wider, to hide the worn garment.
  return besideLeg(
    profile,
    way,
    Math.max(natural, Math.min(reach(way) + COVERING_SEAM.over * body.unit, COVERING_SEAM.max * natural)),
  )
}

function innerPoint(way: number, { body, profile, width }: Omit<Edge, 'reach'>): Point {
  const loose = LEG_WIDTH.innerSlack + LEG_WIDTH.inner * (width(way) - 1)
  return besideLeg(profile, way, -interpolate(profile.along, profile.inner, way) * loose - 0.006 * body.unit)
}

// Straight trouser legs are wider than the leg: use the product's own ratio at the same share of the inseam.
function legWidth(
  { sides, inseams, crotch }: Trousers,
  { side, scale, profile, range }: { side: Side; scale: number; profile: LegProfile; range: readonly [number, number] },
): (way: number) => number {
  const end = inseams[side][inseams[side].length - 1]
  const shares = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.97]
  const knots = [0, ...shares.map((share) => range[0] + share * (range[1] - range[0]))]
  const widths = shares.map((share, i) => {
    const row = crotch.y + share * (end.y - crotch.y)
    const cloth = WORN.leg * scale * widthAtRow(side === 0 ? [sides[0], inseams[0]] : [inseams[1], sides[1]], row)
    const way = knots[i + 1]
    const leg = interpolate(profile.along, profile.outer, way) + interpolate(profile.along, profile.inner, way)
    return Math.min(Math.max(cloth / Math.max(1, leg), 1), LEG_WIDTH.max)
  })
  return (way) => interpolate(knots, [1, ...widths], way)
}

function sag([outer, inner]: readonly [Point, Point], { down }: BodyFrame): Point[] {
  const depth = TROUSER_SAG * distance(outer, inner)
  return Array.from({ length: 9 }, (_, i) => {
    const t = i / 8
    return move(between(outer, inner, t), down, depth * (1 - (2 * t - 1) ** 2))
  })
}

function ways(from: number, to: number): number[] {
  return Array.from({ length: 26 }, (_, i) => from + ((to - from) * i) / 25)
}

function knee({ points, along, thigh }: LegProfile): Point {
  return points[along.findLastIndex((way) => way <= thigh)]
}

function mean(chain: readonly Point[]): number {
  return chain.reduce((sum, { y }) => sum + y, 0) / chain.length
}
