import { beforeEach, describe, expect, it } from 'vitest'
import { createDeviceHealth, type DeviceHealth, type Sickness } from '../../../worker/inference/device-health.ts'

const MINUTE = 60_000

describe('device health', () => {
  let time: number
  let health: DeviceHealth
  let reported: Sickness[]
  beforeEach(() => {
    time = 1_000_000
    reported = []
    health = createDeviceHealth({ onSick: (sickness) => reported.push(sickness), now: () => time })
  })

  const fail = (subject: string | null, startedAt = time - 1) =>
    health.note({ reason: 'OutOfMemory', message: 'full', subject, startedAt })
  const recover = (after = 1000) => {
    time += after
    health.noteReady(time)
  }

  it('fences the worker until a new process is ready', () => {
    fail('a')
    expect(health.isFenced()).toBe(true)
    expect(health.sickness()).toBeNull()
    health.noteReady(time - 5)
    expect(health.isFenced()).toBe(true)
    recover()
    expect(health.isFenced()).toBe(false)
    expect(health.assertHealthy).not.toThrow()
  })

  it('becomes sick after faults of 2 jobs within 10 minutes, and stays sick', () => {
    fail('a')
    recover()
    time += 9 * MINUTE
    fail('b')
    expect(reported).toEqual([{ reason: 'OutOfMemory', message: 'full', since: time }])
    recover()
    expect(health.isFenced()).toBe(true)
    expect(health.assertHealthy).toThrow('full')
    fail('c')
    expect(reported).toHaveLength(1)
  })

  it('becomes sick when the self-test fails after a fault', () => {
    fail('a')
    time += 1000
    fail(null, time - 500)
    expect(health.sickness()).not.toBeNull()
  })

  it('ignores a fault after 10 minutes', () => {
    fail('a')
    recover()
    time += 10 * MINUTE
    fail('b')
    expect(health.sickness()).toBeNull()
  })

  it('counts each job once', () => {
    for (let i = 0; i < 5; i++) {
      fail('a')
      recover()
    }
    expect(health.sickness()).toBeNull()
  })

  it('counts processes that fail together as one fault', () => {
    const startedAt = time - MINUTE
    fail('a', startedAt)
    time += 10
    fail('b', startedAt)
    expect(health.sickness()).toBeNull()
    recover()
    fail('c', startedAt)
    expect(health.isFenced()).toBe(false)
  })
})
