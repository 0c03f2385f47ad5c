import { describe, expect, it } from 'vitest'
import { keepRunning } from '../../../controller/retention/keep-running.ts'
import { readPolicies } from '../../../controller/retention/policies.ts'

/** The starts of a policy's runs from one moment to another; `overdue` is asked what is past its time (s), at the start. */
async function runsOf(
  spec: object,
  { from, to, overdue = () => null }: { from: string; to: string; overdue?: () => number | null },
) {
  const [policy] = readPolicies(
    JSON.stringify({ apiVersion: 'drape.dev/v1alpha1', kind: 'RetentionPolicy', metadata: { name: 'a' }, spec }),
  )
  let now = new Date(from)
  const stop = new AbortController()
  const started: string[] = []
  const faults: unknown[] = []
  await keepRunning(policy, {
    run: async () => void started.push(now.toISOString().slice(0, 16)),
    measure: async () => ({ due: 0, held: 0, oldestSeconds: overdue() }),
    onFault: (error) => faults.push(error),
    now: () => now,
    sleep: async (ms) => {
      now = new Date(now.getTime() + ms)
      if (now.getTime() >= Date.parse(to)) stop.abort()
    },
    signal: stop.signal,
  })
  return { started, faults }
}

describe('a policy from a file', () => {
  const nightly = { ttlSeconds: 86_400, schedule: '30 2 * * *', timeZone: 'Europe/Berlin' }

  it('runs at once and at each interval, or on its schedule', async () => {
    const { started } = await runsOf(
      { ttlSeconds: 60, intervalSeconds: 1800 },
      { from: '2026-05-01T12:00:00Z', to: '2026-05-01T13:00:00Z' },
    )
    expect(started).toEqual(['2026-05-01T12:00', '2026-05-01T12:30'])
    const scheduled = await runsOf(nightly, { from: '2026-03-27T12:00:00Z', to: '2026-03-30T12:00:00Z' })
    expect(scheduled.started).toEqual(['2026-03-28T01:30', '2026-03-29T01:30', '2026-03-30T00:30'])
  })

  it('catches up on start-up for a missed run only', async () => {
    const hours = { from: '2026-05-01T12:00:00Z', to: '2026-05-02T12:00:00Z' }
    // The last time of the schedule was 11.5 hours ago.
    const since = 11.5 * 3600
    expect((await runsOf(nightly, { ...hours, overdue: () => since + 1 })).started).toEqual([
      '2026-05-01T12:00',
      '2026-05-02T00:30',
    ])
    expect((await runsOf(nightly, { ...hours, overdue: () => since - 1 })).started).toEqual(['2026-05-02T00:30'])
  })

  it('retries a failed check for a missed run', async () => {
    let asked = 0
    const { started, faults } = await runsOf(nightly, {
      from: '2026-05-01T12:00:00Z',
      to: '2026-05-01T13:00:00Z',
      overdue: () => {
        asked++
        if (asked < 3) throw new Error('the database is away')
        return 86_400
      },
    })
    expect(faults).toHaveLength(2)
    expect(started).toEqual(['2026-05-01T12:10'])
  })
})
