const DAY_MS = 86_400_000

/** A date, or a date and time. The plus of an offset may arrive as a space when the URL did not escape it. */
export const ISO_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:[Zz]|([+ -]\d{2}):?(\d{2}))?)?$/

/**
 * The first and last millisecond (since 1970) that a text names: UTC without an offset; NaN when the text names no
 * time.
 */
export function parseIsoTime(text: unknown): { start: number; end: number } {
  const parts = ISO_TIME.exec(typeof text === 'string' ? text : '')
  const [, date, time = '00:00', hours = '+00', minutes = '00'] = parts ?? []
  const start = isOnCalendar(date) ? Date.parse(`${date}T${time}${hours.replace(' ', '+')}:${minutes}`) : Number.NaN
  return { start, end: parts?.[2] === undefined ? start + DAY_MS - 1 : start }
}

/** Date.parse accepts 30 February as 2 March. */
function isOnCalendar(date = ''): boolean {
  return new Date(`${date}T00:00Z`).getUTCDate() === Number(date.slice(-2))
}
