import { describe, expect, it } from 'vitest'
import {
  type Condition,
  conditionsAfter,
  type Finding,
  progressFindings,
  shorten,
} from '../../../controller/runtime/conditions.ts'

const FOUND: Finding = { type: 'Ready', status: 'True', reason: 'AllUp', message: '2 of 2' }

describe('conditions', () => {
  it('keep their last transition time', () => {
    const first = conditionsAfter([], [FOUND], { generation: 1, now: new Date('2026-05-01T10:00:00.789Z') })
    expect(first[0]).toMatchObject({ lastTransitionTime: '2026-05-01T10:00:00Z', observedGeneration: 1 })
    const later = { generation: 2, now: new Date('2026-05-01T11:00:00Z') }
    const updated = conditionsAfter(first, [{ ...FOUND, message: '3 of 3' }], later)
    expect(updated[0]).toMatchObject({
      message: '3 of 3',
      lastTransitionTime: '2026-05-01T10:00:00Z',
      observedGeneration: 2,
    })
    const turned = conditionsAfter(updated, [{ ...FOUND, status: 'False' }], later)
    expect(turned[0].lastTransitionTime).toBe('2026-05-01T11:00:00Z')
  })

  it('have a message also when false', () => {
    for (const progress of ['Settled', 'Reconciling', 'Stalled'] as const)
      for (const { type, message } of progressFindings(progress, 'AllUp', '2 of 2')) expect(message, type).not.toBe('')
  })

  it('truncate messages to the byte limit at whole characters', () => {
    expect(shorten('abc', 3)).toBe('abc')
    expect(shorten('abcd', 3)).toBe('abc')
    expect(shorten('a→b', 4)).toBe('a→')
    expect(shorten('a→b', 3)).toBe('a')
    const message = '→'.repeat(1000)
    const [told] = conditionsAfter([], [{ ...FOUND, message }], { generation: 1, now: new Date(0) })
    expect(told.message).toBe('→'.repeat(341))
  })

  it('are sorted, and removed when no longer reported', () => {
    const now = { generation: 1, now: new Date(0) }
    const other: Finding = { ...FOUND, type: 'Paused', status: 'False' }
    const before: Condition[] = conditionsAfter([], [{ ...FOUND, type: 'Old' }], now)
    expect(conditionsAfter(before, [FOUND, other], now)).toEqual(conditionsAfter([], [other, FOUND], now))
  })
})
