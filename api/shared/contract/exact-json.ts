import { randomBytes } from 'node:crypto'

/** ECMAScript raw JSON values, which TypeScript's libraries do not declare yet. */
interface RawJson {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}
const RAW_JSON = JSON as unknown as RawJson

/** JavaScript represents every number of up to 15 digits exactly. */
const LONG_DIGITS = /[\d.]{16,}/g
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const NUMBER_CHARACTERS = '+-.0123456789Ee'
/** Random, so that no caller can send a field of this name. */
const MARK = randomBytes(12).toString('base64')

/**
 * Like `JSON.parse`, but a number that JavaScript would round (above 2^53, or with too many digits) becomes a raw value
 * that `JSON.stringify` writes unchanged. Throws a SyntaxError, or a RangeError for more than `maxRounded` such
 * numbers.
 *
 * Replaces each such number with a marked object before parsing: a reviver, called for every value, is several times
 * slower.
 */
export function parseExactJson(text: string, { maxRounded = Number.POSITIVE_INFINITY } = {}): unknown {
  const numbers = findRoundedNumbers(text, maxRounded)
  if (numbers.length === 0) return JSON.parse(text)
  if (numbers.length > maxRounded)
    throw new RangeError(`The text has more than ${maxRounded} numbers that JavaScript would round.`)
  let marked = ''
  let end = 0
  for (const [i, { start, source }] of numbers.entries()) {
    marked += `${text.slice(end, start)}{"${MARK}":${i}}`
    end = start + source.length
  }
  const root = [JSON.parse(marked + text.slice(end))]
  restoreNumbers(root, numbers)
  return root[0]
}

/** Whether the value is a number that `parseExactJson` preserved as raw JSON. */
export function isRawNumber(value: unknown): boolean {
  return RAW_JSON.isRawJSON(value)
}

/** The index of the quote that closes the string which opens at `start`, or the length of the text. */
export function endOfString(text: string, start: number): number {
  let end = indexOfQuote(text, start + 1)
  while (end < text.length && isEscaped(text, end)) end = indexOfQuote(text, end + 1)
  return end
}

/** The length of the text when no quote follows. */
function indexOfQuote(text: string, from: number): number {
  const index = text.indexOf('"', from)
  return index < 0 ? text.length : index
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text[index - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

interface SourceNumber {
  readonly start: number
  readonly source: string
}

/**
 * The first `max + 1` numbers of a JSON text that JavaScript would round. Replacements in an invalid text leave it
 * invalid.
 */
function findRoundedNumbers(text: string, max: number): SourceNumber[] {
  const numbers: SourceNumber[] = []
  /** Always outside of strings; the text before it has been scanned. */
  let at = 0
  let quote = indexOfQuote(text, 0)
  LONG_DIGITS.lastIndex = 0
  for (let digits = LONG_DIGITS.exec(text); digits !== null && numbers.length <= max; digits = LONG_DIGITS.exec(text)) {
    while (quote < digits.index) {
      at = endOfString(text, quote) + 1
      quote = indexOfQuote(text, at)
    }
    if (at <= digits.index) {
      let start = digits.index
      while (start > at && NUMBER_CHARACTERS.includes(text[start - 1])) start--
      NUMBER.lastIndex = start
      const source = NUMBER.exec(text)?.[0]
      if (source === undefined) return []
      if (isRounded(source)) numbers.push({ start, source })
      at = start + source.length
    }
    LONG_DIGITS.lastIndex = at
  }
  return numbers
}

function isRounded(source: string): boolean {
  const value = Number(source)
  return Number.isFinite(value) && String(value) !== source
}

function restoreNumbers(parent: unknown, numbers: readonly SourceNumber[]): void {
  const fields = parent as Record<string | number, unknown>
  for (const name of Array.isArray(parent) ? parent.keys() : Object.keys(fields)) {
    const value = fields[name]
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, MARK)) fields[name] = RAW_JSON.rawJSON(numbers[Number(Reflect.get(value, MARK))].source)
    else restoreNumbers(value, numbers)
  }
}
