import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Plane, Point } from '../raster/plane.ts'
import { distance } from '../raster/vector.ts'
import { findArmhole } from './armhole.ts'
import { type ArmpitBay, findArmpit, hasSleeves, higherOpposites } from './armpit.ts'
import { farthestAlong, nearestIndex } from './chain.ts'
import type { GarmentKind, KindFrom, SideLandmarks, SideOutline } from './garment.ts'
import { type HalfOutline, halfOutline, torsoWidthOf, waistWidthOf } from './half-outline.ts'
import { refuseImplausible } from './implausible.ts'
import {
  findCrotch,
  findSkirtLandmarks,
  findTrousersLandmarks,
  looksLikeSkirt,
  type SkirtLandmarks,
  type TrousersLandmarks,
  withoutThreads,
} from './lower-outline.ts'
import { findNeckCorners } from './neck-corner.ts'
import type { CategoryShares } from './recognize.ts'
import { findSleeve } from './sleeve.ts'
import { type Canvas, type Shape, standUpright, type UprightGarment } from './upright.ts'

interface OutlineBase {
  readonly canvas: Canvas
  /** Closed outline of the largest piece, clockwise on the screen. */
  readonly contour: readonly Point[]
  readonly symmetry: number
  /** Rotation of the photographed garment in degrees, counter-clockwise on the screen. */
  readonly angle: number
}

/** Outline of a top or dress. Positions are px of `canvas`; sides are [left, right] of the image. */
export interface UpperOutline extends OutlineBase {
  readonly kind: 'top' | 'dress'
  readonly kindFrom: KindFrom
  readonly sides: readonly [SideOutline, SideOutline]
  readonly landmarks: readonly [SideLandmarks, SideLandmarks]
  readonly sleeved: boolean
  readonly torsoWidth: number
  /** Depth of the bay under each sleeve over the garment's height; 0 without a bay. */
  readonly armpitDepths: readonly [number, number]
  /** True for a sleeve that touches the body below its armpit, so that the armpit is a guess. */
  readonly guessedArmpits: readonly [boolean, boolean]
}

export interface TrousersOutline extends OutlineBase {
  readonly kind: 'trousers'
  readonly landmarks: TrousersLandmarks
}

export interface SkirtOutline extends OutlineBase {
  readonly kind: 'skirt'
  readonly landmarks: SkirtLandmarks
}

export type GarmentOutline = UpperOutline | TrousersOutline | SkirtOutline

const MIN_SYMMETRY = 0.75
// Crumpled cloth has some symmetry, too, but no visible armpit.
const MIN_UNSURE_SYMMETRY = 0.87
// Min length over the widths of chest and waist, and min hem over waist, of a dress if the caller gives no category. On mannequins tops
// are as long as short flat-lay dresses: doubtful outlines are tops, because a dress removes the clothes worn on the legs. Measured on
// 28 product photos, of which four are dresses.
const LONG = { chest: 2.4, waist: 2.6 }
const FLARED = { waist: 2.2, hem: 1.36 }
const DOUBTFUL = 1.75
// Min length over the width of the chest of what the model takes for a dress: 2.42 of the longest top that it takes for one, among 69.
const LIKELY = { chest: 2.5 }

export interface Expectation {
  /** The kind named in the product's text, if any: it decides between top and dress, and for a skirt. */
  readonly expected?: 'upper' | 'dress' | 'lower'
  /** The category that the cutout shows, if it was recognized. Without a named kind it decides together with the outline. */
  readonly shares?: CategoryShares | null
}

// Min share of a category that overrules the outline, and max share of one that is ruled out. A dress needs the outline, too: the model takes
// some tops on mannequins for dresses with 0.99.
const SURE = 0.9
const RULED_OUT = 0.1

/**
 * Finds the outline of a garment cutout, rotated upright, with its landmarks. `alpha` is 0 to 1.
 * @throws DrapeError RESULT_REJECTED when the outline has no symmetry axis or no body, or when the cutout is no garment.
 */
