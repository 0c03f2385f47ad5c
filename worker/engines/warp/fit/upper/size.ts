import { type BodyFrame, halfWidthAt } from '../../../../vision/body/body-frame.ts'
import { bothSides, outwards, type Side, type Sides } from '../../../../vision/body/keypoints.ts'
import { isSeated } from '../../../../vision/body/seated.ts'
import type { UpperGarment } from '../../../../vision/garment/garment.ts'
import type { Plane, Point } from '../../../../vision/raster/plane.ts'
import { interpolate } from '../../../../vision/raster/polyline.ts'
import { between, distance, dot, move, subtract } from '../../../../vision/raster/vector.ts'
import {
  CHEST,
  COVERING_HEM,
  DRESS_SKIRT,
  HEM_RANGE,
  SEATED_HEM,
  SLEEVE_LENGTH,
  STRAPS,
  TORSO_WIDTH,
  WORN_WIDTH,
} from '../tuning.ts'
import { sleeveLength } from './sleeve-length.ts'

export interface FitInput {
  readonly mask: Plane
  readonly body: BodyFrame
  readonly garment: UpperGarment
  /** Body coordinate F of the worn top's hem; 0 if not visible. */
  readonly oldHem: number
}

/** Size of a garment on a person. */
interface Scale {
  /** Person px per garment px, horizontally and vertically. */
  readonly across: number
  readonly down: number
  /** Ends of the shoulder seams on the person. */
  readonly tips: Sides<Point>
  /** Distance of the seam ends below the shoulder joints, in px; negative, because they are above. */
  readonly offset: number
  /** Rows of the garment's shoulder tips and hem corners. */
  readonly shoulderRow: number
  readonly hemRow: number
  /** Body coordinate F of the hem. */
  readonly hem: number
}

/** Size of a garment on a person and the position of its rows; y is a row of the garment's bitmap. */
export interface Fit extends Scale {
  readonly fractionAt: (y: number) => number
  /** The garment row at the body coordinate F. */
  readonly rowAt: (fraction: number) => number
  /** Half width of the garment's outline below the armpits, in garment px. */
  readonly outlineHalfWidthAt: (y: number, side: Side) => number
  /** Half width of the garment on the person in px. */
  readonly halfWidthAt: (y: number, side: Side) => number
  /** The garment's edge on the person. */
  readonly edgeAt: (y: number, side: Side) => Point
}

/** Chooses the size: the shoulders determine the width; body and worn hem bound the hem, and the body the sides. */
export function chooseSize(input: FitInput): Fit {
  const { body, garment } = input
  const scale = chooseScale(input)
  const { across, down, offset, shoulderRow } = scale
  const fractionAt = (y: number) => (offset + (y - shoulderRow) * down) / body.trunk
  const outlines = bothSides((side) => outlineHalfWidth(garment, side))
  const halfWidthOfRow = (y: number, side: Side) =>
    chooseHalfWidth(input, { fraction: fractionAt(y), side, natural: outlines[side](y) * across })
  return {
    ...scale,
    fractionAt,
    rowAt: (fraction) => shoulderRow + (fraction * body.trunk - offset) / down,
    outlineHalfWidthAt: (y, side) => outlines[side](y),
    halfWidthAt: halfWidthOfRow,
    edgeAt: (y, side) => move(middleOfRow(body, scale, y), outwards(body, side), halfWidthOfRow(y, side)),
  }
}

function chooseScale(input: FitInput): Scale {
  const { body, garment } = input
  const [left, right] = garment.landmarks
  const shoulderRow = (left.shoulder.y + right.shoulder.y) / 2
  const hemRow = (left.hem.y + right.hem.y) / 2
  const tips = garment.sleeved ? body.shoulderTip : narrowTips(input)
  const across = chooseAcross(input, garment.sleeved ? body.restingTip : tips)
  const offset = dot(subtract(between(...tips, 0.5), body.shoulders), body.down)
  // A turn makes a person narrower, but not the garment shorter.
  const natural = across * body.foreshortening
  const hem = chooseHem((offset + natural * (hemRow - shoulderRow)) / body.trunk, garment, input)
  const down = (hem * body.trunk - offset) / (hemRow - shoulderRow)
  return { across, down, tips, offset, shoulderRow, hemRow, hem }
}

