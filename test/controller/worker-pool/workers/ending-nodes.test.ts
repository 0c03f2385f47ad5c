import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../../../../controller/runtime/resource.ts'
import type { WorkerPool } from '../../../../controller/worker-pool/resource.ts'
import {
  createInterrupt,
  findInterruptions,
  isEndingCondition,
  isEndingTaint,
} from '../../../../controller/worker-pool/workers/ending-nodes.ts'
import type { Pod } from '../../../../controller/worker-pool/workers/pods.ts'

const NOW = new Date('2026-05-04T12:00:00.400Z')
const SPOT = { key: 'aws-node-termination-handler/spot-itn', effect: 'NoSchedule' }
const BEFORE = '2026-05-04T11:59:00Z'
const EVICTED = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }

const podOf = (name: string, changes: Partial<Pod['metadata']> = {}, status: Pod['status'] = {}): Pod => ({
  metadata: { name, namespace: 'shop', creationTimestamp: BEFORE, ...changes },
  spec: { nodeName: 'node' },
  status,
})
const find = (pods: readonly Pod[], node: object | undefined, seenBefore = new Map<string, number>()) =>
  findInterruptions({
    pods,
    seenBefore,
    now: NOW,
    findNode: () => node && ({ metadata: { name: 'node' }, ...node } as KubernetesObject),
  })
const begun = (...args: Parameters<typeof find>) => find(...args).begin.map(({ pod }) => pod)

describe('the workers of a node', () => {
  it('stay without a termination notice, whatever other conditions', () => {
    expect(begun([podOf('a')], undefined)).toEqual([])
    expect(
      begun([podOf('a')], { spec: { unschedulable: true, taints: [{ ...SPOT, key: 'nvidia.com/gpu' }] } }),
    ).toEqual([])
    const pause = { type: 'VMEventScheduled', status: 'True', message: 'Freeze Started' }
    expect(isEndingCondition(pause)).toBe(false)
    expect(isEndingCondition({ ...pause, message: 'Preempt Scheduled' })).toBe(true)
    expect(isEndingCondition({ type: 'VMEventScheduled', status: 'False' })).toBe(false)
    expect(isEndingTaint({ ...SPOT, key: 'aws-node-termination-handler/rebalance-recommendation' })).toBe(false)
  })

  it('are interrupted once by a notice, but not later or completed pods', () => {
    const done = { annotations: { 'drape.dev/interrupted-by': SPOT.key }, deletionTimestamp: BEFORE }
    const pods = [
      podOf('a'),
      podOf('told', done),
      podOf('later', { creationTimestamp: '2026-05-04T12:00:00Z' }),
      podOf('over', {}, { phase: 'Failed' }),
    ]
    const found = find(pods, { spec: { taints: [SPOT] } })
    expect(found.begin).toEqual([{ pod: 'a', node: 'node', reason: SPOT.key, deleting: false }])
    expect(found.ending.map(({ pod }) => pod)).toEqual(['a', 'told', 'later'])
    expect(begun([podOf('next')], { spec: { taints: [SPOT] } }, new Map([[`node ${SPOT.key}`, 0]]))).toEqual([])
  })

  it('are retried after a failed deletion', () => {
    const half = podOf('half', { annotations: { 'drape.dev/interrupted-by': SPOT.key } })
    expect(begun([half], { spec: { taints: [SPOT] } })).toEqual(['half'])
  })

  it('drain from a cordoned node with the first eviction, until it is schedulable', () => {
    const evicted = podOf('evicted', { deletionTimestamp: BEFORE }, { conditions: [EVICTED] })
    expect(begun([evicted, podOf('b')], { spec: { unschedulable: true } })).toEqual(['evicted', 'b'])
    // On a node that takes pods, the eviction concerns the one pod.
    expect(begun([evicted, podOf('b')], { spec: {} })).toEqual([])
    const interrupted = podOf('b', { annotations: { 'drape.dev/interrupted-by': 'node.kubernetes.io/unschedulable' } })
    expect(begun([interrupted, podOf('c')], { spec: { unschedulable: true } })).toEqual(['b', 'c'])
    expect(find([interrupted], { spec: {} }).withdrawn).toEqual([{ pod: 'b', node: 'node' }])
  })

  it('are replaced when the node is deleted', () => {
    const interrupted = podOf('told', { annotations: { 'drape.dev/interrupted-by': SPOT.key } })
    expect(find([interrupted], undefined)).toMatchObject({ begin: [], withdrawn: [] })
  })
})

it('an interrupted worker is replaced without Redis, and gets its order when Redis is back', async () => {
  const [orders, deleted, patched]: string[][] = [[], [], []]
  let isReachable = false
  const interrupt = createInterrupt({
    client: {
      patch: async (_: unknown, { name }: { name: string }) => void patched.push(name),
      delete: async (_: unknown, { name }: { name: string }) => void deleted.push(name),
    } as unknown as Parameters<typeof createInterrupt>[0]['client'],
    registry: {
      limitJobs: async (name, ms) => {
        if (!isReachable) throw new Error('no connection')
        orders.push(`${name} ${ms}`)
      },
      order: async () => {},
    },
    record: async () => {},
    now: () => NOW,
  })
  const pool = { metadata: { namespace: 'shop', name: 'pool' } } as WorkerPool
  const taints = [{ ...SPOT, key: 'cloud.google.com/impending-node-termination' }]
  await interrupt(pool, find([podOf('a')], { spec: { taints } }))
  expect([orders, deleted, patched]).toEqual([[], ['a'], []])
  isReachable = true
  await interrupt(pool, find([podOf('a', { deletionTimestamp: BEFORE })], { spec: { taints } }))
  expect([orders, deleted, patched]).toEqual([['a 10000'], ['a'], ['a']])
})
