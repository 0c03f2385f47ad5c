import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { convexHull, findBays } from '../../raster/contour.ts'
import type { Plane, Point } from '../../raster/plane.ts'
import { distance } from '../../raster/vector.ts'
import type { GarmentKind, KindFrom, SideLandmarks, SideOutline } from '../garment.ts'
import type { CategoryShares } from '../recognize.ts'
import {
  findCrotch,
  findSkirtLandmarks,
  findTrousersLandmarks,
  looksLikeSkirt,
  mapSkirt,
  mapTrousers,
  type SkirtLandmarks,
  type TrousersLandmarks,
  withoutThreads,
} from './lower-outline.ts'
import { findUpper } from './upper-outline.ts'
import { type Canvas, type Shape, standUpright } from './upright.ts'

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

interface Expectation {
  /** The kind named in the product's text, if any: it decides between top and dress, and for a skirt. */
  readonly expected?: 'upper' | 'dress' | 'lower'
  /** The category that the cutout shows, if it was recognized. Without a named kind it decides together with the outline. */
  readonly shares?: CategoryShares | null
  /** Whether the garment was cut off a person: the gaps beside hanging sleeves then resemble those between legs. */
  readonly worn?: boolean
}

// Min share of a category that overrules the outline, and max share of one that is ruled out. A dress needs the outline, too: the model takes
// some tops on mannequins for dresses with 0.99.
const SURE = 0.9
const RULED_OUT = 0.1

/**
 * Finds the outline of a garment cutout, rotated upright, with its landmarks. `alpha` is 0 to 1.
 * @throws DrapeError RESULT_REJECTED when the outline has no symmetry axis or no body, or when the cutout is no garment.
 */
export function findOutline(alpha: Plane, { expected, shares = null, worn = false }: Expectation = {}): GarmentOutline {
  const upright = standUpright(alpha)
  const { shape, symmetry, canvas, toCanvas, pieces } = upright
  if (symmetry.score < MIN_SYMMETRY || (shares && shares.other > SURE)) throw unknownOutline()
  // Below an open front, two halves of a jacket resemble legs.
  const isUpper = (shares && shares.tops > SURE) || (worn && expected !== 'lower')
  const crotch = isUpper ? null : findCrotch(shape)
  const part = crotch ? 'trousers' : isSkirt(shape, { expected, shares }) ? 'skirt' : 'top'
  refuseImplausible(shape, { kind: part, pieces, expected: expected !== undefined })
  const common = { canvas, symmetry: symmetry.score, angle: symmetry.angle }
  if (part === 'top') {
    const upper = findUpper(upright)
    const isGuess = symmetry.score < MIN_UNSURE_SYMMETRY && upper?.guessedArmpits.every((guessed) => guessed)
    if (!upper || isGuess) throw unknownOutline()
    return { ...common, contour: shape.contour.map(toCanvas), ...upper, ...upperKind(upper, { expected, shares }) }
  }
  const whole = withoutThreads(shape)
  const base = { ...common, contour: whole.contour.map(toCanvas) }
  return crotch
    ? { ...base, kind: 'trousers', landmarks: mapTrousers(findTrousersLandmarks(whole, crotch), toCanvas) }
    : { ...base, kind: 'skirt', landmarks: mapSkirt(findSkirtLandmarks(whole), toCanvas) }
}

// Skirts bare the legs: what resembles another category is none.
function isSkirt(shape: Shape, { expected, shares }: Expectation): boolean {
  if (expected) return expected === 'lower'
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

function unknownOutline(): DrapeError {
  return new DrapeError(
    'RESULT_REJECTED',
    'The outline in the product photo is not the outline of a garment laid out flat.',
  )
}

// Min area of a second garment as a share of the largest piece: smaller pieces are belts or shadows.
const SECOND_GARMENT = 0.3
// Max share of its convex hull that a garment's outline fills: neck, armholes and sleeves leave bays; a ball or a cushion has none.
const MAX_SOLID = 0.975
// Max share of its bounds that an outline fills: skirts have a waist; a bottle, a poster or an image frame has none.
const MAX_RECTANGULAR = 0.965

/**
 * Rejects outlines that no garment has. `pieces` are the areas of the pieces of the cutout. `expected`: the product's text names a
 * garment of this kind, so a plain straight skirt or tube top is accepted.
 * @throws DrapeError RESULT_REJECTED.
 */
function refuseImplausible(
  shape: Shape,
  { kind, pieces, expected }: { kind: GarmentKind; pieces: readonly number[]; expected: boolean },
): void {
  const [largest, second = 0] = pieces.toSorted((a, b) => b - a)
  if (second > SECOND_GARMENT * largest) throw rejected('The product photo shows more than one garment.')
  const area = areaOf(shape.contour)
  if (kind === 'skirt') {
    if (!expected && area > MAX_RECTANGULAR * shape.width * shape.height) throw rejected(NO_GARMENT)
    return
  }
  if (kind === 'trousers') {
    if (hasSleeves(shape))
      throw rejected('The product photo shows more than one garment or an unsupported kind of garment.')
    return
  }
  if (!expected && area > MAX_SOLID * areaOf(convexHull(shape.contour).map((i) => shape.contour[i])))
    throw rejected(NO_GARMENT)
  if (isUpsideDown(shape)) throw rejected('The garment is upside down in the product photo.')
}

const NO_GARMENT = 'The outline in the product photo is not the outline of a garment laid out flat.'

// Trouser legs have no armpits. Two overlapping tops, or a jumpsuit, otherwise resemble a pair of trousers.
function hasSleeves({ contour, top, height, width }: Shape): boolean {
  const bays = findBays(contour).filter(
    ({ deepest, depth }) => depth > 0.05 * Math.max(height, width) && contour[deepest].y < top + 0.6 * height,
  )
  return [-1, 1].every((side) => bays.some(({ deepest }) => side * contour[deepest].x > 0.25 * width))
}

// Upside down, the bays between body and sleeves are low, and the corners of the hem are at the top.
function isUpsideDown({ contour, top, height }: Shape): boolean {
  const share = ({ y }: Point) => (y - top) / height
  const bays = findBays(contour).filter(({ from, to, deepest, depth }) => {
    if (depth < 0.08 * height || share(contour[deepest]) < 0.55) return false
    const [a, b] = [contour[from], contour[to]]
    return share(Math.abs(a.x) < Math.abs(b.x) ? a : b) < 0.35
  })
  return [-1, 1].every((side) => bays.some(({ deepest }) => side * contour[deepest].x > 0))
}

function areaOf(polygon: readonly Point[]): number {
  const double = polygon.reduce((sum, p, i) => {
    const next = polygon[(i + 1) % polygon.length]
    return sum + p.x * next.y - next.x * p.y
  }, 0)
  return Math.abs(double) / 2
}

function rejected(message: string): DrapeError {
  return new DrapeError('RESULT_REJECTED', message)
}
