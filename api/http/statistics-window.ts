import { DrapeError, type FieldProblem } from '../shared/contract/errors.ts'
import { parseIsoTime } from '../shared/contract/iso-time.ts'

/** Inclusive ends in ms since 1970; null: open. */
export interface Window {
  readonly from: number | null
  readonly to: number | null
}

/** Parses `from` and `to`: ISO 8601, UTC without an offset; a date means the whole day. Throws `VALIDATION_FAILED`. */
export function parseWindow(query: Readonly<Record<string, unknown>>): Window {
  const from = query.from === undefined ? null : parseIsoTime(query.from)
  const to = query.to === undefined ? null : parseIsoTime(query.to)
  const problems = Object.entries({ from, to }).flatMap(([path, time]): FieldProblem[] =>
    Number.isNaN(time?.start) ? [{ path, message: 'must be an ISO 8601 date and time' }] : [],
  )
  if (from && to && from.start > to.end) problems.push({ path: 'from', message: 'must not be after to' })
  if (problems.length > 0) throw new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: problems })
  return { from: from?.start ?? null, to: to?.end ?? null }
}
