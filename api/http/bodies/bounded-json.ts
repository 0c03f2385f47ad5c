import { setImmediate } from 'node:timers/promises'
import { invalidField } from '../../shared/contract/errors.ts'
import { parseExactJson } from '../../shared/contract/exact-json.ts'

/** Maximum depth of a stored value. */
const MAX_DEPTH = 64
/** Maximum depth of a parsed value. Far above the stored depth, so that one bad event does not make the batch fail. */
const MAX_PARSED_DEPTH = 1000
export interface JsonLimits {
  /** Array elements and object fields. */
  readonly values: number
  /** Object fields: many different names cost more to parse than to send. */
  readonly fields: number
}

const DEFAULT_LIMITS: JsonLimits = { values: 50_000, fields: 10_000 }
/** Numbers that JavaScript would round, which cost more than others. */
const MAX_ROUNDED = 2000

/**
 * Parses JSON within limits that are checked before the parser allocates anything: at most 1,000 levels and, by
 * default, 10,000 object fields and 50,000 values. At most 2,000 numbers may have more digits than JavaScript keeps.
 * Throws `VALIDATION_FAILED` for the field at `path`.
 */
export function parseBoundedJson(text: string, path: string, limits = DEFAULT_LIMITS): unknown {
  assertBounded(text, path, limits)
  try {
    return parseExactJson(text, { maxRounded: MAX_ROUNDED })
  } catch (error) {
    if (!(error instanceof RangeError)) throw invalidField(path, 'is not valid JSON')
    throw invalidField(path, `has more than ${MAX_ROUNDED} numbers with more digits than JavaScript keeps`)
  }
}

/**
 * Like `parseBoundedJson`, for texts of several MB whose numbers may be rounded. Yields to other requests between the
 * check and the parsing.
 */
export async function parseLargeJson(text: string, path: string, limits: JsonLimits): Promise<unknown> {
  assertBounded(text, path, limits)
  await setImmediate()
  try {
    return JSON.parse(text)
  } catch {
    throw invalidField(path, 'is not valid JSON')
  }
}

/** Counts what the parser would allocate. Invalid JSON may pass: the parser rejects it. */
function assertBounded(text: string, path: string, limits: JsonLimits): void {
  let depth = 0
  let fields = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (++depth > MAX_PARSED_DEPTH) throw invalidField(path, `is nested more than ${MAX_DEPTH} levels deep`)
        values++
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--
        break
      case COLON:
        if (++fields > limits.fields) throw invalidField(path, `has more than ${limits.fields} fields`)
        break
      case COMMA:
        if (++values > limits.values) throw invalidField(path, `has more than ${limits.values} values`)
        break
    }
  }
}

/** The index of the quote that closes the string which opens at `start`, or the length of the text. */
function endOfString(text: string, start: number): number {
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

const [QUOTE, COMMA, COLON] = [34, 44, 58]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

/**
 * Throws `VALIDATION_FAILED` for a value that `jsonb` cannot store unchanged: U+0000, an unpaired surrogate, a number
 * such as 1e999; and for more than 64 levels.
 */
export function assertStorable(value: unknown, path: string): void {
  const fault = findUnstorable(value, 0)
  if (fault === null) return
  const place = fault.path.reduceRight<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, path)
  throw invalidField(place, fault.message)
}

interface Unstorable {
  /** Collected from the innermost field outwards, so that valid values cost nothing. */
  readonly path: (string | number)[]
  readonly message: string
}

function findUnstorable(value: unknown, depth: number): Unstorable | null {
  if (depth > MAX_DEPTH) return { path: [], message: `is nested more than ${MAX_DEPTH} levels deep` }
  if (typeof value === 'string') return isStorableText(value) ? null : { path: [], message: UNSTORABLE_TEXT }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : { path: [], message: 'is a number too large to be stored' }
  }
  if (value === null || typeof value !== 'object') return null
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = findUnstorable(value[i], depth + 1)
      if (fault !== null) return within(fault, i)
    }
    return null
  }
  for (const name of Object.keys(value)) {
    if (!isStorableText(name)) return { path: [], message: UNSTORABLE_TEXT }
    const fault = findUnstorable((value as Record<string, unknown>)[name], depth + 1)
    if (fault !== null) return within(fault, name)
  }
  return null
}

const UNSTORABLE_TEXT = 'contains a character that cannot be stored'

function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function within(fault: Unstorable, part: string | number): Unstorable {
  fault.path.push(part)
  return fault
}
