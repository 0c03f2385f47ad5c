import type { ScalingRules } from '../../scaling-policy/resource.ts'
import { isTimeZone } from '../time-zone.ts'

type Hours = Pick<ScalingRules['schedules'][number], 'timeZone' | 'days' | 'start' | 'end'>

/** The active bounds, and the rule that set each. */
export interface Bounds {
  readonly min: number
  readonly max: number
  readonly minSetBy: string
  readonly maxSetBy: string
  /** Busy workers above this number finish their jobs and leave. A soft cost cap lowers only `max`. */
  readonly ceiling: number
  readonly ceilingSetBy: string
  /** The lowest hard cost cap, in workers; infinite without one. */
  readonly costCeiling: number
  readonly costCeilingSetBy: string
}

/**
 * The active bounds: those of the active schedules, otherwise those of the policy. The highest min and the lowest max of
 * several active schedules apply; max takes precedence over min. Throws a RangeError on an unknown time zone.
 */
export function boundsAt({ bounds, schedules }: Pick<ScalingRules, 'bounds' | 'schedules'>, now: Date): Bounds {
  const holding = schedules.filter((schedule) => holds(schedule, now))
  const mins = holding.flatMap(({ name, min }) => (min === undefined ? [] : [{ name, value: min }]))
  const maxes = holding.flatMap(({ name, max }) => (max === undefined ? [] : [{ name, value: max }]))
  const highest = mins.sort((a, b) => b.value - a.value)[0]
  const lowest = maxes.sort((a, b) => a.value - b.value)[0]
  const max = lowest?.value ?? bounds.max
  const maxSetBy = lowest ? `schedule ${lowest.name}` : 'bounds.max'
  return {
    min: Math.min(highest?.value ?? bounds.min, max),
    max,
    minSetBy: highest ? `schedule ${highest.name}` : 'bounds.min',
    maxSetBy,
    ceiling: max,
    ceilingSetBy: maxSetBy,
    costCeiling: Number.POSITIVE_INFINITY,
    costCeilingSetBy: '',
  }
}

/** The max number of concurrent removals by the active budgets, and the budget that sets it. */
export function budgetAt({ budgets }: Pick<ScalingRules, 'budgets'>, now: Date): Budget | null {
  const holding = budgets.filter(({ timeZone, days, start, end }) => {
    return start === undefined || end === undefined || holds({ timeZone, days, start, end }, now)
  })
  return holding.sort((a, b) => a.maxDraining - b.maxDraining)[0] ?? null
}

export interface Budget {
  readonly name: string
  readonly maxDraining: number
}

/** Whether a schedule is active: on its own day, or after midnight on the following day. */
function holds({ timeZone, days, start, end }: Hours, now: Date): boolean {
  const { day, yesterday, clock } = localTime(timeZone, now)
  const listed = (name: string) => days.some((each) => each === name)
  if (start < end) return listed(day) && clock >= start && clock < end
  return (listed(day) && clock >= start) || (listed(yesterday) && clock < end)
}

/** The message about an unknown time zone in the rules; null if all are known. */
export function unknownZoneOf({ schedules, budgets }: Pick<ScalingRules, 'schedules' | 'budgets'>): string | null {
  const unknown = [...schedules, ...budgets].find(({ timeZone }) => !isTimeZone(timeZone))
  return unknown ? `Unknown time zone ${unknown.timeZone}.` : null
}

const MINUTE_MS = 60_000

/** Milliseconds until the next start or end of a schedule or budget; infinite if there is none. Their times are whole minutes. */
export function untilNextHours({ schedules, budgets }: Pick<ScalingRules, 'schedules' | 'budgets'>, now: Date): number {
  const some = schedules.length > 0 || budgets.some(({ start }) => start !== undefined)
  return some ? MINUTE_MS - (now.getTime() % MINUTE_MS) : Number.POSITIVE_INFINITY
}

const WEEK = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function localTime(timeZone: string, now: Date): { day: string; yesterday: string; clock: string } {
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  )
  const day = parts.get('weekday') ?? ''
  const yesterday = WEEK[(WEEK.indexOf(day) + 6) % 7]
  return { day, yesterday, clock: `${parts.get('hour')}:${parts.get('minute')}` }
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
}
