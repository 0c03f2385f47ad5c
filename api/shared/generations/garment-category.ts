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
import { CATEGORIES, type Category, categoryOf } from './generation.ts'

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
