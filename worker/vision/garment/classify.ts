import { CATEGORIES, categoryOf, type Detected } from '../../../api/shared/generations/generation.ts'
import { norm } from '../raster/vector.ts'
import type { Category, GarmentKind, KindFrom, SideLandmarks, UpperGarment } from './garment.ts'
import {
  GERMANIC_WORDS,
  JOINED_NAMES,
  JOINING_WORDS,
  MODIFIERS,
  PURPOSE_WORDS,
  ROMANCE_WORDS,
  SHARED_WORDS,
  UNCATEGORISED_WORDS,
  WEAK_WORDS,
} from './garment-words.ts'

/** Texts and classifications that the caller provides for a product. */
export interface ProductWords {
  readonly title?: string | null
  readonly description?: string | null
  /** `category` counts if it is one of Drape's categories. */
  readonly classifications?: Readonly<Record<string, unknown>> | null
}

/**
 * The category of a product: the caller's classification, else the garment in the title, else the first garment in the
 * description; null if none is found.
 */
export function categoryFromWords({ title, description, classifications }: ProductWords): Category | null {
  return categoryOf(classifications) ?? categoryOfPhrase(title ?? '') ?? categoryOfPhrase(description ?? '')
}

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

/** Presentation of the garment in a product photo without a wearer. */
export type Presentation = 'flat_lay' | 'ghost_mannequin'

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

// A garment's name in a title is its head noun: the last noun in Germanic languages ("shirt dress" is a dress, "dress
// shirt" a shirt), the first in Romance ones. Nouns after "with" are other pieces; nouns after "for" are no pieces.
function categoryOfPhrase(phrase: string): Category | null {
  const parts = splitAtJoiningWords(tokens(phrase))
  for (const part of parts) {
    const found = part.some((word) => UNCATEGORISED_WORDS.has(word)) ? 'other' : headOf(part)
    if (found) return found
  }
  for (const word of parts.flat()) if (Object.hasOwn(WEAK_WORDS, word)) return WEAK_WORDS[word]
  return null
}

function tokens(phrase: string): string[] {
  return phrase
    .slice(0, 2000)
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[øæß]/g, (letter) => ({ ø: 'o', æ: 'ae' })[letter] ?? 'ss')
    .replace(JOINED_NAMES, (name) => name.replace(/[\s-]/g, ''))
    .split(/[^\p{Letter}]+/u)
    .filter((word) => word.length > 0)
}

function splitAtJoiningWords(all: readonly string[]): string[][] {
  const parts: string[][] = [[]]
  let isPurpose = false
  for (const word of all) {
    if (JOINING_WORDS.has(word) || PURPOSE_WORDS.has(word)) {
      isPurpose = PURPOSE_WORDS.has(word)
      parts.push([])
    } else if (!isPurpose) parts[parts.length - 1].push(word)
  }
  return parts
}

function headOf(part: readonly string[]): Category | null {
  const germanic = part.map((word) => germanicCategory(word))
  const romance = part.map((word) => categoryIn(ROMANCE_WORDS, word))
  const last = germanic.findLastIndex((category) => category !== null)
  const first = romance.findIndex((category, i) => category !== null && (last <= i || !SHARED_WORDS.has(part[i])))
  if (first >= 0 && (last < 0 || first < last || germanic[last] === romance[first])) return romance[first]
  return last >= 0 ? germanic[last] : null
}

function germanicCategory(word: string): Category | null {
  const whole = categoryIn(GERMANIC_WORDS, word)
  if (whole) return whole
  // The longest head: "overhemd" before "hemd".
  for (let start = 2; start <= word.length - 3; start++) {
    const head = categoryIn(GERMANIC_WORDS, word.slice(start))
    if (head && isModifier(word.slice(0, start))) return head
  }
  return null
}

/** Whether a text consists of first parts of compounds, each with or without a linking element. */
function isModifier(text: string): boolean {
  if (text === '') return true
  for (let end = text.length; end >= 3; end--) {
    const part = text.slice(0, end)
    if (!MODIFIERS.has(part) && !categoryIn(GERMANIC_WORDS, part)) continue
    const rest = text.slice(end)
    if (isModifier(rest) || /^(?:s|n|en|er|e)$/.test(rest)) return true
  }
  return false
}

function categoryIn(
  table: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>>,
  word: string,
): Category | null {
  return CATEGORIES.find((category) => category !== 'other' && table[category].includes(word)) ?? null
}
