import { expect, it } from 'vitest'
import { createPublishedEngines } from '../../../api/generations/engines/published-engines.store.ts'
import { createDatabase } from '../../../api/shared/database/database.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { startEnginePublishing } from '../../../controller/engine/publishing.ts'
import type { KubernetesObject } from '../../../controller/runtime/resource.ts'
import { type WorkerPool, workerPools } from '../../../controller/worker-pool/resource.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { asProcess } from '../../support/process-roles.ts'
import { until } from '../../support/until.ts'

const object = (kind: string, name: string, rest: object) => {
  const metadata = { namespace: 'shop', name, uid: name, generation: 1 }
  return { apiVersion: 'drape.dev/v1alpha1', kind, metadata, ...rest } as KubernetesObject
}
const engine = (name: string, status: 'True' | 'False', more: object = {}) =>
  object('Engine', name, {
    spec: { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} }, ...more },
    status: {
      conditions: [
        {
          type: 'Ready',
          status,
          reason: 'Known',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: '2026-05-04T12:00:00Z',
        },
      ],
    },
  })
const pool = (name: string, spec: object) =>
  object('WorkerPool', name, { spec: { template: { image: 'drape/worker:1', requests: {} }, ...spec } })
const auto = (bounds: object, more: object = {}) => ({
  policy: { bounds, target: { backlogPerSlot: 2 }, ...more },
})

it('engines are published with the maximum slots of their pools, and removed with their resource', async () => {
  const { url } = await createTestDatabase()
  const database = createDatabase(asProcess(url, 'controller'), { poolSize: 1 })
  const api = createDatabase(url, { poolSize: 1 })
  let engines = [
    engine('warp', 'True'),
    engine('fashn-vton', 'True', { garmentTypes: ['flat_lay', 'on_model'] }),
    engine('studio', 'False'),
    engine('mock', 'True'),
  ]
  const night = { name: 'night', start: '20:00', end: '06:00', max: 0 }
  const pools = [
    pool('cpu', { engines: ['warp'], slotsPerReplica: 2, scaling: auto({ min: 1, max: 4 }, { schedules: [night] }) }),
    pool('gpu', {
      engines: ['fashn-vton', 'studio', 'warp'],
      queues: ['try-on'],
      scaling: auto({ max: 3 }),
      warmup: { timeoutSeconds: 900 },
    }),
    pool('photos', { engines: ['mock'], queues: ['prepare'], scaling: auto({ max: 9 }) }),
    pool('none', { engines: ['mock'], replicas: 0, scaling: { mode: 'Fixed' } }),
  ]
  const publishing = startEnginePublishing({
    database,
    now: () => new Date(),
    log: createLog({ process: 'test', level: 'silent' }),
    engines: { list: () => engines },
    pools: { list: () => pools },
    policies: { get: () => undefined },
    mayPublish: () => true,
  })
  try {
    const { find } = createPublishedEngines(api)
    const slots = async () => Object.fromEntries((await find()).map(({ name, maxSlots }) => [name, maxSlots]))
    await until(async () => (await find()).length === 4)
    expect((await find()).find(({ name }) => name === 'mock')?.garmentTypes).toBeNull()
    expect((await find()).find(({ name }) => name === 'fashn-vton')?.garmentTypes).toEqual(['flat_lay', 'on_model'])
    expect(await slots()).toEqual({ warp: 11, 'fashn-vton': 3, studio: 0, mock: 0 })
    expect((await find()).map(({ name, warmupSeconds }) => [name, warmupSeconds]).sort()).toEqual([
      ['fashn-vton', 900],
      ['mock', 300],
      ['studio', 900],
      ['warp', 900],
    ])
    const read = workerPools.read(pools[1])
    if ('problems' in read) throw new Error(read.problems)
    publishing.noteStart(read.object as WorkerPool, 42.3)
    await until(async () => (await find()).find(({ name }) => name === 'fashn-vton')?.startSeconds === 42)
    engines = engines.slice(0, 1)
    await until(async () => (await find()).length === 1)
    expect(await slots()).toEqual({ warp: 11 })
  } finally {
    await publishing.stop()
    await database.end()
    await api.end()
  }
})
