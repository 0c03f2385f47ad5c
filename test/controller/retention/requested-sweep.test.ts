import { describe, expect, it } from 'vitest'
import { createRequestedSweeps, type RequestedSweepParts } from '../../../controller/retention/requested-sweep.ts'
import type { Sweep } from '../../../controller/retention/resource.ts'
import type { Sent } from '../../../controller/runtime/client.ts'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'

const KEY = 'shop/now'
const RECORD = {
  policy: 'days',
  dryRun: false,
  startedAt: '2026-05-01T10:00:00Z',
  durationMs: 5,
  objects: 3,
  held: 0,
  keysDigest: `sha256:${'0'.repeat(64)}`,
}

/** One Sweep and one policy in an API that keeps what is written, and controllers that come and go. */
function createWorld({ namespace = 'shop', policyName = 'days', spec = {} } = {}) {
  const meta = { namespace, uid: 'one', generation: 1, creationTimestamp: '2026-05-01T09:59:00Z' }
  let sweep = { metadata: { ...meta, name: 'now' }, spec: { policy: policyName } } as Sweep
  const policy = { metadata: { ...meta, name: 'days' }, spec: { dryRun: false, ...spec } } as KubernetesObject
  const world = { runs: 0, noted: 0, unread: [] as string[], failing: null as 'record' | 'outcome' | null }
  const outcome = () => sweep.status?.conditions?.find(({ type }) => type === 'Complete')
  const startController = () => {
    const parts: RequestedSweepParts = {
      client: {
        apply: async <T extends KubernetesObject>(_type: unknown, sent: Sent) => {
          if (world.failing === 'outcome' && world.runs > 0) throw new Error('the API server is away')
          sweep = { ...sweep, status: sent.status as Sweep['status'] }
          return sweep as unknown as T
        },
      },
      sweeps: { get: () => sweep },
      policies: { get: (key) => (key === `${namespace}/days` ? policy : undefined) },
      run: async () => {
        world.runs++
        return { record: RECORD, overdue: 0, oldestOverdueSeconds: 0 }
      },
      writeRecord: async (_policy, _name, { record }) => {
        if (world.failing === 'record') throw new Error('the API server is away')
        sweep = { ...sweep, spec: record, metadata: { ...sweep.metadata, generation: 2 } }
        return sweep
      },
      publishHolds: async () => world.unread,
      gauges: { noteRun: () => void world.noted++ },
      now: () => new Date('2026-05-01T10:00:00Z'),
      namespace: 'shop',
    }
    return createRequestedSweeps(parts)
  }
  return Object.assign(world, { startController, outcome, spec: () => sweep.spec })
}

describe('a Sweep that was created to start a run', () => {
  it('runs its policy once across several reconciles', async () => {
    const world = createWorld()
    const controller = world.startController()
    for (let i = 0; i < 3; i++) await controller.reconcile(KEY)
    await world.startController().reconcile(KEY)
    expect([world.runs, world.noted, world.spec()]).toEqual([1, 1, RECORD])
    // kubectl wait ignores a condition of an older generation than that of the record.
    expect(world.outcome()).toMatchObject({ status: 'True', message: 'Deleted 3 images.', observedGeneration: 2 })
  })

  it('keeps the result until it is written, without running again', async () => {
    const world = createWorld()
    const controller = world.startController()
    world.failing = 'record'
    for (let i = 0; i < 2; i++) await expect(controller.reconcile(KEY)).rejects.toThrow('away')
    world.failing = null
    await controller.reconcile(KEY)
    expect([world.runs, world.spec(), world.outcome()?.status]).toEqual([1, RECORD, 'True'])
  })

  it('is completed by the next controller when only the record was written', async () => {
    const world = createWorld()
    world.failing = 'outcome'
    await expect(world.startController().reconcile(KEY)).rejects.toThrow('away')
    expect(world.outcome()).toMatchObject({ reason: 'Running' })
    world.failing = null
    await world.startController().reconcile(KEY)
    expect([world.runs, world.outcome()?.status]).toEqual([1, 'True'])
  })

  it('waits while legal holds are unknown', async () => {
    const world = createWorld()
    world.unread = ['shop/broken']
    const controller = world.startController()
    expect(await controller.reconcile(KEY)).toEqual({ againMs: 60_000 })
    expect([world.runs, world.outcome()?.reason]).toEqual([0, 'HoldsUnknown'])
    world.unread = []
    await controller.reconcile(KEY)
    expect([world.runs, world.outcome()?.reason]).toEqual([1, 'Ran'])
  })

  it.each([
    ['its policy does not exist', { policyName: 'nights' }, 'PolicyNotFound'],
    ['its policy is suspended', { spec: { suspend: true } }, 'PolicySuspended'],
    ['its policy is invalid', { spec: { ttlSeconds: 1 } }, 'PolicyInvalid'],
    ['it is not in the namespace of the release', { namespace: 'elsewhere' }, 'NamespaceIgnored'],
  ])('does not run when %s, and is not tried again', async (_, setting, reason) => {
    const world = createWorld(setting)
    const controller = world.startController()
    for (let i = 0; i < 2; i++) expect(await controller.reconcile(KEY)).toBeUndefined()
    expect([world.runs, world.outcome()?.status, world.outcome()?.reason]).toEqual([0, 'False', reason])
  })
})
