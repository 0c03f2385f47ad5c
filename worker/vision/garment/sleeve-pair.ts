import type { Point } from '../raster/plane.ts'
import { arcLength, resample } from '../raster/polyline.ts'
import { between, subtract } from '../raster/vector.ts'
import type { SideLandmarks, SideOutline } from './garment.ts'

/** Both halves of a garment, [left, right] of the image, and whether an armpit is a guess because its sleeve touches the body. */
export interface Halves {
  readonly sides: readonly [SideOutline, SideOutline]
  readonly landmarks: readonly [SideLandmarks, SideLandmarks]
  readonly guessedArmpits: readonly [boolean, boolean]
}

/** Both halves, with folded sleeves replaced. */
export interface MendedSleeves {
  readonly sides: Halves['sides']
  readonly landmarks: Halves['landmarks']
  /** Whether a sleeve of the product photo is folded. */
  readonly foldedSleeve: boolean
}

/** Replaces a sleeve that is folded, bent or joined to a loose tie in the product photo by the mirrored other sleeve. */
export function mendSleeves({ sides, landmarks, guessedArmpits }: Halves): MendedSleeves {
  const sleeves = sides.map((side, k) => (side.sleeve ? measureSleeve(side.sleeve, guessedArmpits[k]) : null))
  const [left, right] = sleeves
  if (!left || !right) return { sides, landmarks, foldedSleeve: false }
  const folded = [isFolded(left, right), isFolded(right, left)].indexOf(true)
  if (folded < 0) return { sides, landmarks, foldedSleeve: false }
  const sound = 1 - folded
  const { sleeve } = sides[sound]
  const { sleeveOuter, sleeveInner } = landmarks[sound]
  return {
    sides: [folded === 0 ? { ...sides[0], sleeve } : sides[0], folded === 1 ? { ...sides[1], sleeve } : sides[1]],
    landmarks: [
      folded === 0 ? { ...landmarks[0], sleeveOuter, sleeveInner } : landmarks[0],
      folded === 1 ? { ...landmarks[1], sleeveOuter, sleeveInner } : landmarks[1],
    ],
    foldedSleeve: true,
  }
}

interface Sleeve {
  readonly length: number
  /** Sharpest turn within the middle half of the length, in degrees. */
  readonly turn: number
  readonly guessed: boolean
}

const STATIONS = 13

function measureSleeve({ outer, inner }: NonNullable<SideOutline['sleeve']>, guessed: boolean): Sleeve {
  const [a, b] = [resample(outer, STATIONS), resample(inner, STATIONS)]
  const middle = a.map((point, i) => between(point, b[i], 0.5))
  const turns = [4, 5, 6, 7, 8, 9].map((i) => turnAt(middle[i - 3], middle[i], middle[i + 3]))
  return { length: arcLength(middle), turn: Math.max(...turns), guessed }
}

function turnAt(from: Point, at: Point, to: Point): number {
  const [before, after] = [subtract(at, from), subtract(to, at)]
  const turn = Math.atan2(before.x * after.y - before.y * after.x, before.x * after.x + before.y * after.y)
  return (Math.abs(turn) * 180) / Math.PI
}

// Accepted turn of a sleeve in degrees: some sleeves are cut with an elbow, but then both are.
const SOUND_TURN = 16
const FOLDED_TURN = 24
// Length over the other sleeve's length.
const FOLDED_LENGTH = 0.75
const SHORTENED_LENGTH = 0.93

function isFolded(sleeve: Sleeve, other: Sleeve): boolean {
  if (other.guessed || other.turn > SOUND_TURN) return false
  const length = sleeve.length / Math.max(1, other.length)
  if (length < FOLDED_LENGTH) return true
  // A loose tie at the waist lengthens the sleeve above it, around the armpit.
  return sleeve.turn > FOLDED_TURN && (length < SHORTENED_LENGTH || length > 1 / FOLDED_LENGTH)
}
