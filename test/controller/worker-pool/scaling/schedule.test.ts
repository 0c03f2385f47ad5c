import { describe, expect, it } from 'vitest'
import {
  boundsAt,
  budgetAt,
  unknownZoneOf,
  untilNextHours,
} from '../../../../controller/worker-pool/scaling/schedule.ts'
import { scalingRules } from '../scaling-rules.ts'

// 2026-03-29 is a Sunday, on which clocks in Berlin go from 02:00 to 03:00.
const NIGHT = { name: 'night', timeZone: 'Europe/Berlin', days: ['Fri'], start: '22:00', end: '06:00', max: 2 }

describe('a budget', () => {
  it('applies always or during its hours, and the lowest of several applies', () => {
    const few = { name: 'few', maxDraining: 3 }
    const noon = { name: 'noon', maxDraining: 0, timeZone: 'Europe/Berlin', start: '11:30', end: '13:30' }
    const { budgets } = scalingRules({ bounds: { max: 9 }, target: { backlogPerSlot: 1 }, budgets: [few, noon] })
    expect(budgetAt({ budgets }, new Date('2026-05-01T09:29:00Z'))).toMatchObject(few)
    expect(budgetAt({ budgets }, new Date('2026-05-01T09:30:00Z'))).toMatchObject({ name: 'noon', maxDraining: 0 })
    expect(budgetAt({ budgets }, new Date('2026-05-01T11:30:00Z'))).toMatchObject(few)
    expect(budgetAt({ budgets: [] }, new Date())).toBeNull()
  })
})

describe('a schedule', () => {
  it('across midnight belongs to the day of its start', () => {
    const rules = withSchedules([NIGHT])
    expect(boundsAt(rules, new Date('2026-05-01T19:59:59Z')).max).toBe(10)
    expect(boundsAt(rules, new Date('2026-05-01T20:00:00Z'))).toMatchObject({ max: 2, maxSetBy: 'schedule night' })
    expect(boundsAt(rules, new Date('2026-05-02T03:59:59Z')).max).toBe(2)
    expect(boundsAt(rules, new Date('2026-05-02T04:00:00Z')).max).toBe(10)
    // Saturday's night and Friday's morning are none.
    expect(boundsAt(rules, new Date('2026-05-02T21:00:00Z')).max).toBe(10)
    expect(boundsAt(rules, new Date('2026-05-01T03:00:00Z')).max).toBe(10)
  })

  it('follows local time across clock changes', () => {
    const rules = withSchedules([{ name: 'early', timeZone: 'Europe/Berlin', start: '01:30', end: '03:30', min: 3 }])
    expect(boundsAt(rules, new Date('2026-03-29T00:29:00Z')).min).toBe(1)
    expect(boundsAt(rules, new Date('2026-03-29T00:30:00Z')).min).toBe(3)
    expect(boundsAt(rules, new Date('2026-03-29T01:29:00Z')).min).toBe(3)
    expect(boundsAt(rules, new Date('2026-03-29T01:30:00Z')).min).toBe(1)
  })

  it('yields to stricter concurrent schedules, with max before min', () => {
    const all = { start: '00:00', end: '23:59' }
    const rules = withSchedules([
      { name: 'a', ...all, min: 5 },
      { name: 'b', ...all, min: 3, max: 8 },
      { name: 'c', ...all, max: 4 },
    ])
    expect(boundsAt(rules, new Date('2026-05-01T12:00:00Z'))).toEqual({
      min: 4,
      max: 4,
      ceiling: 4,
      ceilingSetBy: 'schedule c',
      costCeiling: Number.POSITIVE_INFINITY,
      costCeilingSetBy: '',
      minSetBy: 'schedule a',
      maxSetBy: 'schedule c',
    })
  })

  it('accepts valid time zones', () => {
    const within = (timeZone: string) => withSchedules([{ name: 'a', timeZone, start: '08:00', end: '09:00', min: 1 }])
    for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])
      expect(unknownZoneOf(within(zone))).toBeNull()
    expect(unknownZoneOf(within('Mars/Olympus'))).toBe('Unknown time zone Mars/Olympus.')
  })

  it('are evaluated at the next minute if any exist', () => {
    const now = new Date('2026-05-01T21:59:58.250Z')
    const night = withSchedules([{ name: 'night', start: '22:00', end: '06:00', max: 1 }])
    expect(untilNextHours(night, now)).toBe(1750)
    expect(untilNextHours(withSchedules([]), now)).toBe(Number.POSITIVE_INFINITY)
  })
})

function withSchedules(schedules: readonly object[]) {
  return scalingRules({ bounds: { min: 1, max: 10 }, target: { backlogPerSlot: 1 }, schedules })
}
