import { expect, it } from 'vitest'
import type { KubernetesObject } from '../../../../controller/runtime/resource.ts'
import { createDemandPage } from '../../../../controller/worker-pool/demand/demand-page.ts'
import type { Demand } from '../../../../controller/worker-pool/scaling/decide.ts'
import { blocksOf } from '../../../support/documented-blocks.ts'

const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
const status = { conditions: [{ type: 'Ready', status: 'True' }] }

const poolOf = (name: string, spec: object): KubernetesObject & { spec: object } => ({
  apiVersion: 'drape.dev/v1alpha1',
  kind: 'WorkerPool',
  metadata: { namespace: 'shop', name, uid: name, generation: 1, creationTimestamp: '2026-05-04T12:00:00Z' },
  spec: { engines: ['warp'], queues: ['try-on'], template, ...spec },
})
const policyOf = (backlogPerSlot: number) => ({ bounds: { min: 0, max: 9, idleBuffer: 2 }, target: { backlogPerSlot } })
const engineOf = (name: string) => ({ metadata: { namespace: 'shop', name }, status }) as KubernetesObject

function pageOf(pools: readonly KubernetesObject[], demand: ReadonlyMap<string, Demand> | null, isListed = true) {
  const engines = ['warp', 'mock'].map(engineOf)
  return createDemandPage({
    pools: { list: () => [...pools] },
    engines: { list: () => engines, get: (key) => engines.find(({ metadata }) => key === `shop/${metadata.name}`) },
    policies: { get: () => undefined },
    sample: async () => ({ demand }),
    isListed: () => isListed,
    now: () => new Date('2026-05-04T12:00:00Z'),
  })
}
const jobs = (waiting: number, inFlight: number): Demand => ({
  waiting,
  inFlight,
  oldestWaitSeconds: 9,
  secondsPerJob: 3,
})
const NONE = { waiting: 0, running: 0, desiredSlots: 0 }

it('the demand is reported per engine and pool, even without jobs, and by policy target', async () => {
  const pools = [
    poolOf('busy', { slotsPerReplica: 2, scaling: { policy: policyOf(2) } }),
    poolOf('idle', { engines: ['mock'], scaling: { mode: 'External' }, replicas: 0 }),
    poolOf('broken', { engines: 'no list' }),
  ]
  const demand = new Map([
    ['warp', jobs(7, 3)],
    ['retired', jobs(1, 0)],
  ])
  expect(await pageOf(pools, demand)()).toEqual({
    status: 200,
    body: {
      engines: { warp: { waiting: 7, running: 3, desiredSlots: 10 }, mock: NONE },
      // 10 jobs at 2 jobs per slot are 5 slots, of 3 workers with 2 slots each. The idle buffer is no demand.
      pools: { shop: { busy: { waiting: 7, running: 3, desiredSlots: 6 }, idle: NONE } },
    },
  })
})

it('the demand matches the documentation', async () => {
  const pools = ['drape-cpu', 'drape-gpu'].map((name) => poolOf(name, { scaling: { policy: policyOf(1) } }))
  const { body } = await pageOf(pools, new Map())()
  const shown = blocksOf('charts/drape/docs/nodes.md').find(({ language }) => language === 'json')
  const { engines, pools: namespaces } = JSON.parse(shown?.text ?? '{}')
  expect(Object.keys(body as object).sort()).toEqual(['engines', 'pools'])
  for (const slots of [...Object.values(engines), namespaces.drape['drape-cpu']])
    expect(Object.keys(slots as object)).toEqual(Object.keys(NONE))
})

it('an external autoscaler gets the jobs of a pool that has no workers yet', async () => {
  const pool = poolOf('idle', { scaling: { mode: 'External' }, replicas: 0 })
  expect((await pageOf([pool], new Map([['warp', jobs(4, 0)]]))()).body).toMatchObject({
    pools: { shop: { idle: { waiting: 4, running: 0, desiredSlots: 4 } } },
  })
})

it('the demand is unknown, not 0, while it cannot be read or pools are not listed', async () => {
  const unknown = { status: 503, body: { status: 'unknown' } }
  expect(await pageOf([], null)()).toEqual(unknown)
  expect(await pageOf([], new Map(), false)()).toEqual(unknown)
})
