import { DrapeError } from '../../../../../api/shared/contract/errors.ts'
import type { ArmProfile } from '../../../../vision/body/arm-profile.ts'
import type { BodyFrame, Sides } from '../../../../vision/body/body-frame.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import { countSet, maskWhere } from '../../../../vision/raster/mask.ts'
import type { Mask, Point } from '../../../../vision/raster/plane.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { norm } from '../../../../vision/raster/vector.ts'
import type { SleevePlacement } from './fitting.ts'

/** A worn top, and the sleeve lengths of the new garment. */
export interface Bared {
  readonly body: BodyFrame
  readonly parts: Parts
  readonly arms: Sides<ArmProfile>
  readonly sleeves: readonly SleevePlacement[]
}

// Half widths of a clothed arm in body units. The upper arm's exceeds any pullover; the forearm's is that of a loose sleeve.
const MAX_UPPER_ARM = 0.21
const LOOSE_FOREARM = 0.135
// Share of the way from shoulder to wrist that no short sleeve covers.
const BARE_FROM = 0.65

/**
 * Rejects photos in which clothes hide the shape of arms that the garment leaves bare: a padded or stiff jacket, or an open one over a
 * shirt, would become arms of the same thickness. Accepts loose pullovers and wide short
 * sleeves.
 * @throws DrapeError RESULT_REJECTED.
 */
export function refuseLooseClothes(bared: Bared): void {
  const { arms, sleeves, body, parts } = bared
  if (sleeves.length === 2 && sleeves.every(({ long }) => long)) return
  const clothed = arms.map((arm) => clothedWidths(arm, parts))
  const upper = meanOf(clothed.map(({ upperArm }) => upperArm))
  const fore = meanOf(clothed.map(({ forearm }) => forearm))
  // Bare forearms show how thick the arms are: wide short sleeves hide nothing.
  const isBare = clothed.every(({ bareForearm }) => bareForearm)
  const isBulky = !isBare && upper > MAX_UPPER_ARM * body.unit
  if (isBulky || (fore > LOOSE_FOREARM * body.unit && isLayered(bared)))
    throw new DrapeError(
      'RESULT_REJECTED',
      'The clothes in the photo stand off the arms that the garment leaves bare. Use a photo in close-fitting clothes, without a jacket.',
      { image: 'person' },
    )
}

interface Widths {
  /** Median distance in px from the bone to the outer edge; null if the arm is bare or not visible. */
  readonly upperArm: number | null
  readonly forearm: number | null
  /** Whether skin is all that is seen of the forearm. */
  readonly bareForearm: boolean
}

function clothedWidths(arm: ArmProfile, { skin, top }: Parts): Widths {
  const widthOf = (from: number, to: number, least: number) => {
    const inside = [...arm.along.keys()].filter((i) => arm.along[i] > from && arm.along[i] < to)
    const clothed = inside.filter((i) => isSet(top, arm.points[i]))
    if (clothed.length === 0 || clothed.length < least * inside.length) return null
    const seen = clothed.filter((i) => arm.outerMeasured[i]).map((i) => arm.outer[i])
    return seen.length > 0 ? seen.sort((a, b) => a - b)[seen.length >> 1] : null
  }
  return {
    upperArm: widthOf(0.3 * arm.upperLength, 0.9 * arm.upperLength, 0.5),
    forearm: widthOf(arm.upperLength, 0.9 * arm.length, 0.2),
    bareForearm: [...arm.along.keys()]
      .filter((i) => arm.along[i] > BARE_FROM * arm.length && arm.along[i] < 0.9 * arm.length)
      .every((i) => isSet(skin, arm.points[i])),
  }
}

function isSet({ width, height, data }: Mask, { x, y }: Point): boolean {
  const [column, row] = [Math.round(x), Math.round(y)]
  return column >= 0 && row >= 0 && column < width && row < height && data[row * width + column] === 1
}

function meanOf(values: readonly (number | null)[]): number {
  const known = values.filter((value) => value !== null)
  return known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length)
}

// Rows below the neck as body coordinates F: prints start lower, and clothes under a jacket are visible here first.
const COLLAR_ROWS = [
  [0.02, 0.08],
  [0.08, 0.14],
  [0.14, 0.2],
] as const
const APART = 25
const ALIKE = 15

// An open front shows a strip in the middle that differs from both sides, which look alike.
function isLayered({ parts: { lab, top, along, across } }: Bared): boolean {
  const colourOf = ([from, to]: readonly [number, number], isInside: (x: number) => boolean) => {
    const cell = maskWhere(
      top,
      (i) => top.data[i] === 1 && along.data[i] >= from && along.data[i] < to && isInside(across.data[i]),
    )
    return countSet(cell) < 5 ? null : [0, 1, 2].map((channel) => medianOf(lab, cell, channel))
  }
  return COLLAR_ROWS.some((row) => {
    const middle = colourOf(row, (x) => Math.abs(x) < 0.07)
    const left = colourOf(row, (x) => x > -0.42 && x < -0.3)
    const right = colourOf(row, (x) => x > 0.3 && x < 0.42)
    if (!middle || !left || !right) return false
    return apart(left, right) < ALIKE && Math.min(apart(middle, left), apart(middle, right)) > APART
  })
}

function apart(a: readonly number[], b: readonly number[]): number {
  return norm(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}
