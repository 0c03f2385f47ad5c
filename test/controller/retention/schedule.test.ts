import { describe, expect, it } from 'vitest'
import { findScheduleProblem, lastRunTime, nextRunAfter } from '../../../controller/retention/schedule.ts'

const times = (schedule: string | undefined, timeZone = 'UTC') => ({ schedule, timeZone, intervalSeconds: 300 })

/** The runs after a moment, each as if the one before had started in time. */
const runsAfter = (start: string, schedule: string, { timeZone = 'UTC', count = 2 } = {}) => {
  const found: string[] = []
  for (let at = new Date(start); found.length < count; found.push(at.toISOString()))
    at = nextRunAfter(times(schedule, timeZone), at)
  return found.map((at) => at.slice(0, 16))
}

describe('a schedule of runs', () => {
  it('continues across midnight, month end and week end', () => {
    expect(runsAfter('2026-05-01T02:29:59Z', '30 2 * * *')).toEqual(['2026-05-01T02:30', '2026-05-02T02:30'])
    expect(runsAfter('2026-05-31T02:30:00Z', '30 2 * * *')).toEqual(['2026-06-01T02:30', '2026-06-02T02:30'])
    expect(runsAfter('2026-05-01T23:50:30Z', '*/20 22-23,0 * * Mon-Fri', { count: 3 })).toEqual([
      '2026-05-04T00:00',
      '2026-05-04T00:20',
      '2026-05-04T00:40',
    ])
  })

  it('runs once on days of clock changes', () => {
    const timeZone = 'Europe/Berlin'
    // From 2:00 they go on to 3:00: what was planned for 2:30 is at 3:30 then.
    expect(runsAfter('2026-03-28T12:00:00Z', '30 2 * * *', { timeZone })).toEqual([
      '2026-03-29T01:30',
      '2026-03-30T00:30',
    ])
    // 2:30 comes twice.
    expect(runsAfter('2026-10-24T12:00:00Z', '30 2 * * *', { timeZone })).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
    expect(runsAfter('2026-10-24T23:00:00Z', '30 * * * *', { timeZone, count: 4 })).toEqual([
      '2026-10-24T23:30',
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ])
  })

  it('computes the time of the previous run', () => {
    const last = (now: string) => lastRunTime({ schedule: '0 0 * * *', timeZone: 'America/New_York' }, new Date(now))
    expect(last('2026-05-02T03:59:59Z')).toEqual(new Date('2026-05-01T04:00:00Z'))
    expect(last('2026-05-02T04:00:00Z')).toEqual(new Date('2026-05-02T04:00:00Z'))
  })

  it('defaults to the interval', () => {
    expect(nextRunAfter(times(undefined), new Date(0))).toEqual(new Date(300_000))
    expect(findScheduleProblem(times(undefined, 'Nowhere'))).toBeNull()
  })

  it.each(['30 2 * * *', '0,30 */2 1-15 * *', '0 3 * jan-mar THU', '0 0 29 2 *', '0 3 * * 7'])(
    'takes %s',
    (schedule) => {
      expect(findScheduleProblem(times(schedule))).toBeNull()
    },
  )

  it.each([
    ['often', 'five fields'],
    ['@daily', 'five fields'],
    ['0 3 * *', 'five fields'],
    ['0 0 3 * * *', 'five fields'],
    ['H 3 * * *', 'five fields'],
    ['0 3 L * *', 'five fields'],
    [' 0 3 * * *', 'five fields'],
    ['61 3 * * *', 'got value 61 expected range 0-59'],
    ['0 3 * * abc', 'abc'],
    ['0 3 20-10 * *', 'Invalid range'],
    ['0 0 30 2 *', 'day of month'],
    ['0 0 31 4,6 *', 'loop limit'],
  ])('refuses %s', (schedule, why) => {
    const problem = findScheduleProblem(times(schedule))
    expect(problem?.reason).toBe('InvalidSchedule')
    expect(problem?.message).toContain(`The schedule "${schedule}" is not a valid cron expression: `)
    expect(problem?.message).toContain(why)
  })

  it('rejects an unknown time zone', () => {
    expect(findScheduleProblem(times('0 3 * * *', 'Europe/Atlantis'))).toEqual({
      reason: 'UnknownTimeZone',
      message: 'Unknown time zone Europe/Atlantis.',
    })
  })
})