// The shoulders give the size. Dropped, puffed and winged shoulders are wider than the person's: a garment is at least as large as its
// chest needs, and its long sleeves need.
function chooseAcross({ body, garment }: FitInput, span: Sides<Point>): number {
  const [left, right] = garment.landmarks
  const shoulders = distance(...span) / distance(left.shoulder, right.shoulder)
  const chest = (CHEST.width * body.unit) / (WORN_WIDTH * Math.max(1, Math.abs(right.armpit.x - left.armpit.x)))
  const fitting = Math.max(shoulders, Math.min(chest, CHEST.most[garment.kind] * shoulders))
  const arm = Math.max(...bothSides((side) => armLength(body, side)))
  const sleeves = garment.sides.flatMap(({ sleeve }) => (sleeve ? [fitting * sleeveLength(sleeve.outer)] : []))
  const sleeve = sleeves.length === 0 ? 0 : Math.min(...sleeves)
  return sleeve > SLEEVE_LENGTH.from * arm ? fitting * Math.max(1, arm / sleeve) : fitting
}

function armLength({ joints: { shoulder, elbow, wrist } }: BodyFrame, side: Side): number {
  return distance(shoulder[side], elbow[side]) + distance(elbow[side], wrist[side])
}

// Rows hang from the middle between the tips. The lower a row, the more it follows the body's axis.
function middleOfRow(body: BodyFrame, { tips, offset, down, shoulderRow, hemRow }: Scale, y: number): Point {
  const shift = dot(subtract(between(...tips, 0.5), body.shoulders), body.right)
  const fading = limit((hemRow - y) / Math.max(1, hemRow - shoulderRow), 0, 1)
  return move(move(body.shoulders, body.down, offset + (y - shoulderRow) * down), body.right, shift * fading)
}

// Shoulder seams of a sleeveless garment end inside the joints, at the distance of its straps on the product.
function narrowTips({ body, garment }: FitInput): Sides<Point> {
  const [left, right] = garment.landmarks
  const chest = Math.max(1, Math.abs(right.armpit.x - left.armpit.x))
  const apart = distance(left.shoulder, right.shoulder) / chest
  const middle = between(...body.restingTip, 0.5)
  const share = limit(STRAPS.kept * apart, ...STRAPS.share)
  return bothSides((side) => between(middle, body.restingTip[side], share))
}

function chooseHem(natural: number, { kind }: UpperGarment, { oldHem, body }: FitInput): number {
  const [least, standing] = HEM_RANGE[kind]
  const most = isSeated(body) ? Math.max(standing, SEATED_HEM) : standing
  const hem = limit(natural, least, most)
  // Cover a worn top that is only slightly longer: no region below the new hem has to be invented.
  const covering = oldHem + COVERING_HEM.below
  return oldHem > 0 && hem < covering && covering <= Math.max(hem + COVERING_HEM.lowered, 1) ? covering : hem
}

function outlineHalfWidth({ sides, axis }: UpperGarment, side: Side): (y: number) => number {
  const outline = sides[side].side.toSorted((a, b) => a.y - b.y)
  const rows = outline.map((p) => p.y)
  const widths = outline.map((p) => Math.abs(p.x - axis))
  return (y) => interpolate(rows, widths, y)
}

// Loose or tight as the product, within plausible limits for this body.
function chooseHalfWidth(
  { body, garment }: FitInput,
  { fraction, side, natural }: { fraction: number; side: Side; natural: number },
): number {
  const bodyHalf = halfWidthAt(body, fraction, side)
  const close = limit(
    WORN_WIDTH * natural,
    TORSO_WIDTH.min * bodyHalf + TORSO_WIDTH.slack * body.unit,
    TORSO_WIDTH.max * bodyHalf,
  )
  return garment.kind === 'dress' ? releaseSkirt(close, { body, fraction, side, natural }) : close
}

// Below the hips a skirt falls as it is cut and does not follow the legs.
function releaseSkirt(
  close: number,
  { body, fraction, side, natural }: { body: BodyFrame; fraction: number; side: Side; natural: number },
): number {
  const hips = halfWidthAt(body, DRESS_SKIRT.hips, side)
  const least = Math.max(
    DRESS_SKIRT.overHips * hips,
    DRESS_SKIRT.overBody * Math.min(hips, halfWidthAt(body, fraction, side)),
  )
  const free = limit(WORN_WIDTH * natural, least, DRESS_SKIRT.max * hips)
  return close + (free - close) * limit((fraction - 1) / DRESS_SKIRT.release, 0, 1)
}

function limit(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