export function findOutline(alpha: Plane, { expected, shares }: Expectation = {}): GarmentOutline {
  const upright = standUpright(alpha)
  if (shares && shares.other > SURE) throw unknownOutline()
  const { shape, symmetry, canvas, toCanvas } = upright
  if (symmetry.score < MIN_SYMMETRY) throw unknownOutline()
  const check = (kind: GarmentKind) =>
    refuseImplausible(shape, { kind, pieces: upright.pieces, expected: expected !== undefined })
  const common = { canvas, symmetry: symmetry.score, angle: symmetry.angle }
  // Below an open front, two halves of a jacket resemble legs.
  const crotch = shares && shares.tops > SURE ? null : findCrotch(shape)
  if (crotch || expected === 'lower' || (!expected && isSkirt(shape, shares ?? null))) {
    check(crotch ? 'trousers' : 'skirt')
    const whole = withoutThreads(shape)
    const base = { ...common, contour: whole.contour.map(toCanvas) }
    if (crotch)
      return { ...base, kind: 'trousers', landmarks: mapTrousers(findTrousersLandmarks(whole, crotch), toCanvas) }
    return { ...base, kind: 'skirt', landmarks: mapSkirt(findSkirtLandmarks(whole), toCanvas) }
  }
  check('top')
  const upper = findUpper(upright)
  if (symmetry.score < MIN_UNSURE_SYMMETRY && upper.guessedArmpits.every((guessed) => guessed)) throw unknownOutline()
  return { ...common, contour: shape.contour.map(toCanvas), ...upper, ...upperKind(upper, { expected, shares }) }
}

// Skirts bare the legs: what resembles another category is none.
function isSkirt(shape: Shape, shares: CategoryShares | null): boolean {
  if (!shares) return looksLikeSkirt(shape)
  return shares.bottoms > (looksLikeSkirt(shape) ? 0.5 : SURE)
}

function upperKind(
  { landmarks, waistWidth }: Pick<UpperOutline, 'landmarks'> & { waistWidth: number },
  { expected, shares }: Expectation,
): Pick<UpperOutline, 'kind' | 'kindFrom'> {
  if (expected) return { kind: expected === 'dress' ? 'dress' : 'top', kindFrom: 'words' }
  const [left, right] = landmarks
  const length = (left.hem.y + right.hem.y - left.neck.y - right.neck.y) / 2
  const overChest = length / Math.max(1, distance(left.armpit, right.armpit))
  const overWaist = length / Math.max(1, waistWidth)
  const flare = distance(left.hem, right.hem) / Math.max(1, waistWidth)
  const isLong = overChest > LONG.chest && overWaist > LONG.waist
  const resemblesDress = shares && shares['one-pieces'] > SURE && (overChest > LIKELY.chest || flare > FLARED.hem)
  const isDress = isLong || (overWaist > FLARED.waist && flare > FLARED.hem) || resemblesDress
  if (isDress && (!shares || shares['one-pieces'] > RULED_OUT)) return { kind: 'dress', kindFrom: 'outline' }
  const isDoubtful = isDress || Math.max(overChest, overWaist) > DOUBTFUL
  if (isDoubtful && shares && shares.tops > SURE) return { kind: 'top', kindFrom: 'outline' }
  return { kind: 'top', kindFrom: isDoubtful ? 'doubt' : 'outline' }
}

interface HalfLandmarks {
  readonly shoulder: number
  readonly armpit: Point
  /** Index from which the outline follows the body, and index of the hem corner. */
  readonly body: number
  readonly hem: number
  readonly sleeve?: { readonly outer: number; readonly inner: number; readonly guessed: boolean }
}

function findUpper({ shape, symmetry, toCanvas }: UprightGarment) {
  const torsoWidth = torsoWidthOf(shape)
  if (torsoWidth === 0) throw unknownOutline()
  const onCanvas = (length: number) => distance(toCanvas({ x: 0, y: 0 }), toCanvas({ x: length, y: 0 }))
  const halves = [halfOutline(shape, torsoWidth, -1), halfOutline(shape, torsoWidth, 1)] as const
  const bays = [findArmpit(halves[0], shape, torsoWidth), findArmpit(halves[1], shape, torsoWidth)] as const
  const sleeved = hasSleeves(bays)
  const opposites = higherOpposites(halves, bays, { height: shape.height, symmetry: symmetry.score })
  const found = evenArmholes(
    halves,
    [
      findHalf(halves[0], sleeved ? bays[0] : null, { shape, torsoWidth, opposite: opposites[0] }),
      findHalf(halves[1], sleeved ? bays[1] : null, { shape, torsoWidth, opposite: opposites[1] }),
    ],
    { torsoWidth, symmetry: symmetry.score },
  )
  const corners = findNeckCorners(shape, torsoWidth, [
    halves[0].points[found[0].shoulder],
    halves[1].points[found[1].shoulder],
  ])
  const sides = [0, 1].map((k) => describeHalf(halves[k], found[k], { corner: corners[k], toCanvas }))
  return {
    sides: [sides[0].outline, sides[1].outline] as const,
    landmarks: [sides[0].landmarks, sides[1].landmarks] as const,
    sleeved: found[0].sleeve !== undefined && found[1].sleeve !== undefined,
    torsoWidth: onCanvas(torsoWidth),
    waistWidth: onCanvas(waistWidthOf(shape)),
    armpitDepths: [bays[0]?.depth ?? 0, bays[1]?.depth ?? 0] as const,
    guessedArmpits: [found[0].sleeve?.guessed ?? false, found[1].sleeve?.guessed ?? false] as const,
  }
}

