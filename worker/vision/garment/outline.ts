import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Plane, Point } from '../raster/plane.ts'
import { distance } from '../raster/vector.ts'
import type { KindFrom, SideLandmarks, SideOutline } from './garment.ts'
import { refuseImplausible } from './implausible.ts'
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
import type { CategoryShares } from './recognize.ts'
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
export function findOutline(alpha: Plane, { expected, shares = null }: Expectation = {}): GarmentOutline {
  const upright = standUpright(alpha)
  const { shape, symmetry, canvas, toCanvas, pieces } = upright
  if (symmetry.score < MIN_SYMMETRY || (shares && shares.other > SURE)) throw unknownOutline()
  // Below an open front, two halves of a jacket resemble legs.
  const crotch = shares && shares.tops > SURE ? null : findCrotch(shape)
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
