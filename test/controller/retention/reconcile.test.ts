import { describe, expect, it } from 'vitest'
import { createRetentionReconcile, type RetentionParts } from '../../../controller/retention/reconcile.ts'
import { type RetentionPolicy, retentionPolicies } from '../../../controller/retention/resource.ts'
import type { RunReport } from '../../../controller/retention/run.ts'
import type { Sent } from '../../../controller/runtime/client.ts'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'

const KEY = 'shop/nightly'
const NIGHTLY = { ttlSeconds: 86_400, dryRun: false, schedule: '30 2 * * *', timeZone: 'Europe/Berlin' }
const HOUR_MS = 3_600_000

/** One policy in an API that keeps what is applied, a clock that is stepped, and controllers that come and go. */
function createWorld(startsAt: string) {
  let now = new Date(startsAt)
  let object: KubernetesObject | undefined
  const started: string[] = []
  let unread: string[] = []
  const statuses: RetentionPolicy['status'][] = []
  const api: RetentionParts['client'] = {
    apply: async <T extends KubernetesObject>(_type: unknown, sent: Sent) => {
      if ('status' in sent) {
        object = { ...object, ...sent, metadata: { ...object?.metadata, ...sent.metadata } }
        statuses.push(status())
      }
      return sent as unknown as T
    },
  }
  const status = () => (object as RetentionPolicy | undefined)?.status
  const startController = (whileRunning: () => void = () => {}) => {
    const parts: RetentionParts = {
      client: api,
      reportInvalid: async () => {},
      policies: { get: () => object },
      run: async (_policy, signal) => {
        started.push(now.toISOString().slice(0, 16))
        whileRunning()
        return reportOf(now, signal.aborted ? 'The run was stopped.' : undefined)
      },
      now: () => now,
      gauges: { noteRun: () => {}, forget: () => {} },
      publishHolds: async () => unread,
      writeRecord: async (policy, name) => ({ metadata: { ...policy.metadata, name } }),
      namespace: 'shop',
    }
    return createRetentionReconcile(parts)
  }
  return {
    started,
    statuses,
    status,
    startController,
    set: (spec: object) => {
      const generation = (object?.metadata.generation ?? 0) + 1
      const metadata = { namespace: 'shop', name: 'nightly', uid: 'one', generation }
      object = {
        ...object,
        apiVersion: 'drape.dev/v1alpha1',
        kind: 'RetentionPolicy',
        metadata,
        spec,
      } as KubernetesObject
    },
    setUnread: (keys: string[]) => {
      unread = keys
    },
    setNamespace: (namespace: string) => {
      if (object) object = { ...object, metadata: { ...object.metadata, namespace } }
    },
    step: (ms: number) => {
      now = new Date(now.getTime() + ms)
    },
    stepTo: (time: string) => {
      now = new Date(time)
    },
    /** Lets a controller do as it says until a moment. */
    workUntil: async (controller: ReturnType<typeof startController>, end: string) => {
      while (now.getTime() < Date.parse(end)) {
        const { againMs = HOUR_MS } = (await controller.reconcile(KEY)) ?? {}
        now = new Date(Math.min(now.getTime() + againMs, Date.parse(end)))
      }
    },
  }
}

function reportOf(startedAt: Date, error?: string): RunReport {
  const record = {
    policy: 'nightly',
    dryRun: false,
    startedAt: startedAt.toISOString(),
    durationMs: 1,
    objects: 0,
    held: 0,
    keysDigest: `sha256:${'0'.repeat(64)}`,
    ...(error !== undefined && { error }),
  }
  return { record, overdue: 0, oldestOverdueSeconds: 0 }
}