// Max difference of the armpits' levels over the torso's width, and min symmetry from which both must be level. Chosen by eye on 12
// product photos without sleeves.
const MAX_UNEVEN_ARMPITS = 0.12
const SURE_SYMMETRY = 0.9

// Along a nearly straight side any bend, such as the waist, can be mistaken for the armpit: the lower of two different armpits is such a
// bend.
function evenArmholes(
  halves: readonly [HalfOutline, HalfOutline],
  found: readonly [HalfLandmarks, HalfLandmarks],
  { torsoWidth, symmetry }: { torsoWidth: number; symmetry: number },
): readonly [HalfLandmarks, HalfLandmarks] {
  const [left, right] = found
  if (left.sleeve || right.sleeve || symmetry < SURE_SYMMETRY) return found
  if (Math.abs(left.armpit.y - right.armpit.y) < MAX_UNEVEN_ARMPITS * torsoWidth) return found
  const like = (own: 0 | 1): HalfLandmarks => {
    const { points } = halves[own]
    const model = found[1 - own]
    const armpit = nearestIndex(points, model.armpit)
    const shoulder = nearestIndex(points, halves[1 - own].points[model.shoulder])
    return { ...found[own], shoulder, armpit: points[armpit], body: armpit }
  }
  return left.armpit.y > right.armpit.y ? [like(0), right] : [left, like(1)]
}

function findHalf(
  { points }: HalfOutline,
  bay: ArmpitBay | null,
  scale: { shape: Shape; torsoWidth: number; opposite: Point | null },
): HalfLandmarks {
  const hemAfter = (start: number) => start + farthestAlong(points.slice(start), 0.55, 1)
  if (bay && points[bay.tip].x > points[bay.armpit].x + 0.03 * scale.torsoWidth) {
    const { shoulder, armpit, notch, outer, inner, guessed } = findSleeve(points, bay, scale)
    return { shoulder, armpit, body: notch, hem: hemAfter(notch), sleeve: { outer, inner, guessed } }
  }
  const { shoulder, armpit } = findArmhole(points, scale)
  return { shoulder, armpit: points[armpit], body: armpit, hem: hemAfter(armpit) }
}

function describeHalf(
  { points, side }: HalfOutline,
  { shoulder, armpit, body, hem, sleeve }: HalfLandmarks,
  { corner, toCanvas }: { corner: Point; toCanvas: (point: Point) => Point },
): { outline: SideOutline; landmarks: SideLandmarks } {
  const place = ({ x, y }: Point) => toCanvas({ x: x * side, y })
  const chain = (from: number, to: number) => points.slice(from, to + 1).map(place)
  const neck = nearestIndex(points, { x: corner.x * side, y: corner.y })
  // Where the sleeve touches the body a straight seam connects the armpit with the outline.
  const seam = sleeve?.guessed ? [place(armpit)] : []
  const common = {
    shoulder:
      neck < shoulder ? [toCanvas(corner), ...chain(neck + 1, shoulder)] : [toCanvas(corner), place(points[shoulder])],
    side: [...seam, ...chain(body, hem)],
    hem: chain(hem, points.length - 1),
  }
  const landmarks = {
    neck: toCanvas(corner),
    shoulder: place(points[shoulder]),
    armpit: place(armpit),
    hem: place(points[hem]),
  }
  if (!sleeve) return { outline: { ...common, armhole: chain(shoulder, body) }, landmarks }
  const inner = [...seam, ...chain(sleeve.inner, body).reverse()]
  return {
    outline: { ...common, sleeve: { outer: chain(shoulder, sleeve.outer), inner } },
    landmarks: { ...landmarks, sleeveOuter: place(points[sleeve.outer]), sleeveInner: place(points[sleeve.inner]) },
  }
}

function mapTrousers(landmarks: TrousersLandmarks, toCanvas: (point: Point) => Point): TrousersLandmarks {
  const pair = ([left, right]: readonly [Point, Point]) => [toCanvas(left), toCanvas(right)] as const
  return {
    waist: pair(landmarks.waist),
    hip: pair(landmarks.hip),
    crotch: toCanvas(landmarks.crotch),
    ankleOuter: pair(landmarks.ankleOuter),
    ankleInner: pair(landmarks.ankleInner),
  }
}

function mapSkirt({ waist, hem }: SkirtLandmarks, toCanvas: (point: Point) => Point): SkirtLandmarks {
  return { waist: [toCanvas(waist[0]), toCanvas(waist[1])], hem: [toCanvas(hem[0]), toCanvas(hem[1])] }
}

function unknownOutline(): DrapeError {
  return new DrapeError(
    'RESULT_REJECTED',
    'The outline in the product photo is not the outline of a garment laid out flat.',
  )
}
