/** ECMAScript's source text of JSON values and raw JSON values, which TypeScript's libraries do not declare yet. */
interface ExactJson {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}
const EXACT_JSON = JSON as unknown as ExactJson

/** JavaScript represents every number of up to 15 digits exactly. */
const LONG_DIGITS = /[\d.]{16}/

/**
 * Like `JSON.parse`, but a number that JavaScript would round (above 2^53, or with too many digits) becomes a raw value
 * that `JSON.stringify` writes unchanged. Throws a SyntaxError, or a RangeError for more than `maxRounded` such
 * numbers.
 */
export function parseExactJson(text: string, { maxRounded = Number.POSITIVE_INFINITY } = {}): unknown {
  // A reviver, called for every value, is ten times slower.
  if (!LONG_DIGITS.test(text)) return JSON.parse(text)
  let rounded = 0
  return EXACT_JSON.parse(text, (_, value, { source = '' }) => {
    if (typeof value !== 'number' || !LONG_DIGITS.test(source) || !isRounded(value, source)) return value
    if (++rounded > maxRounded)
      throw new RangeError(`The text has more than ${maxRounded} numbers that JavaScript would round.`)
    return EXACT_JSON.rawJSON(source)
  })
}

/** Whether the value is a number that `parseExactJson` preserved as raw JSON. */
export function isRawNumber(value: unknown): boolean {
  return EXACT_JSON.isRawJSON(value)
}

function isRounded(value: number, source: string): boolean {
  return Number.isFinite(value) && String(value) !== source
}
