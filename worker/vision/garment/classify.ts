import type { Detected } from '../../../api/shared/generations/generation.ts'
import { norm } from '../raster/vector.ts'
import type { Category, GarmentKind, KindFrom, SideLandmarks, UpperGarment } from './garment.ts'

/** The category that an outline alone suggests. */
export function categoryOfOutline(kind: GarmentKind): Category {
  if (kind === 'dress') return 'one-pieces'
  return kind === 'top' ? 'tops' : 'bottoms'
}

/**
 * Describes a product photo without a wearer. The view is the front if a front neckline was found. `confidence` decreases with
 * asymmetry, guessed landmarks, and doubt between top and dress.
 */
export function detectGarment(garment: Seen): Detected {
  const upper = garment.kind === 'top' || garment.kind === 'dress'
  const guessed = upper && garment.guessedArmpits?.some((armpit) => armpit)
  const certain = (guessed ? 0.7 : 0.95) * (upper && garment.kindFrom === 'doubt' ? 0.7 : 1)
  const confidence = Math.min(1, Math.max(0, (garment.symmetry - 0.7) / 0.25)) * certain
  return {
    type: garment.presentation,
    view: upper && garment.necklineFound ? 'front' : null,
    category: categoryOfOutline(garment.kind),
    confidence: Math.round(100 * confidence) / 100,
  }
}

interface Seen {
  readonly kind: GarmentKind
  readonly kindFrom?: KindFrom
  readonly symmetry: number
  readonly presentation: Presentation
  readonly necklineFound?: boolean
  readonly guessedArmpits?: readonly boolean[]
}

/** True if a person detected in a product photo is real: score of the detector and presence of the landmark model, 0 to 1. */
export function isWorn({ score, presence }: { score: number; presence: number }): boolean {
  return score >= 0.5 && presence >= 0.8
}

/** Presentation of the garment in a product photo. */
export type Presentation = 'flat_lay' | 'ghost_mannequin' | 'on_model'

// Flat cuts spread short sleeves at about 53° below horizontal; on a mannequin sleeves hang.
const HANGING_DEGREES = 63

/**
 * Guesses from the landmarks alone: a mannequin stands upright, and short sleeves hang down at its sides. Long sleeves hang on
 * a table, too, so garments with long sleeves or without sleeves count as flat lay.
 */
export function guessPresentation({ landmarks, angle }: Pick<UpperGarment, 'landmarks' | 'angle'>): Presentation {
  if (Math.abs(angle) > 2) return 'flat_lay'
  return landmarks.every(hasShortHangingSleeve) ? 'ghost_mannequin' : 'flat_lay'
}

function hasShortHangingSleeve({ shoulder, hem, sleeveOuter, sleeveInner }: SideLandmarks): boolean {
  if (!sleeveOuter || !sleeveInner) return false
  const across = Math.abs((sleeveOuter.x + sleeveInner.x) / 2 - shoulder.x)
  const down = (sleeveOuter.y + sleeveInner.y) / 2 - shoulder.y
  const length = norm(across, down)
  return length < 0.55 * (hem.y - shoulder.y) && Math.atan2(down, across) > (HANGING_DEGREES * Math.PI) / 180
}
