import { CronExpressionParser } from 'cron-parser'
import { isTimeZone } from '../worker-pool/time-zone.ts'
import type { RetentionPolicy } from './resource.ts'

export type RunTimes = Pick<RetentionPolicy['spec'], 'schedule' | 'timeZone' | 'intervalSeconds'>

/** Numbers, names, ranges and steps: the portable subset of cron, without randomised or dialect-specific fields. */
const VALUE = '(?:\\*|\\d+|[A-Za-z]{3})'
const FIELD = `${VALUE}(?:-${VALUE})?(?:/\\d+)?`
const FIELDS = new RegExp(`^(?:${FIELD}(?:,${FIELD})*(?: +|$)){5}$`)

/** Describes the problem of a schedule: a machine-readable reason and a message. Null for a valid schedule, or for none. */
export function findScheduleProblem({ schedule, timeZone }: RunTimes): { reason: string; message: string } | null {
  if (schedule === undefined) return null
  if (!isTimeZone(timeZone)) return { reason: 'UnknownTimeZone', message: `Unknown time zone ${timeZone}.` }
  const invalid = (why: string) => ({
    reason: 'InvalidSchedule',
    message: `The schedule "${schedule}" is not a valid cron expression: ${why}`,
  })
  if (!FIELDS.test(schedule)) {
    return invalid('it needs five fields of numbers, names, *, lists, ranges and steps, as in 30 2 * * 1-5.')
  }
  try {
    parse(schedule, { timeZone, from: new Date() }).next()
    return null
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Start of the run after one that started at `start`: the next time of the schedule, or `intervalSeconds` later. Throws an Error
 * if `findScheduleProblem` finds a problem.
 */
export function nextRunAfter({ schedule, timeZone, intervalSeconds }: RunTimes, start: Date): Date {
  if (schedule === undefined) return new Date(start.getTime() + intervalSeconds * 1000)
  return parse(schedule, { timeZone, from: start }).next().toDate()
}

/** The last time of a schedule that is at or before `now`. */
export function lastRunTime({ schedule, timeZone }: { schedule: string; timeZone: string }, now: Date): Date {
  return parse(schedule, { timeZone, from: new Date(now.getTime() + 1) })
    .prev()
    .toDate()
}

function parse(schedule: string, { timeZone, from }: { timeZone: string; from: Date }) {
  return CronExpressionParser.parse(schedule, { currentDate: from, tz: timeZone })
}