describe('a policy with a schedule', () => {
  it('runs only at its times, across clock changes, and reports the next run', async () => {
    const world = createWorld('2026-10-23T12:00:00Z')
    world.set(NIGHTLY)
    const controller = world.startController()
    await controller.reconcile(KEY)
    expect(world.started).toEqual([])
    expect(world.status()).toMatchObject({
      observedGeneration: 1,
      nextRunTime: '2026-10-24T00:30:00Z',
      lifetimes: 'images 1d',
      conditions: [{ type: 'Ready', status: 'True' }, { status: 'False' }, { status: 'False' }],
    })
    await world.workUntil(controller, '2026-10-26T12:00:00Z')
    expect(world.started).toEqual(['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'])
    expect(world.status()?.nextRunTime).toBe('2026-10-27T01:30:00Z')
    // Nothing is written but the first time and what follows each run.
    expect(world.statuses).toHaveLength(4)
  })

  it('requeues after at most 1 hour, so that no timer overflows', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set({ ...NIGHTLY, schedule: '0 0 1 1 *' })
    expect(await world.startController().reconcile(KEY)).toEqual({ againMs: HOUR_MS })
  })

  it('catches up once for runs missed while down', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set(NIGHTLY)
    await world.workUntil(world.startController(), '2026-05-01T20:00:00Z')
    world.stepTo('2026-05-05T08:00:00Z')
    await world.workUntil(world.startController(), '2026-05-05T20:00:00Z')
    expect(world.started).toEqual(['2026-05-05T08:00'])
    // Another one comes and finds nothing to be made up for.
    await world.workUntil(world.startController(), '2026-05-06T12:00:00Z')
    expect(world.started).toEqual(['2026-05-05T08:00', '2026-05-06T00:30'])
  })

  it('runs once when leadership changes', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set(NIGHTLY)
    const [one, other] = [world.startController(), world.startController()]
    await world.workUntil(one, '2026-05-02T12:00:00Z')
    await world.workUntil(other, '2026-05-04T12:00:00Z')
    await world.workUntil(one, '2026-05-05T12:00:00Z')
    expect(world.started).toEqual([2, 3, 4, 5].map((day) => `2026-05-0${day}T00:30`))
  })

  it('is retried when a run could not record its result', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set(NIGHTLY)
    let faults = 1
    const controller = world.startController(() => {
      if (faults-- > 0) throw new Error('the database is away')
    })
    await controller.reconcile(KEY)
    world.stepTo('2026-05-02T00:30:00Z')
    await expect(controller.reconcile(KEY)).rejects.toThrow('the database is away')
    world.step(60_000)
    await controller.reconcile(KEY)
    expect(world.started).toEqual(['2026-05-02T00:30', '2026-05-02T00:31'])
    expect(world.status()?.nextRunTime).toBe('2026-05-03T00:30:00Z')
  })

  it('catches up for a run that a policy change stopped, but not for a removed schedule', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set(NIGHTLY)
    let changes = 1
    const controller = world.startController(() => {
      if (changes-- <= 0) return
      world.set({ ...NIGHTLY, batchSize: 10 })
      controller.noteChange(KEY)
    })
    await controller.reconcile(KEY)
    world.stepTo('2026-05-02T00:30:00Z')
    await controller.reconcile(KEY)
    expect(world.status()?.conditions).toMatchObject([{ reason: 'RunFailed' }, {}, {}])
    world.step(1000)
    await controller.reconcile(KEY)
    expect(world.started).toEqual(['2026-05-02T00:30', '2026-05-02T00:30'])
    expect(world.status()).toMatchObject({ observedGeneration: 2, nextRunTime: '2026-05-03T00:30:00Z' })

    world.stepTo('2026-05-04T12:00:00Z')
    world.set({ ...NIGHTLY, schedule: '0 20 * * *' })
    await world.startController().reconcile(KEY)
    expect(world.started).toHaveLength(2)
    expect(world.status()?.nextRunTime).toBe('2026-05-04T18:00:00Z')
  })

  it('with an impossible schedule reports it, runs nothing, and runs once corrected', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    const controller = world.startController()
    for (const [spec, reason, message] of [
      [{ ...NIGHTLY, schedule: '0 25 * * *' }, 'InvalidSchedule', '25'],
      [{ ...NIGHTLY, timeZone: 'Europe/Atlantis' }, 'UnknownTimeZone', 'Europe/Atlantis'],
    ] as const) {
      world.set(spec)
      expect(await controller.reconcile(KEY)).toBeUndefined()
      const [ready, reconciling, stalled] = world.status()?.conditions ?? []
      expect(ready).toMatchObject({ type: 'Ready', status: 'False', reason, message: expect.stringContaining(message) })
      expect(reconciling).toMatchObject({ status: 'False' })
      expect(stalled).toMatchObject({ type: 'Stalled', status: 'True', reason })
      expect(world.status()?.nextRunTime).toBeUndefined()
    }
    expect(world.started).toEqual([])
    world.set(NIGHTLY)
    await world.workUntil(controller, '2026-05-02T12:00:00Z')
    expect(world.started).toEqual(['2026-05-02T00:30'])
    expect(world.status()?.conditions[0]).toMatchObject({ type: 'Ready', status: 'True' })
  })

  it('uses an interval when the schedule is removed', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set(NIGHTLY)
    const controller = world.startController()
    await controller.reconcile(KEY)
    world.set({ ttlSeconds: 86_400, dryRun: false, intervalSeconds: 1200 })
    await world.workUntil(controller, '2026-05-01T13:00:00Z')
    expect(world.started).toEqual(['2026-05-01T12:00', '2026-05-01T12:20', '2026-05-01T12:40'])
    expect(world.status()).not.toHaveProperty('nextRunTime')
  })

  it('runs nothing while suspended, and reports it', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    const interval = { ttlSeconds: 86_400, dryRun: false, intervalSeconds: 1200 }
    for (const spec of [NIGHTLY, interval]) {
      world.set({ ...spec, suspend: true })
      expect(await world.startController().reconcile(KEY)).toBeUndefined()
      expect(world.status()?.conditions[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'Suspended' })
      expect(world.status()).not.toHaveProperty('nextRunTime')
    }
    expect(world.started).toEqual([])
    world.set(interval)
    await world.startController().reconcile(KEY)
    expect(world.started).toEqual(['2026-05-01T12:00'])
    expect(world.status()?.conditions[0]).toMatchObject({ reason: 'Runs' })
  })

  it('runs nothing while holds of a policy are unknown, names that policy, and resumes', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set({ ttlSeconds: 86_400, dryRun: false })
    world.setUnread(['shop/broken'])
    const controller = world.startController()
    expect(await controller.reconcile(KEY)).toEqual({ againMs: 60_000 })
    expect(world.status()?.conditions[0]).toMatchObject({ status: 'False', reason: 'HoldsUnknown' })
    expect(world.status()?.conditions[0].message).toContain('shop/broken')
    expect(world.started).toEqual([])
    world.setUnread([])
    await controller.reconcile(KEY)
    expect(world.started).toHaveLength(1)
  })

  it('is ignored in another namespace than the release, with a reason', async () => {
    const world = createWorld('2026-05-01T12:00:00Z')
    world.set({ ttlSeconds: 60, dryRun: false })
    world.setNamespace('team-a')
    expect(await world.startController().reconcile(KEY)).toBeUndefined()
    expect(world.started).toEqual([])
    const [ready, , stalled] = world.status()?.conditions ?? []
    expect(ready).toMatchObject({ status: 'False', reason: 'NamespaceIgnored' })
    expect(ready.message).toContain('Create the policy in shop.')
    expect(stalled).toMatchObject({ type: 'Stalled', status: 'True' })
  })

  it('defaults to UTC', () => {
    const read = retentionPolicies.read({ metadata: {}, spec: { ttlSeconds: 60, schedule: '0 3 * * *' } })
    expect(read).toMatchObject({ object: { spec: { schedule: '0 3 * * *', timeZone: 'UTC' } } })
  })
})
