import { DrapeError, type FieldProblem } from '../../shared/errors.ts'

/** Both ends belong to the window; null is open. In ms since 1970. */
export interface Window {
  readonly from: number | null
  readonly to: number | null
}

const DAY_MS = 86_400_000

/** A date, or a date and time. An offset's plus that was not escaped in a URL arrives as a space. */
export const TIME = /^(\d{4}-\d{2}-\d{2})(?:[Tt](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:[Zz]|([+ -]\d{2}):?(\d{2}))?)?$/

/**
 * The window that `from` and `to` name: ISO 8601, UTC when there is no offset; a date alone is its whole day. Throws
 * `VALIDATION_FAILED`.
 */
export function parseWindow(query: Readonly<Record<string, unknown>>): Window {
  const from = query.from === undefined ? null : parseTime(query.from)
  const to = query.to === undefined ? null : parseTime(query.to)
  const problems = Object.entries({ from, to }).flatMap(([path, time]): FieldProblem[] =>
    Number.isNaN(time?.start) ? [{ path, message: 'must be an ISO 8601 date and time' }] : [],
  )
  if (from && to && from.start > to.end) problems.push({ path: 'from', message: 'must not be after to' })
  if (problems.length > 0) throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: problems })
  return { from: from?.start ?? null, to: to?.end ?? null }
}

/** The first and the last millisecond of what a text names; NaN when it names no time. */
function parseTime(text: unknown): { start: number; end: number } {
  const parts = TIME.exec(typeof text === 'string' ? text : '')
  const [, date, time = '00:00', hours = '+00', minutes = '00'] = parts ?? []
  const start = isOnCalendar(date) ? Date.parse(`${date}T${time}${hours.replace(' ', '+')}:${minutes}`) : Number.NaN
  return { start, end: parts?.[2] === undefined ? start + DAY_MS - 1 : start }
}

/** Date.parse takes 30 February for 2 March. */
function isOnCalendar(date: string | undefined): boolean {
  const midnight = Date.parse(`${date}T00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(`${date}T`)
}
